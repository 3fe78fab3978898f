"""The budgets on the morning of a session: five of them, with two to three months of entries.

Every month but this one and, where nobody has closed it yet, the last one is closed. Nothing is assigned that did not
come in. Awkward on purpose: categories of one name in two budgets, overspent and archived ones, a budget with nothing
left to assign, goals that are reached, overdue or abandoned.
"""

import calendar
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.servers.budget import words
from proverl.envs.servers.budget.tables import (
    Budget,
    BudgetCategory,
    BudgetMonth,
    CategoryLimit,
    Contribution,
    Expense,
    Income,
    SavingsGoal,
)
from proverl.envs.state import Row

_BUDGETS = 5


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    months = _months(draft.today, 3)
    for number, name in enumerate(rng.sample(list(words.KINDS), _BUDGETS)):
        budget = draft.add(Budget, name=name)
        closed = months[:1] if number % 3 else months[:2]  # in most budgets, last month is still to be closed
        plan = _plan(draft, budget, months, closed)
        draft.add(CategoryLimit, category_id=_archive(draft, budget, months[0])["id"], month=months[0], amount=4_000)
        received = _incomes(draft, budget, months)
        saved = _goals(draft, budget, months)
        spent = _close(draft, budget, months, closed)
        spare = 0 if number == 1 else rng.randint(120, 900) * 100
        missing = spent + plan + saved + spare - received
        while missing <= 0 and number == 1:  # this one has nothing left to assign: some of its money is still to come
            missing += draft.rows[Income].pop()["amount"]
        _bring_forward(draft, budget, months[0], missing)
    return draft.rows


def _months(today: date, count: int) -> list[str]:
    """The last months up to this one, oldest first."""
    months = [today.isoformat()[:7]]
    while len(months) < count:
        months.insert(0, (date.fromisoformat(f"{months[0]}-01") - timedelta(days=1)).isoformat()[:7])
    return months


def _day(draft: Draft, month: str, wanted: int = 0) -> str | None:
    """A day of a month that is past, or None where the month has none yet."""
    last = calendar.monthrange(int(month[:4]), int(month[5:]))[1]
    if month == draft.today.isoformat()[:7]:
        last = draft.today.day - 1
    if last < max(wanted, 1):
        return None
    return f"{month}-{wanted or draft.rng.randint(1, last):02d}"


def _plan(draft: Draft, budget: Row, months: list[str], closed: list[str]) -> int:
    """Categories with limits and expenses of each month. Returns what is assigned in the open months."""
    rng = draft.rng
    assigned = 0
    kinds = words.KINDS[budget["name"]].categories
    flexible = [kind[0] for kind in kinds if kind[0] not in words.FIXED]
    overspent = {(rng.choice(flexible), month) for month in months if month not in closed and rng.random() < 0.8}
    for name, usual, times, payees in kinds:
        blocked = rng.random() < 0.25
        category = draft.add(
            BudgetCategory,
            budget_id=budget["id"],
            name=name,
            overspending="blocked" if blocked else "allowed",
            archived=False,
        )
        fixed = name in words.FIXED
        limit = usual * 100 if fixed else usual * rng.choice((90, 100, 100, 110, 120))
        due = rng.randint(1, 9)
        for month in months:
            draft.add(CategoryLimit, category_id=category["id"], month=month, amount=limit)
            assigned += 0 if month in closed else limit
            if fixed:
                _pay(draft, category, _day(draft, month, due), limit, payees[0])
                continue
            over = (name, month) in overspent and not blocked
            _spend(
                draft, category, month, limit * rng.randint(*((104, 125) if over else (55, 97))) // 100, times, payees
            )
    return assigned


def _spend(draft: Draft, category: Row, month: str, total: int, times: int, payees: tuple[str, ...]) -> None:
    """Expenses that add up to `total` over a whole month; this month has seen only some of them."""
    rng = draft.rng
    shares = [rng.randint(20, 60) for _ in range(times)]
    for share in shares:
        day = _day(draft, month)
        if day is None or (day[:7] == draft.today.isoformat()[:7] and rng.random() < 0.35):
            continue
        _pay(draft, category, day, total * share // sum(shares), rng.choice(payees))


def _pay(draft: Draft, category: Row, day: str | None, amount: int, payee: str) -> None:
    if day is not None:
        draft.add(Expense, category_id=category["id"], amount=amount, payee=payee, spent_on=day)


def _archive(draft: Draft, budget: Row, month: str) -> Row:
    """A category that was given up: it has one expense of a closed month."""
    name, payee = words.KINDS[budget["name"]].given_up
    category = draft.add(BudgetCategory, budget_id=budget["id"], name=name, overspending="allowed", archived=True)
    _pay(draft, category, _day(draft, month), draft.rng.randint(900, 3_900), payee)
    return category


def _incomes(draft: Draft, budget: Row, months: list[str]) -> int:
    received = 0
    for source, usual, wanted in words.KINDS[budget["name"]].incomes:
        fixed = source.startswith(("Salary", "From", "Pocket", "Child"))
        for month in months:
            day = _day(draft, month, wanted)
            if day is not None and (fixed or draft.rng.random() < 0.8):
                amount = usual * 100 if fixed else usual * draft.rng.randint(70, 130)
                draft.add(Income, budget_id=budget["id"], amount=amount, source=source, received_on=day)
                received += amount
    return received


def _goals(draft: Draft, budget: Row, months: list[str]) -> int:
    """Goals of a budget: the first is reached, the last was abandoned in some budgets. Returns what is put aside."""
    rng = draft.rng
    total = 0
    names = rng.sample(words.KINDS[budget["name"]].goals, 4)
    for number, (name, euros) in enumerate(names):
        abandoned = number == 3 and rng.random() < 0.5
        due = rng.choice((None, rng.randint(30, 400), rng.randint(30, 400), -rng.randint(3, 40)))
        goal = draft.add(
            SavingsGoal,
            budget_id=budget["id"],
            name=name,
            target=euros * 100,
            due_on=None if due is None else draft.day(due),
            abandoned=abandoned,
        )
        portions = () if abandoned else (60, 40) if number == 0 else rng.choice(((), (10,), (25, 15), (30, 20, 10)))
        for percent, month in zip(portions, months, strict=False):
            amount = euros * percent
            day = _day(draft, month) or draft.day(-1)
            draft.add(Contribution, goal_id=goal["id"], amount=amount, put_aside_on=day)
            total += amount
    return total


def _close(draft: Draft, budget: Row, months: list[str], closed: list[str]) -> int:
    """The months of a budget. Returns what was spent in the closed ones."""
    own = {row["id"] for row in draft.rows[BudgetCategory] if row["budget_id"] == budget["id"]}
    total = 0
    for month in months:
        spent = sum(
            row["amount"] for row in draft.rows[Expense] if row["category_id"] in own and row["spent_on"][:7] == month
        )
        shut = month in closed
        draft.add(
            BudgetMonth,
            budget_id=budget["id"],
            month=month,
            status="closed" if shut else "open",
            spent=spent if shut else None,
        )
        total += spent if shut else 0
    return total


def _bring_forward(draft: Draft, budget: Row, month: str, amount: int) -> None:
    """What the budget had when these entries begin; where more came in than is needed, the rest stays unassigned."""
    if amount > 0:
        source = "Balance brought forward"
        draft.add(Income, budget_id=budget["id"], amount=amount, source=source, received_on=f"{month}-01")
