"""Payment links: pages on which customers pay an invoice themselves."""

from datetime import timedelta
from typing import Annotated

from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, money
from proverl.envs.servers.payments import rules
from proverl.envs.servers.payments.app import server
from proverl.envs.servers.payments.tables import InvoiceId, PaymentLink, PaymentLinkId

_USUAL_DAYS, _MOST_DAYS = 14, 60


class CreatedLink(TypedDict):
    """A link just made; `amount` in EUR is what the customer pays there."""

    payment_link_id: PaymentLinkId
    url: str
    amount: float
    expires_on: str


@server.tool(
    phrases=[
        "create a payment link for {invoice_id}[ that expires on {expires_on}]",
        "make a link on which {invoice_id} can be paid[ until {expires_on}]",
        "give me a payment page for {invoice_id}[, good through {expires_on}]",
        "set up a link to pay {invoice_id}[ that works until {expires_on}]",
        "generate a link so that the customer can pay {invoice_id} online[, valid through {expires_on}]",
    ],
    brief=[
        "make a payment link",
        "set up a page where a customer can pay[, good through {expires_on}]",
    ],
)
def create_payment_link(
    ctx: Context,
    invoice_id: Annotated[InvoiceId, "Open or overdue invoice"],
    expires_on: Annotated[IsoDate | None, "Last day it works, at most 60 days ahead; in 14 days if left out"] = None,
) -> CreatedLink:
    """Create a link on which a customer pays what is left of an invoice. An invoice has one active link at a time."""
    row = rules.unpaid_invoice(ctx, invoice_id)
    rules.customer_in_good_standing(ctx, row["customer_id"])
    if expires_on is not None:
        rules.within_days(ctx, "expires_on", expires_on, _MOST_DAYS)
    active = rules.active_link(ctx, invoice_id)
    if active:
        raise Rejected(
            f"invoice {invoice_id} has the active payment link {active['id']}, good until {active['expires_on']}; "
            "share that one"
        )
    last_day = expires_on or (ctx.now.date() + timedelta(days=_USUAL_DAYS)).isoformat()
    link = ctx.insert(
        PaymentLink,
        invoice_id=invoice_id,
        status="active",
        expires_on=last_day,
        created_on=ctx.today,
        created_at=ctx.timestamp[11:],
    )
    return {
        "payment_link_id": link["id"],
        "url": f"https://pay.example.com/{link['id'].lower()}",
        "amount": money(row["amount"] - row["paid"]),
        "expires_on": last_day,
    }
