"""Webhooks: tell other systems of what happens on the merchant's account."""

import re
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, delete, func, or_, select, true
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.payments import words
from proverl.envs.servers.payments.app import server
from proverl.envs.servers.payments.tables import Charge, Invoice, PaymentLink, Refund, Webhook, WebhookId
from proverl.envs.state import Row

Event = Literal[
    "invoice.created", "invoice.voided", "charge.succeeded", "charge.refunded", "payment_link.created"
]  # fmt: skip

_MOST_PER_EVENT = 6
_HOST = re.compile(r"https://([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?(?:/[^\s]*)?", re.IGNORECASE | re.ASCII)
_PRIVATE = re.compile(r"(10|127|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\.[\d.]+|.*\.(local|localhost|internal)")

_INVOICE, _CHARGE, _REFUND = Invoice.__table__.c, Charge.__table__.c, Refund.__table__.c
_LINK, _WEBHOOK = PaymentLink.__table__.c, Webhook.__table__.c
_LAST_EVENT = {
    event: select(func.max(day + " " + time)).where(happened)
    for event, day, time, happened in (
        ("invoice.created", _INVOICE.issued_on, _INVOICE.issued_at, true()),
        ("invoice.voided", _INVOICE.voided_on, _INVOICE.voided_at, true()),
        ("charge.succeeded", _CHARGE.charged_on, _CHARGE.charged_at, _CHARGE.status != "failed"),
        ("charge.refunded", _REFUND.refunded_on, _REFUND.refunded_at, true()),
        ("payment_link.created", _LINK.created_on, _LINK.created_at, true()),
    )
}
_WEBHOOKS = (
    select(Webhook.__table__)
    .where(or_(bindparam("event") == "", _WEBHOOK.event == bindparam("event")))
    .order_by(_WEBHOOK.event, _WEBHOOK.id)
    .limit(bindparam("limit"))
)
_SAME_EVENT = select(_WEBHOOK.id, _WEBHOOK.url).where(_WEBHOOK.event == bindparam("event")).order_by(_WEBHOOK.id)
_DELETE = delete(Webhook).where(_WEBHOOK.id == bindparam("key"))


class WebhookItem(TypedDict):
    """A webhook in a list; `last_delivery` is the day of the last event sent to it, null before the first."""

    webhook_id: WebhookId
    url: str
    event: Event
    status: Literal["enabled", "disabled"]
    last_delivery: str | None


class WebhookList(TypedDict):
    """Webhooks, by event."""

    webhooks: list[WebhookItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the webhooks[ for {event}][, {limit} at most]",
        "show me where[ {event}] events are sent",
        "look up which webhooks are set up[ for {event} events][, up to {limit}]",
        "check the[ first {limit}] webhooks[ that fire on {event}]",
        "tell me which addresses are told[ of {event} events] by a webhook",
    ],
)
def list_webhooks(
    ctx: Context,
    event: Annotated[Event | None, "Only webhooks for this event"] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most webhooks listed"] = 5,
) -> WebhookList:
    """List the webhooks by event, with the day on which something was last sent to them."""
    rows = ctx.rows(_WEBHOOKS, event=event or "", limit=limit)
    last = {name: ctx.scalar(_LAST_EVENT[name]) for name in sorted({row["event"] for row in rows})}
    return {
        "webhooks": [
            {
                "webhook_id": row["id"],
                "url": row["url"],
                "event": row["event"],
                "status": "disabled" if row["disabled_on"] else "enabled",
                "last_delivery": _last_delivery(row, last[row["event"]]),
            }
            for row in rows
        ]
    }


def _last_delivery(row: Row, last_event: str | None) -> str | None:
    """The day of the last event since the webhook was set up; one that gave up did so on the day of its last."""
    if row["disabled_on"]:
        return str(row["disabled_on"])
    if last_event is None or last_event < f"{row['created_on']} {row['created_at']}":
        return None
    return last_event[:10]


class CreatedWebhook(TypedDict):
    """A webhook just set up."""

    webhook_id: WebhookId
    event: Event
    status: Literal["enabled"]


@server.tool(
    phrases=[
        "send {event} events to {url} from now on",
        "create a webhook at {url} for {event}",
        "notify {url} of every {event} event",
        "set up {url} to receive {event} events",
        "have {event} events posted to {url}",
        "add a webhook that tells {url} about {event} events",
    ],
    brief=[
        "set up a webhook",
        "create a webhook for {event} events",
        "have events posted to {url}",
    ],
)
def create_webhook(
    ctx: Context,
    url: Annotated[
        Annotated[Text, Field(max_length=300, examples=list(words.URLS))], "Public https address that events go to"
    ],
    event: Annotated[Event, "Event to be told of"],
) -> CreatedWebhook:
    """Set up a webhook: from now on every such event is posted to the address."""
    if not url.lower().startswith("https://"):
        raise Rejected(f"webhooks need an encrypted address; {url!r} does not start with https://")
    host = _HOST.fullmatch(url)
    if host is None or _PRIVATE.fullmatch(host[1].lower()):
        raise Rejected(f"{url!r} names no public host that events could reach; use e.g. https://shop.example.com/hooks")
    same = ctx.rows(_SAME_EVENT, event=event)
    for row in same:
        if row["url"] == url:
            raise Rejected(f"{row['id']} sends {event} events to this address already; use another event or address")
    if len(same) >= _MOST_PER_EVENT:
        raise Rejected(
            f"{event} has {len(same)} webhooks, the most allowed; delete one of "
            f"{', '.join(row['id'] for row in same)} first"
        )
    row = ctx.insert(
        Webhook,
        url=url,
        event=event,
        managed_by=None,
        disabled_on=None,
        created_on=ctx.today,
        created_at=ctx.timestamp[11:],
    )
    return {"webhook_id": row["id"], "event": event, "status": "enabled"}


class DeletedWebhook(TypedDict):
    """A webhook that is no more."""

    webhook_id: WebhookId
    event: Event


@server.tool(
    destructive=True,
    phrases=[
        "delete {webhook_id}",
        "remove {webhook_id} for good",
        "stop sending events to {webhook_id} and drop it",
        "tear down {webhook_id}",
        "get rid of {webhook_id} so that nothing is sent there any more",
    ],
    brief=[
        "delete a webhook",
        "get rid of one of our webhooks",
    ],
)
def delete_webhook(ctx: Context, webhook_id: Annotated[WebhookId, "Webhook to delete"]) -> DeletedWebhook:
    """Delete a webhook; nothing is sent to it any more. Those that an app set up can only be removed by that app."""
    row = ctx.get(Webhook, webhook_id, "list_webhooks names the webhooks")
    if row["managed_by"]:
        raise Rejected(
            f"webhook {webhook_id} belongs to the app {row['managed_by']}; disconnect the app to remove it, "
            "or delete a webhook of your own"
        )
    ctx.execute(_DELETE, key=webhook_id)
    return {"webhook_id": webhook_id, "event": row["event"]}
