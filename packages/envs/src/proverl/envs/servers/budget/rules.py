"""What the budgets refuse, and what is left of them. Every refusal says what would be right."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, func, select

from proverl.envs import Context, Rejected, money
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
from proverl.envs.servers.budget.words import Month
from proverl.envs.state import Row

BUDGET, MONTH, CATEGORY = Budget.__table__.c, BudgetMonth.__table__.c, BudgetCategory.__table__.c
LIMIT, EXPENSE, INCOME = CategoryLimit.__table__.c, Expense.__table__.c, Income.__table__.c
GOAL, CONTRIBUTION = SavingsGoal.__table__.c, Contribution.__table__.c


def _sum(column: Any, joined: Any, *where: Any) -> Any:
    return (
        select(func.coalesce(func.sum(column), 0)).select_from(joined).where(*where).correlate(Budget).scalar_subquery()
    )


UNASSIGNED = (
    _sum(INCOME.amount, Income, INCOME.budget_id == BUDGET.id)
    - _sum(MONTH.spent, BudgetMonth, MONTH.budget_id == BUDGET.id)
    - _sum(
        LIMIT.amount,
        BudgetCategory.__table__.join(CategoryLimit.__table__, LIMIT.category_id == CATEGORY.id).join(
            BudgetMonth.__table__, and_(MONTH.budget_id == CATEGORY.budget_id, MONTH.month == LIMIT.month)
        ),
        CATEGORY.budget_id == BUDGET.id,
        MONTH.status == "open",
    )
    - _sum(
        CONTRIBUTION.amount,
        SavingsGoal.__table__.join(Contribution.__table__, CONTRIBUTION.goal_id == GOAL.id),
        GOAL.budget_id == BUDGET.id,
    )
).label("unassigned")
"""What came in and is neither spent in a closed month, nor assigned in an open one, nor put aside."""

_UNASSIGNED_IN = select(UNASSIGNED).where(BUDGET.id == bindparam("budget"))
_STATUS = select(MONTH.status).where(MONTH.budget_id == bindparam("budget"), MONTH.month == bindparam("month"))
_OPEN_SINCE = select(func.min(MONTH.month)).where(MONTH.budget_id == bindparam("budget"), MONTH.status == "open")
_LIMIT_OF = select(LIMIT.amount).where(LIMIT.category_id == bindparam("category"), LIMIT.month == bindparam("month"))
_SPENT_OF = select(func.coalesce(func.sum(EXPENSE.amount), 0)).where(
    EXPENSE.category_id == bindparam("category"), func.substr(EXPENSE.spent_on, 1, 7) == bindparam("month")
)


def budget(ctx: Context, budget_id: str) -> Row:
    """The budget. Raises NotFound."""
    return ctx.get(Budget, budget_id, "list_budgets names the budgets")


def category(ctx: Context, budget_category_id: str) -> Row:
    """The category. Raises NotFound."""
    return ctx.get(BudgetCategory, budget_category_id, "list_budget_categories names those of a budget")


def used_category(ctx: Context, budget_category_id: str) -> Row:
    """The category, which is in use. Raises NotFound, or Rejected when it is archived."""
    row = category(ctx, budget_category_id)
    if row["archived"]:
        raise Rejected(f"category {budget_category_id} ({row['name']}) is archived; use one that is not")
    return row


def month_of(ctx: Context, month: Month) -> str:
    """This or last month as ISO text."""
    this = ctx.today[:7]
    return this if month == "this_month" else (date.fromisoformat(f"{this}-01") - timedelta(days=1)).isoformat()[:7]


def open_month(ctx: Context, budget_id: str, month: str) -> None:
    """Raises Rejected when the month of the budget is closed, or before its first one."""
    if ctx.scalar(_STATUS, budget=budget_id, month=month) != "open":
        since = ctx.scalar(_OPEN_SINCE, budget=budget_id)
        raise Rejected(f"{month} is closed in budget {budget_id}; entries and limits can change from {since} on")


def entry_date(ctx: Context, budget_id: str, day: str | None) -> str:
    """The date of an entry, today if none is given. Raises Rejected for the future and for closed months."""
    if day is None:
        return ctx.today
    if day > ctx.today:
        raise Rejected(f"{day} is in the future; date entries {ctx.today} or earlier, once the money has moved")
    open_month(ctx, budget_id, day[:7])
    return day


def unassigned(ctx: Context, budget_id: str) -> int:
    """Cents of the budget that are neither spent nor assigned nor put aside."""
    return int(ctx.scalar(_UNASSIGNED_IN, budget=budget_id))


def affordable(ctx: Context, budget_id: str, amount: int) -> None:
    """Raises Rejected when fewer cents than `amount` are unassigned in the budget."""
    free = unassigned(ctx, budget_id)
    if amount > free:
        raise Rejected(
            f"{money(amount):.2f} more is needed, but only {money(free):.2f} is unassigned in budget {budget_id}; "
            "lower a limit with set_category_limit or record an income first"
        )


def limit_and_spent(ctx: Context, category_id: str, month: str) -> tuple[int, int]:
    """A category's limit and expenses in a month, in cents."""
    limit = ctx.scalar(_LIMIT_OF, category=category_id, month=month) or 0
    return limit, ctx.scalar(_SPENT_OF, category=category_id, month=month)


def room_for(ctx: Context, row: Row, month: str, amount: int) -> tuple[int, int]:
    """The category's limit and expenses with `amount` cents more. Raises Rejected when that is blocked overspending."""
    limit, spent = limit_and_spent(ctx, row["id"], month)
    if row["overspending"] == "blocked" and spent + amount > limit:
        raise Rejected(
            f"category {row['id']} ({row['name']}) has {money(limit - spent):.2f} left in {month}, and overspending is "
            "blocked; raise its limit with set_category_limit first"
        )
    return limit, spent + amount


def free_name(name: str, taken: Sequence[str], what: str) -> None:
    """Raises Rejected when the name is taken, upper and lower case being the same."""
    if name.strip().casefold() in [other.strip().casefold() for other in taken]:
        raise Rejected(f"there is {what} called {name!r} in this budget already; use that one, or another name")
