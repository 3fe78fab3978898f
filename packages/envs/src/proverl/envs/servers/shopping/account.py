"""The customer's addresses and payment methods."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, money
from proverl.envs.servers.shopping import rules, words
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.tables import Address, AddressId, PaymentMethod, PaymentMethodId

_MOST_ADDRESSES = 10
_ADDRESSES = select(Address.__table__).order_by(Address.id)
_METHODS = select(PaymentMethod.__table__).order_by(PaymentMethod.id)


class AddressItem(TypedDict):
    """An address in a list."""

    address_id: AddressId
    label: str
    kind: Literal["door", "pickup_point"]
    address: str


class AddressList(TypedDict):
    """The customer's addresses."""

    addresses: list[AddressItem]


class SavedAddress(TypedDict):
    """An address just saved."""

    address_id: AddressId
    label: str


class PaymentMethodItem(TypedDict):
    """A payment method in a list; `balance` in EUR is there for gift cards only."""

    payment_method_id: PaymentMethodId
    label: str
    expires: str
    balance: float | None


class PaymentMethodList(TypedDict):
    """The customer's payment methods."""

    payment_methods: list[PaymentMethodItem]


@server.tool(
    read_only=True,
    phrases=[
        "list my delivery addresses",
        "show me the addresses in my account",
        "check which addresses I have saved",
        "look up my saved addresses",
        "tell me where I can have my orders delivered",
    ],
)
def list_addresses(ctx: Context) -> AddressList:
    """List the addresses the customer has saved: doors and pick-up points."""
    return {
        "addresses": [
            {
                "address_id": row["id"],
                "label": row["label"],
                "kind": row["kind"],
                "address": f"{row['street']}, {row['town']}",
            }
            for row in ctx.rows(_ADDRESSES)
        ]
    }


@server.tool(
    phrases=[
        "save {street}, {town} as a delivery address called {label}",
        "add the address {street}, {town} to my account under the name {label}",
        "store a new address {label}: {street}, {town}",
        "register {street}, {town} as my address {label}",
        "create a delivery address named {label} at {street}, {town}",
    ],
    brief=[
        "save a new delivery address",
        "add the address {street}, {town} to my account",
        "register {street} as my address {label}",
        "create a delivery address named {label} in {town}",
    ],
)
def add_address(
    ctx: Context,
    label: Annotated[
        Annotated[Text, Field(max_length=40, examples=list(words.ADDRESS_LABELS))], "What the customer calls it"
    ],
    street: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.STREETS))],
        "Street, number, and box where there is one",
    ],
    town: Annotated[
        Annotated[str, Field(max_length=60, pattern=r"^[1-9][0-9]{3} \S.*$", examples=list(words.TOWNS))],
        "Belgian postal code and town, e.g. 9000 Ghent",
    ],
) -> SavedAddress:
    """Save a door address in Belgium that orders can be delivered to."""
    rows = ctx.rows(_ADDRESSES)
    for row in rows:
        if row["label"].casefold() == label.casefold():
            raise Rejected(f"{row['id']} is called {row['label']!r} already; give the new address another label")
        if (row["street"].casefold(), row["town"].casefold()) == (street.casefold(), town.casefold()):
            raise Rejected(f"this address is saved already, as {row['id']} ({row['label']}); use that one")
    if len(rows) >= _MOST_ADDRESSES:
        raise Rejected(f"{len(rows)} addresses are saved, and no more than {_MOST_ADDRESSES} can be; use one of them")
    row = ctx.insert(Address, label=label, kind="door", street=street, town=town)
    return {"address_id": row["id"], "label": label}


@server.tool(
    read_only=True,
    phrases=[
        "list my payment methods",
        "show me the cards and gift cards in my account",
        "check which payment methods I have and what is left on the gift cards",
        "look up how I can pay",
        "tell me which cards you have on file for me",
    ],
)
def list_payment_methods(ctx: Context) -> PaymentMethodList:
    """List the customer's payment cards and gift cards, with the last month they are good for (YYYY-MM)."""
    return {
        "payment_methods": [
            {
                "payment_method_id": row["id"],
                "label": row["label"],
                "expires": row["expires"],
                "balance": None if row["balance"] is None else money(row["balance"]),
            }
            for row in ctx.rows(_METHODS)
        ]
    }


class SecurityCode(TypedDict):
    """What is printed on the card."""

    security_code: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_payment_code(
    ctx: Context, payment_method_id: Annotated[PaymentMethodId, "Payment method of the customer"]
) -> SecurityCode:
    """The security code of a payment method, for writing what the customer would say."""
    return {"security_code": rules.payment_method(ctx, payment_method_id)["security_code"]}
