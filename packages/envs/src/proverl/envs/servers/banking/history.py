"""The ledger's past: half a year of entries for each account, so that no account was ever below its overdraft."""

from proverl.envs import Draft
from proverl.envs.servers.banking import words
from proverl.envs.servers.banking.tables import Account, Transaction
from proverl.envs.state import Row

HISTORY = 160  # days before today at which every ledger begins with the balance brought forward


def book(draft: Draft, account: Row, kind: str, amount: int, text: str, days: int, **links: str) -> Row:
    """Append a ledger entry `days` ago; `links` name the card, payee or other account."""
    at = f"{draft.rng.randint(7, 21):02d}:{draft.rng.randrange(60):02d}"
    places = {"card_id": None, "payee_id": None, "peer_id": None, **links}
    account["balance"] += amount
    return draft.add(
        Transaction,
        account_id=account["id"],
        kind=kind,
        amount=amount,
        description=text,
        booked_on=draft.day(-days),
        booked_at=at,
        **places,
    )


def spend(draft: Draft, account: Row, cards: list[Row], payees: list[Row]) -> None:
    """Card payments, payments to payees and fees of one account."""
    rng = draft.rng
    for card in cards:
        recent = card["status"] in ("active", "frozen")
        for _ in range(rng.randint(2, 4)):
            shop, low, high = rng.choice(words.SHOPS)
            days = rng.choice((rng.randint(1, 75), rng.randint(1, 75), 140)) if recent else rng.randint(90, 150)
            book(draft, account, "card", -rng.randint(low, high), shop, days, card_id=card["id"])
    for payee in payees[:2] if account["type"] == "checking" else ():
        amount = rng.randint(15, 900) * 100
        book(draft, account, "payment", -amount, payee["name"], rng.randint(1, 90), payee_id=payee["id"])
    if rng.random() < 0.3:
        book(draft, account, "fee", -350, "Account fee", rng.randint(1, 30))


def pay_salary(draft: Draft, account: Row) -> None:
    """Two months' pay for most customers."""
    rng = draft.rng
    if rng.random() < 0.7:
        employer, pay, day = rng.choice(words.EMPLOYERS), rng.randint(1_600, 4_200) * 100, rng.randint(1, 29)
        for days in (day, day + 30):
            book(draft, account, "deposit", pay, f"Salary {employer}", days)


def transfer(draft: Draft, source: Row, target: Row, amount: int, days: int) -> None:
    """Book both sides of a transfer."""
    book(draft, source, "transfer", -amount, f"Transfer to {target['id']}", days, peer_id=target["id"])
    book(draft, target, "transfer", amount, f"Transfer from {source['id']}", days, peer_id=source["id"])


def save(draft: Draft, accounts: list[Row]) -> None:
    """Savings grow by the customer's own transfers and by interest."""
    for account in accounts:
        if account["type"] == "savings":
            transfer(draft, accounts[0], account, draft.rng.randint(2, 20) * 2_500, draft.rng.randint(5, 80))
            book(draft, account, "interest", draft.rng.randint(150, 4_200), "Interest", draft.rng.randint(1, 60))


def bring_forward(draft: Draft) -> None:
    """Open each ledger with what keeps it above zero ever since; where no pay came in, some now use their overdraft."""
    for account in draft.rows[Account]:
        if account["status"] == "closed":
            continue
        entries = [row for row in draft.rows[Transaction] if row["account_id"] == account["id"]]
        paid = any(row["kind"] == "deposit" for row in entries)
        if account["overdraft"] and account["balance"] < 0 and not paid:
            in_debt = -account["balance"] - draft.rng.randint(20, account["overdraft"] // 125) * 100
            opening = max(in_debt, _deepest(entries) - account["overdraft"])
        else:
            opening = _deepest(entries) + draft.rng.randint(15_000, 260_000)
        book(draft, account, "opening", opening or 100, "Balance brought forward", HISTORY)


def _deepest(entries: list[Row]) -> int:
    """How far below zero these entries would take an account that begins empty (cents, 0 or more)."""
    total = lowest = 0
    for entry in sorted(entries, key=lambda row: (row["booked_on"], row["amount"])):
        total += entry["amount"]
        lowest = min(lowest, total)
    return -lowest
