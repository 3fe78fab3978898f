"""The payment provider: what its tools do across each other, every refusal, its laws."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

PROVIDER = load_server("payments")
HOOK = "https://shop.example.com/hooks"


@cache
def start_of(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All invoices in full and all webhooks, as the reading tools show them at the start."""
    with Session([PROVIDER], seed) as session:

        def read(name: str, **arguments: Any) -> dict[str, Any]:
            return session.call(name, arguments).content

        invoices = [
            row | read("get_invoice", invoice_id=row["invoice_id"])
            for status in ("open", "overdue", "paid", "void", "uncollectible")
            for row in read("list_invoices", status=status, limit=50)["invoices"]
        ]
        return invoices, read("list_webhooks", limit=50)["webhooks"]


class Merchant:
    """A session, and what the reading tools found in its start state."""

    def __init__(self, seed: int = 5) -> None:
        self.session = Session([PROVIDER], seed)
        self.invoices, self.webhooks = start_of(seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def invoice(self, **wanted: Any) -> str:
        return next(row["invoice_id"] for row in self.invoices if wanted.items() <= row.items())

    def charge(self, **wanted: Any) -> dict[str, Any]:
        """A charge, by its own fields, with the invoice that it paid."""
        charges = (item | {"invoice": row} for row in self.invoices for item in row["charges"])
        return next(item for item in charges if wanted.items() <= item.items())

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()

    def code(self, invoice_id: str) -> str:
        return self.read("reveal_security_code", invoice_id=invoice_id)["security_code"]

    def payment(self, invoice_id: str, **changes: Any) -> dict[str, Any]:
        return {"invoice_id": invoice_id, "security_code": self.code(invoice_id), **changes}

    def chargeable(self, **wanted: Any) -> str:
        """An unpaid invoice whose customer's card takes a small charge, found as a caller would: by trying."""
        for row in self.invoices:
            if row["status"] in ("open", "overdue") and wanted.items() <= row.items():
                with Session([PROVIDER], self.session.seed) as trial:
                    if trial.call("create_charge", self.payment(row["invoice_id"], amount=20)).ok:
                        return row["invoice_id"]
        raise AssertionError("nobody can pay")

    def refused_with(self, message: str, **changes: Any) -> dict[str, Any]:
        """The charge of an unpaid invoice that is refused with this message, found by trying."""
        for row in self.invoices:
            if row["status"] in ("open", "overdue"):
                arguments = self.payment(row["invoice_id"], **changes)
                if message in self.call("create_charge", **arguments).message:
                    return arguments
        raise AssertionError(f"nobody is refused with {message}")

    def bill(self, **changes: Any) -> dict[str, Any]:
        usual = {"customer_id": self.customer(), "amount": 120, "due_date": self.day(14)}
        return {**usual, **changes}

    def customer(self) -> str:
        """A customer who may be billed: nothing of theirs is overdue, and a link for them is no problem."""
        late = {row["customer_id"] for row in self.invoices if row["status"] == "overdue"}
        linked = (row["customer_id"] for row in self.invoices if row["payment_link_id"])
        for customer in linked:
            with Session([PROVIDER], self.session.seed) as trial:
                bill = {"customer_id": customer, "amount": 1, "due_date": self.day(1)}
                if customer not in late and trial.call("create_invoice", bill).ok:
                    return customer
        raise AssertionError("everybody owes")


@pytest.fixture
def merchant() -> Merchant:
    return Merchant()


# What the tools do


def test_an_invoice_is_paid_in_two_charges_and_its_link_stops_working(merchant):
    invoice = merchant.chargeable(payment_link_id=None, amount_paid=0.0)
    amount = merchant.read("get_invoice", invoice_id=invoice)["amount"]
    link = merchant.read("create_payment_link", invoice_id=invoice)
    assert (link["amount"], link["expires_on"]) == (amount, merchant.day(14))
    part = merchant.read("create_charge", **merchant.payment(invoice, amount=12.5))
    assert (part["amount_left"], part["invoice_status"]) == (round(amount - 12.5, 2), "open")
    assert merchant.read("get_invoice", invoice_id=invoice)["payment_link_id"] == link["payment_link_id"]
    rest = merchant.read("create_charge", **merchant.payment(invoice))
    assert (rest["amount"], rest["invoice_status"]) == (part["amount_left"], "paid")
    after = merchant.read("get_invoice", invoice_id=invoice)
    assert (after["status"], after["amount_paid"], after["payment_link_id"]) == ("paid", amount, None)
    assert {row["charge_id"] for row in after["charges"]} == {part["charge_id"], rest["charge_id"]}


def test_refunds_in_parts_add_up_and_lower_the_balance(merchant):
    invoice = merchant.chargeable()
    charge = merchant.read("create_charge", **merchant.payment(invoice, amount=20))["charge_id"]
    first = merchant.read("create_refund", charge_id=charge, amount=5, reason="duplicate")
    second = merchant.read("create_refund", charge_id=charge, reason="requested_by_customer")
    assert (first["amount"], second["amount"]) == (5.0, 15.0)
    assert second["available_balance"] == round(first["available_balance"] - 15, 2)
    charges = merchant.read("get_invoice", invoice_id=invoice)["charges"]
    assert {"charge_id": charge, "amount": 20.0, "refunded": 20.0, "status": "succeeded"} in charges


def test_voiding_ends_the_link_and_the_invoice_is_listed_as_void(merchant):
    invoice = merchant.read("create_invoice", **merchant.bill(description="Logo design"))["invoice_id"]
    assert merchant.read("list_invoices", status="open", limit=1)["invoices"][0]["invoice_id"] == invoice
    merchant.read("create_payment_link", invoice_id=invoice, expires_on=merchant.day(3))
    merchant.read("void_invoice", invoice_id=invoice)
    after = merchant.read("get_invoice", invoice_id=invoice)
    assert (after["status"], after["payment_link_id"], after["description"]) == ("void", None, "Logo design")
    assert invoice in str(merchant.read("list_invoices", status="void", limit=50))


def test_a_webhook_is_told_of_what_happens_after_it_was_set_up(merchant):
    event = "invoice.voided"
    made = merchant.read("create_webhook", url=HOOK, event=event)["webhook_id"]

    def last_delivery() -> str | None:
        listed = merchant.read("list_webhooks", event=event, limit=50)["webhooks"]
        return next(row["last_delivery"] for row in listed if row["webhook_id"] == made)

    assert last_delivery() is None
    invoice = merchant.read("create_invoice", **merchant.bill())["invoice_id"]
    assert last_delivery() is None
    merchant.read("void_invoice", invoice_id=invoice)
    assert last_delivery() == merchant.day(0)
    merchant.read("delete_webhook", webhook_id=made)
    assert made not in str(merchant.read("list_webhooks", event=event, limit=50))


def test_invoices_are_found_by_part_of_the_name_and_wildcards_mean_themselves(merchant):
    found = merchant.read("list_invoices", customer="ATELIER", limit=50)["invoices"]
    assert {row["customer"] for row in found} == {"Atelier Lumen"}
    assert merchant.read("list_invoices", customer="%") == {"invoices": []}


# Refusals

Case = Callable[[Merchant], dict[str, Any]]


def billing(**changes: Any) -> Case:
    return lambda merchant: merchant.bill(**changes)


def to_who_is_blocked(merchant: Merchant) -> dict[str, Any]:
    bills = (merchant.bill(customer_id=row["customer_id"]) for row in merchant.invoices)
    return next(bill for bill in bills if "blocked" in merchant.call("create_invoice", **bill).message)


def to_who_owes_most(merchant: Merchant) -> dict[str, Any]:
    late = [row["customer_id"] for row in merchant.invoices if row["status"] == "overdue"]
    bills = [merchant.bill(customer_id=customer) for customer in sorted(set(late), key=late.count, reverse=True)]
    return next(bill for bill in bills if "overdue" in merchant.call("create_invoice", **bill).message)


def of_invoice(code: str = "", **wanted: Any) -> Case:
    more = {"security_code": code} if code else {}
    return lambda merchant: {"invoice_id": merchant.invoice(**wanted), **more}


def partly_paid(merchant: Merchant) -> dict[str, Any]:
    invoice = merchant.chargeable()
    merchant.read("create_charge", **merchant.payment(invoice, amount=1))
    return {"invoice_id": invoice}


def with_the_wrong_code(merchant: Merchant) -> dict[str, Any]:
    invoice = merchant.chargeable()
    code = merchant.code(invoice)
    return {"invoice_id": invoice, "security_code": code[:-1] + str((int(code[-1]) + 1) % 10)}


def paying(**changes: Any) -> Case:
    return lambda merchant: merchant.payment(merchant.chargeable(), **changes)


def refused(message: str, **changes: Any) -> Case:
    return lambda merchant: merchant.refused_with(message, **changes)


def refunding(**wanted: Any) -> Case:
    return lambda merchant: {"charge_id": merchant.charge(**wanted)["charge_id"], "reason": "duplicate"}


def after_refunding(first: float, **changes: Any) -> Case:
    """Refund a charge of 20.00 of which so much was given back."""

    def refund(merchant: Merchant) -> dict[str, Any]:
        charge = merchant.read("create_charge", **merchant.payment(merchant.chargeable(), amount=20))["charge_id"]
        merchant.read("create_refund", charge_id=charge, reason="duplicate", amount=first)
        return {"charge_id": charge, "reason": "duplicate", **changes}

    return refund


def refund_refused_with(message: str) -> Case:
    """The refund that is refused with this message, found by refunding what can be."""

    def find(merchant: Merchant) -> dict[str, Any]:
        for row in merchant.invoices:
            for charge in row["charges"]:
                arguments = {"charge_id": charge["charge_id"], "reason": "duplicate"}
                if message in merchant.call("create_refund", **arguments).message:
                    return arguments
        raise AssertionError(f"nothing is refused with {message}")

    return find


def hooking(url: str = HOOK, event: str = "charge.refunded") -> Case:
    return lambda merchant: {"url": url, "event": event}


def hooking_twice(merchant: Merchant) -> dict[str, Any]:
    return {key: merchant.webhooks[0][key] for key in ("url", "event")}


def linking(**changes: Any) -> Case:
    return lambda merchant: {"invoice_id": merchant.invoice(status="overdue"), **changes}


def linked(merchant: Merchant) -> dict[str, Any]:
    return {"invoice_id": next(row["invoice_id"] for row in merchant.invoices if row["payment_link_id"])}


def an_apps_webhook(merchant: Merchant) -> dict[str, Any]:
    return {"webhook_id": next(row["webhook_id"] for row in merchant.webhooks if "easyledger" in row["url"])}


REFUSALS = [
    ("create_invoice", to_who_is_blocked, "nothing can be billed or charged, choose another customer"),
    ("create_invoice", to_who_owes_most, "collect or void one of them before a new one is sent"),
    ("create_invoice", billing(due_date="2020-01-01"), "due_date 2020-01-01 must be from today ("),
    ("create_invoice", billing(due_date="9999-12-31"), "due_date 9999-12-31 must be from today ("),
    ("create_invoice", billing(amount=50_000.01), "is above the limit of 50000.00; split it up"),
    ("create_invoice", billing(amount=0.49), "an invoice of 0.49 is too small to be charged; at least 0.50"),
    ("void_invoice", of_invoice(status="void"), "was voided already, on"),
    ("void_invoice", of_invoice(status="paid"), "only invoices without any payment can be voided"),
    ("void_invoice", partly_paid, "create_refund gives money back"),
    ("create_charge", of_invoice("123", status="paid"), "is paid; only open and overdue invoices can be paid"),
    ("create_charge", of_invoice("123", status="void"), "is void; only open and overdue invoices can be paid"),
    ("create_charge", of_invoice("123", status="uncollectible"), "is uncollectible; only open"),
    ("create_charge", with_the_wrong_code, "ask the customer for the code printed on it"),
    ("create_charge", paying(amount=9_999), "left to pay; charge at most that"),
    ("create_charge", paying(amount=0.49), "a charge of 0.49 is too small; at least 0.50"),
    ("create_charge", refused("has no saved card"), "create_payment_link lets them pay themselves"),
    ("create_charge", refused("expired in"), "lets the customer pay with another one"),
    ("create_charge", refused("3-D Secure"), "create_payment_link lets the customer do so"),
    ("create_charge", refused("card declined"), "charge a smaller part or create a payment link"),
    ("create_refund", refunding(status="failed"), "failed, so no money moved; only charges that succeeded"),
    ("create_refund", refunding(status="disputed"), "the issuer has taken the money back already"),
    ("create_refund", after_refunding(20), "is refunded in full already; nothing is left to give back"),
    ("create_refund", after_refunding(5, amount=15.01), "15.00 of charge"),
    ("create_refund", refund_refused_with("charges from"), "on can be refunded"),
    ("create_refund", refund_refused_with("insufficient balance"), "charges reach the balance after 2 days"),
    ("create_payment_link", of_invoice(status="paid"), "is paid; only open and overdue invoices can be paid"),
    ("create_payment_link", linked, "share that one"),
    ("create_payment_link", linking(expires_on="2020-01-01"), "expires_on 2020-01-01 must be from today ("),
    ("create_payment_link", linking(expires_on="2040-01-01"), "expires_on 2040-01-01 must be from today ("),
    ("create_webhook", hooking("http://shop.example.com/hooks"), "does not start with https://"),
    ("create_webhook", hooking("https://192.168.0.8/hooks"), "names no public host that events could reach"),
    ("create_webhook", hooking("https://localhost/hooks"), "names no public host that events could reach"),
    ("create_webhook", hooking(event="invoice.created"), "invoice.created has 6 webhooks, the most allowed;"),
    ("create_webhook", hooking_twice, "events to this address already; use another event or address"),
    ("delete_webhook", an_apps_webhook, "belongs to the app EasyLedger; disconnect the app to remove it"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSALS, ids=[message for *_, message in REFUSALS])
def test_the_provider_refuses_and_says_what_would_be_right(merchant, name, arguments, message):
    given = arguments(merchant)
    before = merchant.session.digest()
    result = merchant.call(name, **given)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert merchant.session.digest() == before


# Laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        merchant = Merchant()
        invoice, other = merchant.chargeable(), merchant.invoice(status="open", amount_paid=0.0, payment_link_id=None)
        calls = [
            ("create_charge", merchant.payment(invoice, amount=5)),
            ("create_charge", merchant.payment(invoice, amount=6)),
            ("create_payment_link", {"invoice_id": other}),
            ("create_webhook", {"url": HOOK, "event": "charge.succeeded"}),
            ("create_invoice", merchant.bill()),
            ("create_invoice", merchant.bill(amount=77)),
        ]
        assert all(merchant.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(merchant.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE charge SET amount = amount + 1 WHERE status = 'succeeded'", "invoices_are_paid_by_charges"),
        ("UPDATE refund SET amount = amount * 20", "nothing_is_refunded_twice"),
        ("UPDATE payout SET amount = amount * 2", "the_balance_is_never_negative"),
        ("UPDATE payment_link SET status = 'active', expires_on = '9999-12-31'", "links_work_for_unpaid_invoices_only"),
        ("UPDATE refund SET refunded_on = '2000-01-01'", "nothing_is_charged_before_it_is_billed"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in PROVIDER.invariants if check.__name__ == law)
    with PROVIDER.storage.connect(PROVIDER.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
