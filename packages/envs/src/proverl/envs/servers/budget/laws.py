"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import select

from proverl.envs import Context
from proverl.envs.servers.budget import rules
from proverl.envs.servers.budget.app import server
from proverl.envs.servers.budget.rules import BUDGET, CATEGORY, EXPENSE, MONTH
from proverl.envs.servers.budget.tables import (
    BudgetCategory,
    BudgetMonth,
    CategoryLimit,
    Contribution,
    Expense,
    Income,
    SavingsGoal,
)


def _spent(ctx: Context) -> dict[tuple[str, str], int]:
    """Expenses by category and month."""
    spent: dict[tuple[str, str], int] = {}
    for row in ctx.rows(select(EXPENSE.category_id, EXPENSE.amount, EXPENSE.spent_on)):
        key = (row["category_id"], row["spent_on"][:7])
        spent[key] = spent.get(key, 0) + row["amount"]
    return spent


def _months(ctx: Context) -> dict[tuple[str, str], dict[str, object]]:
    return {(row["budget_id"], row["month"]): row for row in ctx.rows(select(BudgetMonth.__table__))}


@server.invariant
def nothing_is_assigned_that_did_not_come_in(ctx: Context) -> None:
    """No budget has less than nothing unassigned."""
    short = [row for row in ctx.rows(select(BUDGET.id, rules.UNASSIGNED)) if row["unassigned"] < 0]
    assert not short, f"more assigned than there is: {short}"


@server.invariant
def closed_months_add_up_and_are_not_overspent(ctx: Context) -> None:
    """In a closed month, no category is above its limit, and the expenses add up to what was noted."""
    limits = {(row["category_id"], row["month"]): row["amount"] for row in ctx.rows(select(CategoryLimit.__table__))}
    owners = {row["id"]: row["budget_id"] for row in ctx.rows(select(BudgetCategory.__table__))}
    months = _months(ctx)
    totals = dict.fromkeys(months, 0)
    for (category, month), amount in _spent(ctx).items():
        key = (owners[category], month)
        totals[key] += amount
        over = months[key]["status"] == "closed" and amount > limits.get((category, month), 0)
        assert not over, f"{category} is above its limit in {month}, which is closed"
    for key, row in months.items():
        assert row["spent"] in (None, totals[key]), f"{key} noted {row['spent']}, spent {totals[key]}"


@server.invariant
def blocked_categories_stay_within_their_limits(ctx: Context) -> None:
    """Where overspending is blocked, no month's expenses are above the limit."""
    limits = {(row["category_id"], row["month"]): row["amount"] for row in ctx.rows(select(CategoryLimit.__table__))}
    blocked = {row["id"] for row in ctx.rows(select(CATEGORY.id).where(CATEGORY.overspending == "blocked"))}
    over = [key for key, amount in _spent(ctx).items() if key[0] in blocked and amount > limits.get(key, 0)]
    assert not over, f"above a limit that blocks: {over}"


@server.invariant
def goals_hold_no_more_than_their_target(ctx: Context) -> None:
    """What is saved for a goal is at most its target, and nothing for an abandoned one."""
    saved: dict[str, int] = {}
    for row in ctx.rows(select(Contribution.__table__)):
        saved[row["goal_id"]] = saved.get(row["goal_id"], 0) + row["amount"]
    for row in ctx.rows(select(SavingsGoal.__table__)):
        most = 0 if row["abandoned"] else row["target"]
        assert saved.get(row["id"], 0) <= most, f"{row['id']} holds {saved[row['id']]}, at most {most}"


@server.invariant
def months_close_in_order(ctx: Context) -> None:
    """This month is open, months before it are closed but for the last one, and none is still to come."""
    this, last = rules.month_of(ctx, "this_month"), rules.month_of(ctx, "last_month")
    for (budget, month), row in _months(ctx).items():
        fitting = {this: ("open",), last: ("open", "closed")}.get(month, ("closed",) if month < last else ())
        assert row["status"] in fitting, f"{month} of {budget} is {row['status']}"


@server.invariant
def entries_are_of_the_past(ctx: Context) -> None:
    """No expense or income is dated after today, and every expense has its month."""
    late = select(Expense.__table__.c.id).where(EXPENSE.spent_on > ctx.today)
    early = select(Income.__table__.c.id).where(Income.__table__.c.received_on > ctx.today)
    assert not ctx.rows(late) and not ctx.rows(early), f"in the future: {ctx.rows(late)} {ctx.rows(early)}"
    months = {(row["budget_id"], row["month"]) for row in ctx.rows(select(MONTH.budget_id, MONTH.month))}
    joined = Expense.__table__.join(BudgetCategory.__table__, CATEGORY.id == EXPENSE.category_id)
    for row in ctx.rows(select(EXPENSE.id, CATEGORY.budget_id, EXPENSE.spent_on).select_from(joined)):
        assert (row["budget_id"], row["spent_on"][:7]) in months, f"{row['id']} has no month"
