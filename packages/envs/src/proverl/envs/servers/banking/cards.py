"""Debit cards: list, freeze, unfreeze, change the PIN."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.banking import rules, words
from proverl.envs.servers.banking.app import server
from proverl.envs.servers.banking.tables import AccountId, Card, CardId

CardStatus = Literal["active", "frozen", "blocked", "expired"]
_FOUR_DIGITS = "^[0-9]{4}$"
Pin = Annotated[
    str, Field(pattern=_FOUR_DIGITS, json_schema_extra={"x-sensitive": True, "x-source": "reveal_card_pin.pin"})
]
NewPin = Annotated[
    str, Field(pattern=_FOUR_DIGITS, json_schema_extra={"x-sensitive": True}, examples=list(words.NEW_PINS))
]
_CARDS = select(Card.__table__).where(Card.account_id == bindparam("account")).order_by(Card.id)


class CardItem(TypedDict):
    """A card in a list."""

    card_id: CardId
    kind: Literal["physical", "virtual"]
    last4: str
    status: CardStatus


class CardList(TypedDict):
    """An account's cards."""

    cards: list[CardItem]


class CardState(TypedDict):
    """A card after a change."""

    card_id: CardId
    status: CardStatus


@server.tool(
    read_only=True,
    phrases=[
        "list the cards of {account_id}",
        "show me which cards belong to {account_id}",
        "look up the cards issued for {account_id}",
        "check what cards {account_id} has and whether they are active",
    ],
    brief=[
        "list the cards of an account",
        "show me which cards belong to one of the accounts",
    ],
)
def list_cards(ctx: Context, account_id: Annotated[AccountId, "Account that the cards pay from"]) -> CardList:
    """List the debit cards of an account with their status."""
    rules.account(ctx, account_id)
    return {
        "cards": [
            {"card_id": row["id"], "kind": row["kind"], "last4": row["last4"], "status": row["status"]}
            for row in ctx.rows(_CARDS, account=account_id)
        ]
    }


@server.tool(
    phrases=[
        "freeze {card_id}",
        "put a temporary hold on {card_id}",
        "lock {card_id} for now",
        "make sure nobody can pay with {card_id} for the moment",
    ],
    brief=[
        "freeze a card",
        "lock one of the cards for now",
    ],
)
def freeze_card(ctx: Context, card_id: Annotated[CardId, "Card to freeze"]) -> CardState:
    """Freeze a card so that it can't be used until it is unfrozen."""
    if rules.card(ctx, card_id)["status"] == "frozen":
        raise Rejected(f"card {card_id} is frozen already; unfreeze_card makes it usable again")
    ctx.update(Card, card_id, status="frozen")
    return {"card_id": card_id, "status": "frozen"}


@server.tool(
    phrases=[
        "unfreeze {card_id} with PIN {pin}",
        "make {card_id} usable again; its PIN is {pin}",
        "use PIN {pin} to unlock {card_id}",
        "lift the freeze on {card_id}, PIN {pin}",
    ],
    brief=[
        "unfreeze a card",
        "unfreeze {card_id}",
        "lift the freeze on {card_id}",
    ],
)
def unfreeze_card(
    ctx: Context,
    card_id: Annotated[CardId, "Frozen card"],
    pin: Annotated[Pin, "The card's four-digit PIN, as the card holder gave it"],
) -> CardState:
    """Make a frozen card usable again. The card's PIN authorises it."""
    row = rules.card(ctx, card_id)
    if row["status"] != "frozen":
        raise Rejected(f"card {card_id} is {row['status']}, not frozen; it can be used as it is")
    rules.right_pin(row, pin)
    ctx.update(Card, card_id, status="active")
    return {"card_id": card_id, "status": "active"}


@server.tool(
    phrases=[
        "change the PIN of {card_id} from {current_pin} to {new_pin}",
        "give {card_id} the new PIN {new_pin}; the current one is {current_pin}",
        "replace PIN {current_pin} on {card_id} by {new_pin}",
        "set {new_pin} as the PIN of {card_id}, which has been {current_pin} so far",
    ],
    brief=[
        "change the PIN of a card",
        "change the PIN of {card_id} to {new_pin}",
        "change the PIN of {card_id}, which has been {current_pin} so far",
    ],
)
def change_card_pin(
    ctx: Context,
    card_id: Annotated[CardId, "Active card"],
    current_pin: Annotated[Pin, "The card's PIN so far, as the card holder gave it"],
    new_pin: Annotated[NewPin, "Four new digits that the card holder chose"],
) -> CardState:
    """Change the PIN of an active card. The current PIN authorises it."""
    row = rules.card(ctx, card_id)
    if row["status"] == "frozen":
        raise Rejected(f"card {card_id} is frozen; unfreeze it before its PIN can be changed")
    rules.right_pin(row, current_pin)
    if new_pin == current_pin:
        raise Rejected("the new PIN equals the current one; choose other digits")
    if len(set(new_pin)) == 1 or new_pin in "01234567890" or new_pin in "09876543210":
        raise Rejected(f"PIN {new_pin} is too easy to guess; avoid one repeated digit and digits in a row")
    ctx.update(Card, card_id, pin=new_pin)
    return {"card_id": card_id, "status": row["status"]}


class CardPin(TypedDict):
    """What the holder of a card knows by heart."""

    pin: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_card_pin(ctx: Context, card_id: Annotated[CardId, "Card of the holder"]) -> CardPin:
    """The PIN of a card, for writing what its holder would say."""
    return {"pin": ctx.get(Card, card_id)["pin"]}
