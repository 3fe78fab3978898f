"""A third party's MCP server, written with the plain SDK and nothing of ours: a small library, edges labelled by hand.

It has no output types for some tools, no hints, numbers as ids of loans, and errors that are only text.
"""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from typing_extensions import TypedDict


class Loan(TypedDict):
    """What a member has borrowed."""

    loan_id: int
    isbn: str
    due: str


BOOKS = ["Middlemarch", "Solaris", "Beloved", "Momo", "Ulysses", "Dune", "Emma", "Kim", "Walden", "Utopia"]
PEOPLE = ["Ada", "Ben", "Cleo", "Dov", "Eva", "Finn", "Gus", "Hana"]

# by what flows: tools that tell it, tools that need it (labelled by hand)
FLOWS = {
    "book": (
        ["search_books", "get_book", "list_loans", "lend_book", "renew_loan", "place_hold", "list_holds"],
        ["get_book", "lend_book", "place_hold", "list_holds"],
    ),
    "member": (
        ["list_members", "get_member", "register_member", "list_holds"],
        ["get_member", "list_loans", "lend_book", "place_hold", "rename_member"],
    ),
    "loan": (["list_loans", "lend_book", "renew_loan"], ["return_book", "renew_loan"]),
    "hold": (["place_hold", "list_holds"], ["cancel_hold"]),
}
EDGES = {(a, b) for told, needed in FLOWS.values() for a in told for b in needed if a != b}


def library() -> MCPServer:
    """A fresh library."""
    server = MCPServer("library", log_level="CRITICAL")
    books = {f"97801400{n:04d}": title for n, title in enumerate(BOOKS, 1371)}
    members = {f"M{n}": name for n, name in enumerate(PEOPLE, 204)}
    isbns, cards = list(books), list(members)
    loans: dict[int, dict[str, Any]] = {
        501 + n: {"member": cards[n % 4], "isbn": isbns[n], "due": "2026-05-11", "renewed": n == 2} for n in range(5)
    }
    holds: dict[str, dict[str, str]] = {f"H-{n}": {"isbn": isbns[n % 3], "card": cards[n + 4]} for n in range(4)}

    def book(isbn: str) -> str:
        if isbn not in books:
            raise ToolError(f"There is no book with ISBN {isbn}")
        return books[isbn]

    def member(card: str) -> str:
        if card not in members:
            raise ToolError(f"Unknown card {card}")
        return members[card]

    def loan(number: int) -> dict[str, Any]:
        if number not in loans:
            raise ToolError("No such loan")
        return loans[number]

    def shown(number: int) -> Loan:
        return {"loan_id": number, "isbn": loans[number]["isbn"], "due": loans[number]["due"]}

    @server.tool()
    def search_books(words: str = "") -> list[dict[str, Any]]:
        """Search the catalogue by title."""
        return [{"isbn": isbn, "title": title} for isbn, title in books.items() if words.lower() in title.lower()]

    @server.tool()
    def get_book(isbn: str) -> dict[str, Any]:
        """Show a book."""
        return {"isbn": isbn, "title": book(isbn), "lent": any(one["isbn"] == isbn for one in loans.values())}

    @server.tool()
    def list_members() -> dict[str, Any]:
        """List everyone who has a card."""
        return {"members": [{"card": card, "name": name} for card, name in members.items()]}

    @server.tool()
    def get_member(card: str) -> dict[str, Any]:
        """Show a member."""
        return {"card": card, "name": member(card)}

    @server.tool()
    def register_member(full_name: str) -> dict[str, Any]:
        """Give somebody a card."""
        card = f"M{204 + len(members)}"
        members[card] = full_name
        return {"card": card}

    @server.tool()
    def rename_member(card: str, full_name: str) -> str:
        """Change a member's name."""
        member(card)
        members[card] = full_name
        return "done"

    @server.tool()
    def list_loans(card_number: str) -> list[Loan]:
        """List what a member has borrowed."""
        member(card_number)
        return [shown(number) for number, one in loans.items() if one["member"] == card_number]

    @server.tool()
    def lend_book(card: str, isbn: str) -> Loan:
        """Lend a book to a member."""
        member(card)
        book(isbn)
        if any(one["isbn"] == isbn for one in loans.values()):
            raise ToolError("That book is out")
        loans[max(loans) + 1] = {"member": card, "isbn": isbn, "due": "2026-06-01", "renewed": False}
        return shown(max(loans))

    @server.tool()
    def renew_loan(loan_id: int) -> Loan:
        """Keep a book longer."""
        if loan(loan_id)["renewed"]:
            raise ToolError("Already renewed once")
        loans[loan_id] |= {"renewed": True, "due": "2026-06-20"}
        return shown(loan_id)

    @server.tool()
    def return_book(loan_id: int) -> str:
        """Bring a book back."""
        loan(loan_id)
        del loans[loan_id]
        return "thank you"

    @server.tool()
    def place_hold(isbn: str, card: str) -> dict[str, str]:
        """Put a hold on a book that is out."""
        if not any(one["isbn"] == isbn for one in loans.values()):
            raise ToolError(f"{book(isbn)} is on the shelf")
        member(card)
        holds[f"H-{len(holds)}"] = {"isbn": isbn, "card": card}
        return {"hold": f"H-{len(holds) - 1}", "isbn": isbn}

    @server.tool()
    def list_holds(isbn: str) -> dict[str, Any]:
        """List who waits for a book."""
        book(isbn)
        waiting = [{"hold": hold, "card": one["card"]} for hold, one in holds.items() if one["isbn"] == isbn]
        return {"isbn": isbn, "waiting": waiting}

    @server.tool()
    def cancel_hold(hold: str) -> str:
        """Give up a hold."""
        if holds.pop(hold, None) is None:
            raise ToolError("Unknown hold")
        return "cancelled"

    return server
