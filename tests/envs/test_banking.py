"""The bank: what its tools do, every refusal, its laws on a random walk, its start state."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time
from proverl.envs.servers.banking.iban import LENGTHS, is_iban, make_iban

BANK = load_server("banking")
VISIBLE = [tool for tool in BANK.tools if not tool.hidden]
VALID_IBAN = "BE10431726300604"


class Bank:
    """A session, and what the visible reading tools found in its start state."""

    def __init__(self, seed: int) -> None:
        self.session = Session([BANK], seed)
        found = start_of(seed)
        self.customers, self.accounts, self.payees = found["customers"], found["accounts"], found["payees"]
        self.cards, self.orders, self.entries = found["cards"], found["standing_orders"], found["transactions"]

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def account(self, **wanted: Any) -> dict[str, Any]:
        return next(row for row in self.accounts if wanted.items() <= row.items())

    def rich(self, type: str = "checking", **wanted: Any) -> dict[str, Any]:
        """An active account that can spend 400 and more, and has the daily limit for it."""
        return next(
            row
            for row in self.accounts
            if row["type"] == type and row["available"] > 400 and wanted.items() <= row.items()
        )

    def payer(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """An account and a payee of its holder."""
        holders = {payee["customer_id"] for payee in self.payees}
        account = next(
            row
            for row in self.accounts
            if row["type"] == "checking" and row["available"] > 600 and row["customer_id"] in holders
        )
        return account, next(row for row in self.payees if row["customer_id"] == account["customer_id"])

    def passcode(self, account: dict[str, Any]) -> str:
        return self.read("reveal_passcode", account_id=account["account_id"])["passcode"]

    def card(self, status: str) -> str:
        return next(row["card_id"] for row in self.cards if row["status"] == status)

    def pin(self, card_id: str) -> str:
        return self.read("reveal_card_pin", card_id=card_id)["pin"]

    def total(self) -> float:
        rows = [self.read("get_account", account_id=row["account_id"]) for row in self.accounts]
        return round(sum(row["balance"] for row in rows), 2)


@cache
def start_of(seed: int) -> dict[str, list[dict[str, Any]]]:
    """Everything in the start state that callers can see, by the name of its list; rows know their owner."""
    with Session([BANK], seed) as session:

        def below(owner: str, owners: list[dict[str, Any]], tool: str, **more: Any) -> list[dict[str, Any]]:
            return [
                {owner: row[owner], **item}
                for row in owners
                for items in session.call(tool, {owner: row[owner], **more}).content.values()
                for item in items
            ]

        customers = session.call("find_customers", {"limit": 50}).content["customers"]
        accounts = [
            session.call("get_account", {"account_id": row["account_id"]}).content
            for row in below("customer_id", customers, "list_accounts")
        ]
        return {
            "customers": customers,
            "accounts": accounts,
            "payees": below("customer_id", customers, "list_payees"),
            "cards": below("account_id", accounts, "list_cards"),
            "standing_orders": below("account_id", accounts, "list_standing_orders"),
            "transactions": below("account_id", accounts, "list_transactions", limit=50),
        }


@pytest.fixture
def bank() -> Bank:
    return Bank(3)


def other(digits: str) -> str:
    """Digits of the same length that differ."""
    return digits[:-1] + str((int(digits[-1]) + 1) % 10)


# What the tools do


def test_there_are_17_visible_tools_and_secrets_are_revealed_only_by_hidden_ones():
    assert len(VISIBLE) == 17
    assert {tool.name for tool in BANK.tools if tool.hidden} == {"reveal_passcode", "reveal_card_pin"}
    for tool in VISIBLE:
        for schema in tool.parameters["properties"].values():
            source = schema.get("x-source")
            if source:
                name, _, field = source.partition(".")
                assert BANK.functions[name].tool.hidden
                assert field in BANK.functions[name].tool.returns["properties"]
        assert not {"pin", "passcode"} & set(str(tool.returns["properties"]).replace("'", " ").split())


def test_customers_are_found_by_part_of_the_name_whatever_case_and_accents(bank):
    found = bank.read("find_customers", name="MULLER")["customers"]
    assert found
    assert all("Müller" in row["name"] for row in found)
    assert bank.read("find_customers", name="no such person") == {"customers": []}


def test_two_customers_share_a_name_and_differ_by_city(bank):
    people = [(row["name"], row["city"]) for row in bank.customers]
    assert len({name for name, _ in people}) == len(people) - 1
    assert len(set(people)) == len(people)


def test_a_transfer_moves_money_and_both_sides_see_it(bank):
    source, target = bank.rich(), bank.account(type="savings", status="active")
    total = bank.total()
    sent = bank.read(
        "transfer_funds",
        from_account_id=source["account_id"],
        to_account_id=target["account_id"],
        amount=12.34,
        memo="Thanks!",
    )
    assert sent["balance"] == round(source["balance"] - 12.34, 2)
    (out,) = bank.read("list_transactions", account_id=source["account_id"], limit=1)["transactions"]
    (into,) = bank.read("list_transactions", account_id=target["account_id"], limit=1)["transactions"]
    assert (out["transaction_id"], out["amount"], out["description"]) == (sent["transaction_id"], -12.34, "Thanks!")
    assert (into["amount"], into["date"]) == (12.34, bank.session.now.date().isoformat())
    assert bank.total() == total


def test_a_payment_leaves_the_bank(bank):
    account, payee = bank.payer()
    total = bank.total()
    sent = bank.read(
        "pay_payee",
        account_id=account["account_id"],
        payee_id=payee["payee_id"],
        amount=20,
        passcode=bank.passcode(account),
    )
    assert sent["balance"] == round(account["balance"] - 20, 2)
    assert bank.total() == round(total - 20, 2)


def test_a_blocked_account_still_receives_money(bank):
    source, target = bank.rich(), bank.account(status="blocked")
    arguments = {"from_account_id": source["account_id"], "to_account_id": target["account_id"], "amount": 1.5}
    assert bank.call("transfer_funds", **arguments).ok
    assert bank.read("get_account", account_id=target["account_id"])["balance"] == round(target["balance"] + 1.5, 2)


def test_a_new_payee_can_be_paid_and_a_new_account_filled(bank):
    account = bank.rich()
    added = bank.read("add_payee", customer_id=account["customer_id"], name="Aylin Demir", iban="be10 4317 2630 0604")
    assert added["payee_id"] in str(bank.read("list_payees", customer_id=account["customer_id"]))
    assert bank.call(
        "pay_payee",
        account_id=account["account_id"],
        payee_id=added["payee_id"],
        amount=25,
        passcode=bank.passcode(account),
    ).ok
    holder = next(row for row in bank.customers if bank.call("open_account", **_new_account(row)).ok)
    new = bank.read("list_accounts", customer_id=holder["customer_id"])["accounts"]
    names = [row["name"] for row in new]
    assert "Bike fund" in names
    target = new[names.index("Bike fund")]["account_id"]
    assert bank.call("transfer_funds", from_account_id=account["account_id"], to_account_id=target, amount=50).ok


def _new_account(customer: dict[str, Any]) -> dict[str, Any]:
    return {"customer_id": customer["customer_id"], "type": "savings", "name": "Bike fund"}


def test_a_standing_order_is_listed_until_it_is_cancelled(bank):
    account, payee = bank.payer()
    start = (bank.session.now.date() + timedelta(days=9)).isoformat()
    created = bank.read(
        "create_standing_order",
        account_id=account["account_id"],
        payee_id=payee["payee_id"],
        amount=33.3,
        start_date=start,
        frequency="weekly",
    )
    listed = bank.read("list_standing_orders", account_id=account["account_id"])["standing_orders"]
    assert {**created, "amount": 33.3, "frequency": "weekly"} in listed
    assert [row["next_date"] for row in listed] == sorted(row["next_date"] for row in listed)
    bank.read("cancel_standing_order", standing_order_id=created["standing_order_id"])
    left = bank.read("list_standing_orders", account_id=account["account_id"])["standing_orders"]
    assert len(left) == len(listed) - 1


def test_a_card_is_frozen_unfrozen_and_gets_a_new_pin(bank):
    card = bank.card("active")
    assert bank.read("freeze_card", card_id=card)["status"] == "frozen"
    assert bank.read("unfreeze_card", card_id=card, pin=bank.pin(card))["status"] == "active"
    bank.read("change_card_pin", card_id=card, current_pin=bank.pin(card), new_pin="9153")
    assert bank.pin(card) == "9153"


def test_transactions_are_listed_newest_first_by_kind_date_and_number(bank):
    account = max(
        bank.accounts, key=lambda row: sum(entry["account_id"] == row["account_id"] for entry in bank.entries)
    )
    every = bank.read("list_transactions", account_id=account["account_id"], limit=50)["transactions"]
    assert [row["date"] for row in every] == sorted((row["date"] for row in every), reverse=True)
    assert len(bank.read("list_transactions", account_id=account["account_id"])["transactions"]) == 5
    since = every[3]["date"]
    recent = bank.read("list_transactions", account_id=account["account_id"], since=since, limit=50)["transactions"]
    assert recent == [row for row in every if row["date"] >= since]
    kinds = [
        bank.read("list_transactions", account_id=account["account_id"], kind=kind, limit=50)["transactions"]
        for kind in ("card", "payment", "transfer", "deposit", "interest", "fee")
    ]
    assert sum(map(len, kinds)) == len(every) - 1  # all but the balance brought forward


def test_fraud_is_disputed_once_the_card_is_frozen(bank):
    payment, card = disputable(bank)
    refused = bank.call("dispute_transaction", transaction_id=payment, reason="fraud")
    assert refused.message == f"card {card} is still active; freeze it before a fraud is reported"
    bank.read("freeze_card", card_id=card)
    opened = bank.read("dispute_transaction", transaction_id=payment, reason="fraud")
    assert opened["status"] == "open"
    assert opened["amount"] > 0


def disputable(bank: Bank) -> tuple[str, str]:
    """A card payment that can be disputed, and its active card, found as a caller would: by trying."""
    for account in bank.accounts:
        for row in bank.read("list_transactions", account_id=account["account_id"], kind="card", limit=50)[
            "transactions"
        ]:
            result = bank.call("dispute_transaction", transaction_id=row["transaction_id"], reason="fraud")
            if "still active" in result.message:
                return row["transaction_id"], result.message.split()[1]
    raise AssertionError("no disputable payment")


# Refusals

Case = Callable[[Bank], tuple[str, dict[str, Any], str]]
REFUSALS: list[Case] = []


def refusal(case: Case) -> Case:
    REFUSALS.append(case)
    return case


def transfer(source: dict[str, Any], target: dict[str, Any], amount: float = 10) -> dict[str, Any]:
    return {"from_account_id": source["account_id"], "to_account_id": target["account_id"], "amount": amount}


def payment(bank: Bank, **changes: Any) -> dict[str, Any]:
    account, payee = bank.payer()
    usual = {"account_id": account["account_id"], "payee_id": payee["payee_id"], "amount": 10}
    return {**usual, "passcode": bank.passcode(account), **changes}


@refusal
def from_a_closed_account(bank):
    closed = bank.account(status="closed")
    return "transfer_funds", transfer(closed, bank.rich()), f"account {closed['account_id']} is closed; use an open"


@refusal
def to_a_closed_account(bank):
    return "transfer_funds", transfer(bank.rich(), bank.account(status="closed")), "is closed; use an open account"


@refusal
def from_a_blocked_account(bank):
    return "transfer_funds", transfer(bank.account(status="blocked"), bank.rich()), "it can receive money but not send"


@refusal
def to_itself(bank):
    return "transfer_funds", transfer(bank.rich(), bank.rich()), "name two different accounts"


@refusal
def more_than_there_is(bank):
    poor = bank.account(type="savings", status="active")
    return "transfer_funds", transfer(poor, bank.rich(), round(poor["available"] + 0.01, 2)), "insufficient funds:"


@refusal
def from_savings_to_someone_else(bank):
    savings = bank.rich("savings")
    stranger = next(row for row in bank.accounts if row["customer_id"] != savings["customer_id"] and row["available"])
    return "transfer_funds", transfer(savings, stranger), "transfers to another customer need a checking account"


@refusal
def above_the_daily_limit(bank):
    rich = next(
        row for row in bank.accounts if row["type"] == "checking" and row["available"] > row["daily_limit"] + 50
    )
    stranger = next(row for row in bank.accounts if row["customer_id"] != rich["customer_id"] and row["available"])
    assert bank.call("transfer_funds", **transfer(rich, stranger, 40)).ok
    left = rich["daily_limit"] - 40
    return "transfer_funds", transfer(rich, stranger, left + 1), f"{left:.2f} left for today"


@refusal
def pay_with_the_wrong_passcode(bank):
    account, _ = bank.payer()
    return "pay_payee", payment(bank, passcode=other(bank.passcode(account))), "wrong passcode; ask the account holder"


@refusal
def pay_from_savings(bank):
    savings = next(row for row in bank.accounts if row["type"] == "savings" and row["status"] == "active")
    return "pay_payee", payment(bank, account_id=savings["account_id"]), "payments to payees need a checking account"


@refusal
def pay_someone_elses_payee(bank):
    account, _ = bank.payer()
    foreign = next(row["payee_id"] for row in bank.payees if row["customer_id"] != account["customer_id"])
    return "pay_payee", payment(bank, payee_id=foreign), "use one of list_payees"


@refusal
def pay_much_to_a_new_payee(bank):
    account, _ = bank.payer()
    new = bank.read("add_payee", customer_id=account["customer_id"], name="Engie", iban=VALID_IBAN)
    return "pay_payee", payment(bank, payee_id=new["payee_id"], amount=500.01), "a payment to it is at most 500.00"


@refusal
def save_a_payee_twice(bank):
    arguments = {"customer_id": bank.customers[0]["customer_id"], "name": "Engie", "iban": VALID_IBAN}
    assert bank.call("add_payee", **arguments).ok
    return "add_payee", arguments, "has saved this IBAN already, as PAY-"


@refusal
def save_a_wrong_iban(bank):
    arguments = {"customer_id": bank.customers[0]["customer_id"], "name": "Engie", "iban": "BE10431726300605"}
    return "add_payee", arguments, "is no valid IBAN"


@refusal
def open_with_an_expired_identity_check(bank):
    results = [bank.call("open_account", **_new_account(row)) for row in bank.customers]
    refused = next(i for i, result in enumerate(results) if "identity check" in result.message)
    return "open_account", _new_account(bank.customers[refused]), "must be renewed in a branch"


@refusal
def open_too_many_accounts(bank):
    customer = next(row for row in bank.customers if bank.call("open_account", **_new_account(row)).ok)
    while bank.call("open_account", **_new_account(customer)).ok:
        pass
    return "open_account", _new_account(customer), "has 4 open accounts; at most 4 are allowed"


def order(bank: Bank, **changes: Any) -> dict[str, Any]:
    account, payee = bank.payer()
    start = (bank.session.now.date() + timedelta(days=5)).isoformat()
    usual = {"account_id": account["account_id"], "payee_id": payee["payee_id"], "amount": 7.77, "start_date": start}
    return {**usual, **changes}


@refusal
def order_that_starts_today(bank):
    return "create_standing_order", order(bank, start_date=bank.session.now.date().isoformat()), "must be after today"


@refusal
def order_from_savings(bank):
    savings = bank.account(type="savings", status="active")["account_id"]
    return "create_standing_order", order(bank, account_id=savings), "standing orders need a checking account"


@refusal
def order_twice(bank):
    assert bank.call("create_standing_order", **order(bank)).ok
    return "create_standing_order", order(bank), "the same amount monthly already; cancel it first"


@refusal
def cancel_twice(bank):
    created = bank.read("create_standing_order", **order(bank))["standing_order_id"]
    assert bank.call("cancel_standing_order", standing_order_id=created).ok
    return "cancel_standing_order", {"standing_order_id": created}, "is cancelled already"


@refusal
def cancel_too_late(bank):
    tomorrow = (bank.session.now.date() + timedelta(days=1)).isoformat()
    created = bank.read("create_standing_order", **order(bank, start_date=tomorrow))["standing_order_id"]
    return "cancel_standing_order", {"standing_order_id": created}, f"is paid on {tomorrow}, too soon to stop it"


@refusal
def freeze_twice(bank):
    return "freeze_card", {"card_id": bank.card("frozen")}, "is frozen already"


@refusal
def freeze_a_stolen_card(bank):
    return "freeze_card", {"card_id": bank.card("blocked")}, "was reported lost or stolen and is blocked for good"


@refusal
def freeze_an_expired_card(bank):
    return "freeze_card", {"card_id": bank.card("expired")}, "use another card"


@refusal
def unfreeze_an_active_card(bank):
    return "unfreeze_card", {"card_id": bank.card("active"), "pin": "1111"}, "is active, not frozen"


@refusal
def unfreeze_with_the_wrong_pin(bank):
    card = bank.card("frozen")
    return "unfreeze_card", {"card_id": card, "pin": other(bank.pin(card))}, f"wrong PIN for card {card}"


def pin_change(bank: Bank, status: str = "active", **changes: Any) -> dict[str, Any]:
    card = bank.card(status)
    return {"card_id": card, "current_pin": bank.pin(card), "new_pin": "9153", **changes}


@refusal
def change_a_frozen_cards_pin(bank):
    return "change_card_pin", pin_change(bank, "frozen"), "unfreeze it before its PIN can be changed"


@refusal
def change_to_the_same_pin(bank):
    pin = bank.pin(bank.card("active"))
    return "change_card_pin", pin_change(bank, new_pin=pin), "equals the current one; choose other digits"


@refusal
def change_to_an_easy_pin(bank):
    return "change_card_pin", pin_change(bank, new_pin="4321"), "PIN 4321 is too easy to guess"


@refusal
def change_with_the_wrong_pin(bank):
    wrong = other(bank.pin(bank.card("active")))
    return "change_card_pin", pin_change(bank, current_pin=wrong), "wrong PIN for card"


@refusal
def dispute_what_no_card_paid(bank):
    entry = next(row for row in bank.entries if row["description"].startswith("Salary"))["transaction_id"]
    return "dispute_transaction", {"transaction_id": entry, "reason": "fraud"}, "only card payments can be disputed"


@refusal
def dispute_twice(bank):
    payment, _ = disputable(bank)
    arguments = {"transaction_id": payment, "reason": "duplicate"}
    assert bank.call("dispute_transaction", **arguments).ok
    return "dispute_transaction", arguments, "was disputed already; see dispute DSP-"


@refusal
def dispute_too_late(bank):
    day = (bank.session.now.date() - timedelta(days=120)).isoformat()
    for account in bank.accounts:
        for row in bank.read("list_transactions", account_id=account["account_id"], kind="card", limit=50)[
            "transactions"
        ]:
            arguments = {"transaction_id": row["transaction_id"], "reason": "undelivered"}
            if row["date"] < day and "disputed already" not in bank.call("dispute_transaction", **arguments).message:
                return "dispute_transaction", arguments, f"payments from {day} on can be disputed"
    raise AssertionError("no old card payment")


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.__name__)
def test_the_bank_refuses_and_says_what_would_be_right(bank, case):
    name, arguments, message = case(bank)
    before = bank.session.digest()
    result = bank.call(name, **arguments)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert bank.session.digest() == before


@pytest.mark.parametrize("tool", VISIBLE, ids=lambda tool: tool.name)
def test_unknown_ids_are_not_found_and_the_message_says_where_to_look(bank, tool):
    entities = [name for name, schema in tool.parameters["properties"].items() if "x-entity" in schema]
    arguments = {name: sample(schema, bank, Random(1)) for name, schema in tool.parameters["properties"].items()}
    for name in entities[:1]:
        result = bank.call(tool.name, **{**arguments, name: "XXX-1"})
        assert result.code == ErrorCode.NOT_FOUND
        assert "'XXX-1'" in result.message
        assert any(other.name in result.message for other in VISIBLE)


# A random walk


def ids(bank: Bank, entity: str) -> list[str]:
    rows = {
        "Customer": (bank.customers, "customer_id"),
        "Account": (bank.accounts, "account_id"),
        "Payee": (bank.payees, "payee_id"),
        "Card": (bank.cards, "card_id"),
        "Transaction": (bank.entries, "transaction_id"),
        "StandingOrder": (bank.orders, "standing_order_id"),
    }[entity.removeprefix("banking.")]
    return [row[rows[1]] for row in rows[0]]


def sample(schema: dict[str, Any], bank: Bank, rng: Random) -> Any:
    """A plausible value for a parameter."""
    schema = schema.get("anyOf", [schema])[0]
    if "x-entity" in schema:
        return rng.choice(ids(bank, schema["x-entity"]))
    for choices in (schema.get("enum"), schema.get("examples")):
        if choices:
            return rng.choice(choices)
    if schema.get("format") == "date":
        return (bank.session.now.date() + timedelta(days=rng.randint(-30, 30))).isoformat()
    if schema["type"] == "number":
        return round(rng.choice((50, 500, 20_000)) * (1 - rng.random()) + 0.01, 2)
    return "0000" if "4" in schema["pattern"] else "000000"


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        bank = Bank(5)
        rich, savings = bank.rich(), bank.account(type="savings", status="active")
        calls = [
            ("transfer_funds", transfer(rich, savings, 20)),
            ("transfer_funds", transfer(rich, savings, 30)),
            ("add_payee", {"customer_id": rich["customer_id"], "name": "Engie", "iban": VALID_IBAN}),
            ("freeze_card", {"card_id": bank.card("active")}),
        ]
        assert all(bank.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(bank.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE account SET balance = balance + 1 WHERE status = 'active'", "balance_is_sum_of_entries"),
        ("UPDATE entry SET amount = amount + 1 WHERE kind = 'transfer' AND amount < 0", "money_is_conserved"),
        (
            "UPDATE standing_order SET payee_id = (SELECT id FROM payee ORDER BY customer_id LIMIT 1)",
            "payees_belong_to_the_payer",
        ),
        (
            "UPDATE dispute SET transaction_id = (SELECT id FROM entry WHERE kind = 'fee') "
            "WHERE id = (SELECT min(id) FROM dispute)",
            "only_card_payments_are_disputed",
        ),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in BANK.invariants if check.__name__ == law)
    with BANK.storage.connect(BANK.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


# The start state


def test_another_seed_gives_other_people():
    assert [row["name"] for row in Bank(4).customers] != [row["name"] for row in Bank(6).customers]


@pytest.mark.parametrize("seed", range(6))
def test_the_start_state_is_large_consistent_and_never_overdrawn(seed):
    bank = Bank(seed)
    bank.session.check_invariants()
    for rows in (bank.customers, bank.accounts, bank.payees, bank.cards, bank.orders):
        assert 20 <= len(rows) <= 200
    assert len(BANK.image(seed, start_time(seed))) < 200_000
    assert {row["status"] for row in bank.accounts} == {"active", "blocked", "closed"}
    assert {row["status"] for row in bank.cards} == {"active", "frozen", "blocked", "expired"}
    for account in bank.accounts:
        entries = [row for row in bank.entries if row["account_id"] == account["account_id"]]
        daily: dict[str, float] = {}
        for row in reversed(entries):
            daily[row["date"]] = daily.get(row["date"], 0) + row["amount"]
        running = 0.0
        for day, amount in daily.items():
            running = round(running + amount, 2)
            assert date.fromisoformat(day) < bank.session.now.date()
            assert running >= -500
            assert running >= 0 or account["type"] == "checking"


@pytest.mark.parametrize("country", sorted(LENGTHS))
def test_ibans_have_the_right_check_digits(country):
    iban = make_iban(country, "7" * (LENGTHS[country] - 4))
    assert is_iban(iban)
    assert not any(is_iban(wrong) for wrong in (other(iban), iban.lower(), iban + "7", iban[:-1], "XX" + iban[2:], ""))
