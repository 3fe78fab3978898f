"""The bank on the morning of a session: about 25 customers with half a year of consistent history.

Balances are what the ledger adds up to, transfers have two sides, no account was ever below its overdraft. Awkward on
purpose: two customers of one name, an account without any entry, blocked, closed, expired and cancelled things.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.envs.servers.banking import words
from proverl.envs.servers.banking.iban import make_iban
from proverl.envs.servers.banking.tables import Account, Card, Customer, Dispute, Payee, StandingOrder, Transaction

Row = dict[str, Any]
_HISTORY = 160  # days before today at which every ledger begins with the balance brought forward


@dataclass
class _Draft:
    """The rows drawn so far."""

    rng: Random
    today: date
    rows: dict[type[Any], list[Row]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def add(self, model: type[Any], **values: Any) -> Row:
        """Append a row with a fresh id."""
        row = {"id": self._new_id(model.id_prefix), **values}
        self.rows.setdefault(model, []).append(row)
        return row

    def ago(self, days: int) -> str:
        """The ISO date this many days before today."""
        return (self.today - timedelta(days=days)).isoformat()

    def _new_id(self, prefix: str) -> str:
        while (new := f"{prefix}-{self.rng.randrange(10_000, 100_000)}") in self.used:
            pass
        self.used.add(new)
        return new


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = _Draft(rng, now.date())
    for customer in _customers(draft):
        payees = _payees(draft, customer)
        accounts = _accounts(draft, customer)
        for account in accounts:
            cards = _cards(draft, account) if account["type"] == "checking" else []
            _history(draft, account, cards, payees)
        _salary(draft, accounts[0])
        _savings(draft, accounts)
        _standing_orders(draft, accounts, payees)
    _close_one_of_some(draft)
    _bring_forward(draft)
    _disputes(draft)
    draft.add(Account, **_account_values(draft, draft.rows[Customer][-1], "savings", days_old=draft.rng.randint(1, 20)))
    return draft.rows


def _customers(draft: _Draft) -> list[Row]:
    rng = draft.rng
    last_names = [*words.LAST_NAMES, rng.choice(words.LAST_NAMES)]
    rng.shuffle(last_names)
    people = [f"{rng.choice(words.FIRST_NAMES)} {last}" for last in last_names]
    people.append(people[0])  # two customers of the same name, told apart by their city
    cities = rng.sample(words.CITIES, len(words.CITIES)) * 2
    return [
        draft.add(
            Customer,
            name=name,
            city=city,
            passcode=f"{rng.randrange(1_000_000):06d}",
            identity_until=draft.ago(rng.randint(10, 200) if index % 6 == 3 else -rng.randint(60, 1_500)),
        )
        for index, (name, city) in enumerate(zip(people, cities, strict=False))
    ]


def _payees(draft: _Draft, customer: Row) -> list[Row]:
    chosen = draft.rng.sample(words.PAYEE_NAMES, draft.rng.choice((0, 2, 2, 3, 3, 4)))
    return [
        draft.add(
            Payee,
            customer_id=customer["id"],
            name=name,
            iban=_iban(draft.rng),
            added_on=draft.ago(draft.rng.randint(_HISTORY, 900)),
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


def _account_values(draft: _Draft, customer: Row, kind: str, days_old: int) -> Row:
    rng, checking = draft.rng, kind == "checking"
    return {
        "customer_id": customer["id"],
        "type": kind,
        "name": rng.choice(words.CHECKING_NAMES if checking else words.SAVINGS_NAMES),
        "status": "active",
        "opened_on": draft.ago(days_old),
        "balance": 0,
        "overdraft": rng.choice((0, 0, 25_000, 50_000)) if checking else 0,
        "daily_limit": rng.choice((100_000, 250_000, 250_000, 500_000)),
    }


def _accounts(draft: _Draft, customer: Row) -> list[Row]:
    kinds = draft.rng.choice(
        (["checking"], ["checking", "savings"], ["checking", "savings"], ["checking"] * 2 + ["savings"])
    )
    accounts = [
        draft.add(Account, **_account_values(draft, customer, kind, days_old=draft.rng.randint(_HISTORY + 20, 3_000)))
        for kind in kinds
    ]
    if draft.rng.random() < 0.12:
        accounts[-1]["status"] = "blocked"
    return accounts


def _cards(draft: _Draft, account: Row) -> list[Row]:
    rng = draft.rng
    statuses = rng.choices(("active", "frozen", "blocked", "expired"), (70, 12, 8, 10), k=rng.choice((0, 1, 1, 2)))
    return [
        draft.add(
            Card,
            account_id=account["id"],
            kind=rng.choice(("physical", "physical", "virtual")),
            last4=f"{rng.randrange(10_000):04d}",
            status=status,
            expires=draft.ago(rng.randint(32, 60) if status == "expired" else -rng.randint(60, 1_400))[:7],
            pin=f"{rng.randrange(1_000, 10_000)}",
        )
        for status in statuses
    ]


def _book(draft: _Draft, account: Row, kind: str, amount: int, text: str, days: int, **links: str) -> Row:
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
        booked_on=draft.ago(days),
        booked_at=at,
        **places,
    )


def _history(draft: _Draft, account: Row, cards: list[Row], payees: list[Row]) -> None:
    """Card payments, payments to payees and fees of one account."""
    rng = draft.rng
    for card in cards:
        recent = card["status"] in ("active", "frozen")
        for _ in range(rng.randint(2, 4)):
            shop, low, high = rng.choice(words.SHOPS)
            days = rng.choice((rng.randint(1, 75), rng.randint(1, 75), 140)) if recent else rng.randint(90, 150)
            _book(draft, account, "card", -rng.randint(low, high), shop, days, card_id=card["id"])
    for payee in payees[:2] if account["type"] == "checking" else ():
        amount = rng.randint(15, 900) * 100
        _book(draft, account, "payment", -amount, payee["name"], rng.randint(1, 90), payee_id=payee["id"])
    if rng.random() < 0.3:
        _book(draft, account, "fee", -350, "Account fee", rng.randint(1, 30))


def _salary(draft: _Draft, account: Row) -> None:
    """Two months' pay for most customers."""
    rng = draft.rng
    if rng.random() < 0.7:
        employer, pay, day = rng.choice(words.EMPLOYERS), rng.randint(1_600, 4_200) * 100, rng.randint(1, 29)
        for days in (day, day + 30):
            _book(draft, account, "deposit", pay, f"Salary {employer}", days)


