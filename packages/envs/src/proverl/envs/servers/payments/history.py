"""A year of business: invoices with what came of them, refunds, and payouts of what was earned."""

from datetime import date, timedelta
from itertools import accumulate

from proverl.envs import Draft
from proverl.envs.servers.payments import words
from proverl.envs.servers.payments.rules import SETTLEMENT_DAYS, fee
from proverl.envs.servers.payments.tables import Charge, Invoice, PaymentLink, Payout, Refund
from proverl.envs.state import Row

_RESERVE = 1_500_00  # cents that payouts leave on the balance
_LINK_DAYS = 14


class Billing:
    """Sends invoices and lets each of them meet its fate."""

    FATES = ("paid", "partly", "open", "overdue", "void", "uncollectible")
    WEIGHTS = (60, 7, 12, 8, 8, 5)

    def __init__(self, draft: Draft) -> None:
        self.draft, self.rng = draft, draft.rng

    def invoice(self, customer: Row, fate: str) -> None:
        """Send an invoice in the past and do what its fate says."""
        rng, term = self.rng, self.rng.choice((14, 14, 30))
        oldest = {"open": term - 1, "partly": term + 40, "overdue": term + 50, "uncollectible": 330}.get(fate, 330)
        newest = {"open": 1, "partly": 6, "overdue": term + 1, "uncollectible": term + 60}.get(fate, 6)
        issued = self._day(rng.randint(newest, oldest))
        if fate == "overdue" and (self.draft.today - issued).days <= term:
            issued -= timedelta(days=7)
        description, low, high = rng.choice(words.SERVICES)
        amount = rng.choice((rng.randint(low, high) * 100, rng.randint(low // 5, high // 5) * 500))
        row = self.draft.add(
            Invoice,
            customer_id=customer["id"],
            amount=amount,
            paid=0,
            status="open",
            description=description,
            issued_on=issued.isoformat(),
            issued_at=self._time(8, 11),
            due_on=(issued + timedelta(days=term)).isoformat(),
            voided_on=None,
            voided_at=None,
        )
        if fate == "paid":
            self._pay(customer, row, issued, term)
        elif fate == "partly":
            link = None if customer["card_brand"] else self._link(row, issued, "used")
            self._charge(row, issued, self._later(issued, 5), row["amount"] // rng.choice((2, 3, 4)), link)
        elif fate == "void":
            row.update(status="void", voided_on=self._later(issued, 9).isoformat(), voided_at=self._time(12, 17))
            self._link(row, issued, "deactivated" if rng.random() < 0.5 else "")
        elif fate == "uncollectible":
            row["status"] = "uncollectible"
        else:
            self._share(row, issued)

    def _pay(self, customer: Row, row: Row, issued: date, term: int) -> None:
        rng = self.rng
        link = self._link(row, issued, "used") if customer["card_brand"] is None or rng.random() < 0.4 else None
        day = self._later(issued, _LINK_DAYS - 2 if link else term + 5)
        if rng.random() < 0.12 and not link:
            failed = self._charge(row, issued, issued, row["amount"], None)
            failed["status"], failed["fee"], row["paid"] = "failed", 0, 0
        if rng.random() < 0.1 and not link:
            self._charge(row, issued, issued, row["amount"] // 2, None)
        charge = self._charge(row, issued, day, row["amount"] - row["paid"], link)
        row["status"] = "paid"
        if rng.random() < (0.5 if customer["blocked_on"] else 0.04):
            charge["status"] = "disputed"

    def _charge(self, row: Row, issued: date, day: date, amount: int, link: Row | None) -> Row:
        row["paid"] += amount
        return self.draft.add(
            Charge,
            invoice_id=row["id"],
            payment_link_id=link["id"] if link else None,
            amount=amount,
            fee=fee(amount),
            status="succeeded",
            charged_on=day.isoformat(),
            charged_at=self._time(12, 14) if day == issued else self._time(14, 21),
        )

    def _share(self, row: Row, issued: date) -> None:
        """Most open invoices were sent with a link; of older ones it has expired or was made anew."""
        if self.rng.random() < 0.7:
            self._link(row, issued, "active")
            if (self.draft.today - issued).days > _LINK_DAYS and self.rng.random() < 0.5:
                self._link(row, self._day(self.rng.randint(1, _LINK_DAYS - 3)), "active")

    def _link(self, row: Row, day: date, status: str) -> Row | None:
        if not status:
            return None
        return self.draft.add(
            PaymentLink,
            invoice_id=row["id"],
            status=status,
            expires_on=(day + timedelta(days=_LINK_DAYS)).isoformat(),
            created_on=day.isoformat(),
            created_at=self._time(11, 12),
        )

    def refund_some(self) -> None:
        """Some customers got money back."""
        rng = self.rng
        charges = [row for row in self.draft.rows[Charge] if row["status"] == "succeeded"]
        for charge in rng.sample(charges, len(charges) // 3):
            day = date.fromisoformat(charge["charged_on"]) + timedelta(days=rng.randint(3, 25))
            if day >= self.draft.today:
                continue
            part = rng.random() < 0.5
            self.draft.add(
                Refund,
                charge_id=charge["id"],
                amount=max(100, charge["amount"] // rng.choice((2, 3, 4, 10))) if part else charge["amount"],
                reason=rng.choice(
                    ("requested_by_customer", "requested_by_customer", "duplicate", "product_unacceptable")
                ),
                refunded_on=day.isoformat(),
                refunded_at=self._time(9, 17),
            )

    def _day(self, days: int) -> date:
        day = self.draft.today - timedelta(days=days)
        return day - timedelta(days=max(day.weekday() - 4, 0))

    def _later(self, day: date, most: int) -> date:
        """A day soon after, yesterday at the latest."""
        return min(day + timedelta(days=self.rng.randint(0, most)), self.draft.today - timedelta(days=1))

    def _time(self, first: int, last: int) -> str:
        return f"{self.rng.randint(first, last - 1):02d}:{self.rng.randrange(60):02d}"


def pay_out(draft: Draft) -> None:
    """Every four weeks, pay out what is neither in reserve nor refunded later."""
    changes: dict[str, int] = {}
    for charge in draft.rows[Charge]:
        if charge["status"] != "failed":
            settled = date.fromisoformat(charge["charged_on"]) + timedelta(days=SETTLEMENT_DAYS)
            gained = (0 if charge["status"] == "disputed" else charge["amount"]) - charge["fee"]
            changes[settled.isoformat()] = changes.get(settled.isoformat(), 0) + gained
    for refund in draft.rows.get(Refund, ()):
        changes[refund["refunded_on"]] = changes.get(refund["refunded_on"], 0) - refund["amount"]
    days = sorted(day for day in changes if day <= draft.today.isoformat())
    totals = list(accumulate(changes[day] for day in days))
    paid = 0
    for weeks in range(44, 0, -4):
        on = (draft.today - timedelta(days=draft.today.weekday() + 7 * (weeks - 1) + 7)).isoformat()
        known = [total for day, total in zip(days, totals, strict=True) if day <= on]
        free = min([*known[-1:], *totals[len(known) :]], default=0) - paid - _RESERVE
        if free > 0:
            draft.add(Payout, amount=free, paid_on=on)
            paid += free
