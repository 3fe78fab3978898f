"""The people who order: where they live and which vouchers they have."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text, money
from proverl.envs.names import FIRST_NAMES, LAST_NAMES, folded
from proverl.envs.servers.food_delivery import rules
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.catalogue import Limit
from proverl.envs.servers.food_delivery.tables import (
    Customer,
    CustomerId,
    DeliveryAddress,
    DeliveryAddressId,
    Voucher,
    VoucherId,
)
from proverl.envs.state import Row

_ADDRESSES = (
    select(
        DeliveryAddress.id, DeliveryAddress.customer_id, Customer.name, DeliveryAddress.label, DeliveryAddress.street
    )
    .join_from(DeliveryAddress, Customer, Customer.id == DeliveryAddress.customer_id)
    .order_by(Customer.name, DeliveryAddress.id)
)
_VOUCHERS = (
    select(Voucher.__table__)
    .where(Voucher.customer_id == bindparam("customer"))
    .order_by(Voucher.valid_until, Voucher.id)
)


class AddressItem(TypedDict):
    """A delivery address in a list."""

    delivery_address_id: DeliveryAddressId
    customer_id: CustomerId
    customer: str
    label: str
    street: str


class AddressList(TypedDict):
    """Delivery addresses that fit."""

    delivery_addresses: list[AddressItem]


@server.tool(
    read_only=True,
    phrases=[
        "find the customers[ called {name}] and where they get their food[, {limit} addresses at most]",
        "look up the delivery addresses[ of people named {name}][, up to {limit}]",
        "list[ {limit}] saved delivery addresses[ of customers with {name} in their name]",
        "search the customer list[ for {name}], addresses included",
        "show me which customers[ named {name}] we have and what their addresses are[, the first {limit}]",
    ],
)
def find_delivery_addresses(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=60, examples=[*LAST_NAMES, *FIRST_NAMES[:20]])] | None,
        "Part of the customer's name; case and accents make no difference",
    ] = None,
    limit: Annotated[Limit, "Most addresses listed"] = 5,
) -> AddressList:
    """Find customers with their delivery addresses by name."""
    wanted = folded(name or "")
    rows = [row for row in ctx.rows(_ADDRESSES) if wanted in folded(row["name"])]
    return {
        "delivery_addresses": [
            {
                "delivery_address_id": row["id"],
                "customer_id": row["customer_id"],
                "customer": row["name"],
                "label": row["label"],
                "street": row["street"],
            }
            for row in rows[:limit]
        ]
    }


class VoucherItem(TypedDict):
    """A voucher in a list; `offer` says what it takes off and what it needs, in EUR."""

    voucher_id: VoucherId
    code: str
    offer: str
    valid_until: str
    status: Literal["unused", "used", "expired"]


class VoucherList(TypedDict):
    """A customer's vouchers, the first to expire first."""

    vouchers: list[VoucherItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the vouchers of {customer_id}",
        "show me which vouchers {customer_id} has",
        "check whether {customer_id} has a voucher",
        "look up the vouchers that {customer_id} owns",
        "find out what {customer_id} could save with vouchers",
    ],
    brief=[
        "list a customer's vouchers",
        "check whether a customer has a voucher",
    ],
)
def list_vouchers(ctx: Context, customer_id: Annotated[CustomerId, "Customer who owns the vouchers"]) -> VoucherList:
    """List the vouchers of a customer, used and expired ones included."""
    rules.customer(ctx, customer_id)
    return {
        "vouchers": [
            {
                "voucher_id": row["id"],
                "code": row["code"],
                "offer": _offer(row),
                "valid_until": row["valid_until"],
                "status": _status(row, ctx.today),
            }
            for row in ctx.rows(_VOUCHERS, customer=customer_id)
        ]
    }


def _offer(row: Row) -> str:
    off = {
        "percent": f"{row['value']}% off",
        "amount": f"{money(row['value']):.2f} off",
        "free_delivery": "free delivery",
    }[row["kind"]]
    kitchen = f" {row['cuisine']}" if row["cuisine"] else ""
    return off + kitchen + (f" from {money(row['min_spend']):.2f}" if row["min_spend"] else "")


def _status(row: Row, today: str) -> Literal["unused", "used", "expired"]:
    if row["used_by"] is not None:
        return "used"
    return "expired" if row["valid_until"] < today else "unused"
