"""The merchant's account on the morning of a session: some 40 customers and a year of invoices.

What counts as paid was charged, refunds fit their charges, the balance was never negative. Awkward on purpose: two
customers of one name, no, expired and nearly empty cards, blocked customers, overdue, partly paid, void and
uncollectible invoices, failed and disputed charges, expired links, webhooks that gave up.
"""

import unicodedata
from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import full_names
from proverl.envs.servers.payments import words
from proverl.envs.servers.payments.history import Billing, pay_out
from proverl.envs.servers.payments.tables import Customer, Webhook
from proverl.envs.state import Row

_PEOPLE = 20
_WEBHOOKS = (  # as many for invoice.created as there may be
    ("invoice.created", 6), ("invoice.voided", 4), ("charge.succeeded", 5), ("charge.refunded", 4),
    ("payment_link.created", 3),
)  # fmt: skip


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    billing = Billing(draft)
    for index, customer in enumerate(_customers(draft)):
        for _ in range(rng.choice((1, 2, 3, 3, 4))):
            billing.invoice(customer, rng.choices(Billing.FATES, Billing.WEIGHTS)[0])
        if index % 14 == 5:  # owes too much to be billed again
            billing.invoice(customer, "overdue")
            billing.invoice(customer, "overdue")
    billing.refund_some()
    pay_out(draft)
    _webhooks(draft)
    return draft.rows


def _customers(draft: Draft) -> list[Row]:
    names = [*words.COMPANIES, *full_names(draft.rng, _PEOPLE)]
    blocked = set(draft.rng.sample(range(len(words.COMPANIES), len(names)), 2))
    return [_customer(draft, name, index, index in blocked) for index, name in enumerate(names)]


def _customer(draft: Draft, name: str, index: int, blocked: bool) -> Row:
    rng = draft.rng
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o").replace("Ł", "L").replace("ı", "i"))
    parts = "".join(char if char.isascii() and char.isalnum() else " " for char in plain.casefold() if char.isascii())
    mailbox = f"billing@{parts.replace(' ', '')}.example" if index < len(words.COMPANIES) else ""
    brand = None if rng.random() < 0.18 else rng.choice(words.BRANDS)
    expired = rng.random() < 0.12
    return draft.add(
        Customer,
        name=name,
        email=mailbox or f"{'.'.join(parts.split())}{index}@mail.example",
        blocked_on=draft.day(-1) if blocked else None,
        card_brand=brand,
        card_last4=f"{rng.randrange(10_000):04d}" if brand else None,
        card_expires=draft.day(rng.randint(-300, -32) if expired else rng.randint(40, 1_400))[:7] if brand else None,
        card_code=(f"{rng.randrange(10_000):04d}" if brand == "Amex" else f"{rng.randrange(1_000):03d}")
        if brand
        else None,
        card_funds=rng.choice((3_000, 40_000, 150_000, 300_000, 800_000, 2_000_000)) if brand else 0,
        card_confirms=brand is not None and rng.random() < 0.15,
    )


def _webhooks(draft: Draft) -> None:
    rng = draft.rng
    for event, count in _WEBHOOKS:
        for url in rng.sample(words.URLS, count):
            age = rng.randint(40, 600)
            draft.add(
                Webhook,
                url=url,
                event=event,
                managed_by=next((app for app in words.APPS if app.lower() in url), None),
                disabled_on=draft.day(-rng.randint(5, 35)) if rng.random() < 0.15 else None,
                created_on=draft.day(-age),
                created_at=f"{rng.randint(8, 17):02d}:{rng.randrange(60):02d}",
            )
