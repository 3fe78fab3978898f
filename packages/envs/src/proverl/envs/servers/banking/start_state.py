"""The bank on the morning of a session: about 25 customers with half a year of consistent history.

Balances are what the ledger adds up to, transfers have two sides, no account was ever below its overdraft. Awkward on
purpose: two customers of one name, an account without any entry, blocked, closed, expired and cancelled things.
"""

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import CITIES, full_names
from proverl.envs.servers.banking import words
from proverl.envs.servers.banking.history import HISTORY, book, bring_forward, pay_salary, save, spend, transfer
from proverl.envs.servers.banking.iban import make_iban
from proverl.envs.servers.banking.tables import Account, Card, Customer, Dispute, Payee, StandingOrder, Transaction
from proverl.envs.state import Row

_CARD_STATUSES = ("active", "active", "frozen", "active", "blocked", "active", "active", "expired")


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    for customer in _customers(draft):
        payees = _payees(draft, customer)
        accounts = _accounts(draft, customer)
        for account in accounts:
            cards = _cards(draft, account) if account["type"] == "checking" else []
            spend(draft, account, cards, payees)
        pay_salary(draft, accounts[0])
        save(draft, accounts)
        _standing_orders(draft, accounts, payees)
    for account in rng.sample(draft.rows[Account], 4):
        account["status"] = "blocked"
    _close_old_accounts(draft)
    bring_forward(draft)
    _disputes(draft)
    draft.add(Account, **_account_values(draft, draft.rows[Customer][-1], "savings", days_old=draft.rng.randint(1, 20)))
    return draft.rows


def _customers(draft: Draft) -> list[Row]:
    rng = draft.rng
    people = full_names(rng, 26)  # the last is a namesake of the first, told apart by the city
    cities = rng.sample(CITIES, len(CITIES))
    return [
        draft.add(
            Customer,
            name=name,
            city=city,
            passcode=f"{rng.randrange(1_000_000):06d}",
            identity_until=draft.day(-rng.randint(10, 200) if index % 6 == 3 else rng.randint(60, 1_500)),
        )
        for index, (name, city) in enumerate(zip(people, cities, strict=False))
    ]


def _payees(draft: Draft, customer: Row) -> list[Row]:
    chosen = draft.rng.sample(words.PAYEE_NAMES, draft.rng.choice((0, 2, 2, 3, 3, 4)))
    return [
        draft.add(
            Payee,
            customer_id=customer["id"],
            name=name,
            iban=_iban(draft.rng),
            added_on=draft.day(-draft.rng.randint(HISTORY, 900)),
        )
        for name in chosen
    ]


def _iban(rng: Random) -> str:
    country = rng.choice(("BE", "BE", "BE", "FI", "NL"))
    if country == "NL":
        return make_iban(country, f"{rng.choice(('ABNA', 'INGB', 'RABO'))}{rng.randrange(10**10):010d}")
    if country == "FI":
        return make_iban(country, f"{rng.randrange(10**14):014d}")
    stem = rng.randrange(10**9, 10**10)
    return make_iban(country, f"{stem}{stem % 97 or 97:02d}")  # Belgian numbers carry a check of their own


def _account_values(draft: Draft, customer: Row, kind: str, days_old: int) -> Row:
    rng, checking = draft.rng, kind == "checking"
    return {
        "customer_id": customer["id"],
        "type": kind,
        "name": rng.choice(words.CHECKING_NAMES if checking else words.SAVINGS_NAMES),
        "status": "active",
        "opened_on": draft.day(-days_old),
        "balance": 0,
        "overdraft": rng.choice((0, 0, 25_000, 50_000)) if checking else 0,
        "daily_limit": rng.choice((100_000, 250_000, 250_000, 500_000)),
    }


def _accounts(draft: Draft, customer: Row) -> list[Row]:
    kinds = draft.rng.choice(
        (["checking"], ["checking", "savings"], ["checking", "savings"], ["checking"] * 2 + ["savings"])
    )
    return [
        draft.add(Account, **_account_values(draft, customer, kind, days_old=draft.rng.randint(HISTORY + 20, 3_000)))
        for kind in kinds
    ]


def _cards(draft: Draft, account: Row) -> list[Row]:
    rng = draft.rng
    issued = len(draft.rows.get(Card, ()))
    statuses = [_CARD_STATUSES[(issued + extra) % len(_CARD_STATUSES)] for extra in range(rng.choice((0, 1, 1, 2, 2)))]
    return [
        draft.add(
            Card,
            account_id=account["id"],
            kind=rng.choice(("physical", "physical", "virtual")),
            last4=f"{rng.randrange(10_000):04d}",
            status=status,
            expires=draft.day(-rng.randint(32, 60) if status == "expired" else rng.randint(60, 1_400))[:7],
            pin=f"{rng.randrange(1_000, 10_000)}",
        )
        for status in statuses
    ]


def _close_old_accounts(draft: Draft) -> None:
    """A few customers have an old account that was emptied into their first one and closed."""
    owners = draft.rng.sample([row for row in draft.rows[Account] if row["type"] == "checking"], 3)
    for first in owners:
        customer = {"id": first["customer_id"]}
        old = draft.add(Account, **_account_values(draft, customer, "savings", days_old=draft.rng.randint(400, 2_000)))
        old["status"] = "closed"
        amount = draft.rng.randint(2_000, 90_000)
        book(draft, old, "opening", amount, "Balance brought forward", HISTORY)
        transfer(draft, old, first, amount, draft.rng.randint(90, 140))


def _standing_orders(draft: Draft, accounts: list[Row], payees: list[Row]) -> None:
    rng = draft.rng
    for payee in payees[: rng.choice((1, 2, 2, 3))]:
        draft.add(
            StandingOrder,
            account_id=accounts[0]["id"],
            payee_id=payee["id"],
            amount=rng.choice((rng.randint(10, 60) * 100, rng.randint(60, 950) * 100, rng.randint(999, 8_999))),
            frequency=rng.choice(("weekly", "monthly", "monthly", "monthly", "quarterly")),
            next_on=draft.day(1 if rng.random() < 0.1 else rng.randint(2, 28)),
            status="cancelled" if rng.random() < 0.12 else "active",
        )


def _disputes(draft: Draft) -> None:
    rng = draft.rng
    payments = [row for row in draft.rows[Transaction] if row["kind"] == "card"]
    for payment in rng.sample(payments, len(payments) // 5):
        opened = date.fromisoformat(payment["booked_on"]) + timedelta(days=rng.randint(0, 14))
        draft.add(
            Dispute,
            transaction_id=payment["id"],
            reason=rng.choice(("duplicate", "overcharged", "undelivered", "cancelled")),
            status=rng.choice(("open", "upheld", "declined")),
            opened_on=min(opened, draft.today - timedelta(days=1)).isoformat(),
        )