def _transfer(draft: _Draft, source: Row, target: Row, amount: int, days: int) -> None:
    _book(draft, source, "transfer", -amount, f"Transfer to {target['id']}", days, peer_id=target["id"])
    _book(draft, target, "transfer", amount, f"Transfer from {source['id']}", days, peer_id=source["id"])


def _savings(draft: _Draft, accounts: list[Row]) -> None:
    """Savings grow by the customer's own transfers and by interest."""
    for account in accounts:
        if account["type"] == "savings":
            _transfer(draft, accounts[0], account, draft.rng.randint(2, 20) * 2_500, draft.rng.randint(5, 80))
            _book(draft, account, "interest", draft.rng.randint(150, 4_200), "Interest", draft.rng.randint(1, 60))


def _close_one_of_some(draft: _Draft) -> None:
    """A few customers have an old account that was emptied into their first one and closed."""
    owners = draft.rng.sample([row for row in draft.rows[Account] if row["type"] == "checking"], 3)
    for first in owners:
        customer = {"id": first["customer_id"]}
        old = draft.add(Account, **_account_values(draft, customer, "savings", days_old=draft.rng.randint(400, 2_000)))
        old["status"] = "closed"
        amount = draft.rng.randint(2_000, 90_000)
        _book(draft, old, "opening", amount, "Balance brought forward", _HISTORY)
        _transfer(draft, old, first, amount, draft.rng.randint(90, 140))


def _bring_forward(draft: _Draft) -> None:
    """Open each ledger with what keeps it above zero ever since; where no pay came in, some now use their overdraft."""
    for account in draft.rows[Account]:
        if account["status"] == "closed":
            continue
        entries = [row for row in draft.rows[Transaction] if row["account_id"] == account["id"]]
        paid = any(row["kind"] == "deposit" for row in entries)
        if account["overdraft"] and account["balance"] < 0 and not paid:
            opening = -account["balance"] - draft.rng.randint(20, account["overdraft"] // 125) * 100
        else:
            opening = _deepest(entries) + draft.rng.randint(15_000, 260_000)
        _book(draft, account, "opening", opening or 100, "Balance brought forward", _HISTORY)


def _deepest(entries: list[Row]) -> int:
    """How far below zero these entries would take an account that begins empty (cents, 0 or more)."""
    total = lowest = 0
    for entry in sorted(entries, key=lambda row: (row["booked_on"], row["amount"])):
        total += entry["amount"]
        lowest = min(lowest, total)
    return -lowest


def _standing_orders(draft: _Draft, accounts: list[Row], payees: list[Row]) -> None:
    rng = draft.rng
    for payee in payees[: rng.choice((1, 1, 2, 3))]:
        draft.add(
            StandingOrder,
            account_id=accounts[0]["id"],
            payee_id=payee["id"],
            amount=rng.choice((rng.randint(10, 60) * 100, rng.randint(60, 950) * 100, rng.randint(999, 8_999))),
            frequency=rng.choice(("weekly", "monthly", "monthly", "monthly", "quarterly")),
            next_on=draft.ago(-1 if rng.random() < 0.1 else -rng.randint(2, 28)),
            status="cancelled" if rng.random() < 0.12 else "active",
        )


def _disputes(draft: _Draft) -> None:
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
