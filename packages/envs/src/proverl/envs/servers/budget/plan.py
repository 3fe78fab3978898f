"""Budgets, their categories, limits by month, and closing a month."""

import calendar
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import insert
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Rejected, Text, cents, money
from proverl.envs.servers.budget import rules, words
from proverl.envs.servers.budget.app import server
from proverl.envs.servers.budget.rules import BUDGET, CATEGORY, EXPENSE, LIMIT, MONTH
from proverl.envs.servers.budget.tables import (
    Budget,
    BudgetCategory,
    BudgetCategoryId,
    BudgetId,
    BudgetMonth,
    CategoryLimit,
)
from proverl.envs.servers.budget.words import Month

Overspending = Literal["allowed", "blocked"]

_MOST_CATEGORIES = 15
_OPEN_SINCE = (
    select(func.min(MONTH.month))
    .where(MONTH.budget_id == BUDGET.id, MONTH.status == "open")
    .correlate(Budget)
    .scalar_subquery()
)
_BUDGETS = select(BUDGET.id, BUDGET.name, rules.UNASSIGNED, _OPEN_SINCE.label("open_since")).order_by(
    BUDGET.name, BUDGET.id
)
_SPENT = (
    select(func.coalesce(func.sum(EXPENSE.amount), 0))
    .where(EXPENSE.category_id == CATEGORY.id, func.substr(EXPENSE.spent_on, 1, 7) == bindparam("month"))
    .correlate(BudgetCategory)
    .scalar_subquery()
)
_CATEGORIES = (
    select(
        CATEGORY.id,
        CATEGORY.name,
        CATEGORY.overspending,
        CATEGORY.archived,
        func.coalesce(LIMIT.amount, 0).label("limit"),
        _SPENT.label("spent"),
    )
    .select_from(
        BudgetCategory.__table__.outerjoin(
            CategoryLimit.__table__, and_(LIMIT.category_id == CATEGORY.id, LIMIT.month == bindparam("month"))
        )
    )
    .where(CATEGORY.budget_id == bindparam("budget"))
    .order_by(CATEGORY.archived, CATEGORY.name, CATEGORY.id)
)
_NAMES = select(CATEGORY.name).where(CATEGORY.budget_id == bindparam("budget"), CATEGORY.archived.is_(False))
_ADD_LIMIT = insert(CategoryLimit).values({name: bindparam(name) for name in ("category_id", "month", "amount")})
_SET_LIMIT = _ADD_LIMIT.on_conflict_do_update(
    index_elements=["category_id", "month"], set_={"amount": _ADD_LIMIT.excluded.amount}
)
_CLOSE = (
    update(BudgetMonth)
    .where(MONTH.budget_id == bindparam("budget"), MONTH.month == bindparam("closing"))
    .values(status="closed", spent=bindparam("total"))
)
_FIRST_OPEN = select(func.min(MONTH.month)).where(MONTH.budget_id == bindparam("budget"), MONTH.status == "open")


class BudgetItem(TypedDict):
    """A budget in a list; `unassigned` in EUR, `open_since` the oldest month that is not closed."""

    budget_id: BudgetId
    name: str
    unassigned: float
    open_since: str


class BudgetList(TypedDict):
    """All budgets."""

    budgets: list[BudgetItem]


@server.tool(
    read_only=True,
    phrases=[
        "list my budgets",
        "show me all budgets and how much is unassigned in each",
        "check which budgets have a month to close",
        "tell me what is left to assign in my budgets",
        "give me an overview of my budgets",
    ],
)
def list_budgets(ctx: Context) -> BudgetList:
    """List the budgets with the money that is not assigned yet and the oldest month that is still open."""
    return {
        "budgets": [
            {
                "budget_id": row["id"],
                "name": row["name"],
                "unassigned": money(row["unassigned"]),
                "open_since": row["open_since"],
            }
            for row in ctx.rows(_BUDGETS)
        ]
    }


class BudgetCategoryItem(TypedDict):
    """A category in a month; amounts in EUR."""

    budget_category_id: BudgetCategoryId
    name: str
    limit: float
    spent: float
    overspending: Overspending
    status: Literal["within_limit", "overspent", "archived"]


class BudgetCategoryList(TypedDict):
    """The categories of a budget in a month."""

    month: str
    budget_categories: list[BudgetCategoryItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the categories of {budget_id}[ for {month}]",
        "show me how much is spent in each category of {budget_id}[ for {month}]",
        "check the limits in {budget_id}[ for {month}]",
        "tell me which categories of {budget_id} are overspent[ for {month}]",
        "go through {budget_id} category by category[ for {month}]",
    ],
    brief=[
        "list the categories of a budget",
        "show me how much is spent in each category of one of my budgets",
    ],
)
def list_budget_categories(
    ctx: Context,
    budget_id: Annotated[BudgetId, "Budget to look into"],
    month: Annotated[Month, "Month that limits and expenses are of"] = "this_month",
) -> BudgetCategoryList:
    """List the categories of a budget with the limit and the expenses of a month, archived ones last."""
    rules.budget(ctx, budget_id)
    chosen = rules.month_of(ctx, month)
    return {
        "month": chosen,
        "budget_categories": [
            {
                "budget_category_id": row["id"],
                "name": row["name"],
                "limit": money(row["limit"]),
                "spent": money(row["spent"]),
                "overspending": row["overspending"],
                "status": "archived"
                if row["archived"]
                else "overspent"
                if row["spent"] > row["limit"]
                else "within_limit",
            }
            for row in ctx.rows(_CATEGORIES, budget=budget_id, month=chosen)
        ],
    }


class CreatedCategory(TypedDict):
    """A new category; its limit is 0 until it is set."""

    budget_category_id: BudgetCategoryId
    name: str
    limit: float


@server.tool(
    phrases=[
        "create a category called {name} in {budget_id}[ with overspending {overspending}]",
        "add {name} to the categories of {budget_id}[, overspending {overspending}]",
        "set up the category {name} in {budget_id}[, overspending {overspending}]",
        "start tracking {name} as a category of {budget_id}[ with overspending {overspending}]",
        "give {budget_id} a new category named {name}[, with overspending {overspending}]",
    ],
    brief=[
        "create a new category",
        "add a category to {budget_id}",
        "create a category called {name} in one of my budgets",
    ],
)
def create_budget_category(
    ctx: Context,
    budget_id: Annotated[BudgetId, "Budget that the category will belong to"],
    name: Annotated[
        Annotated[Text, Field(max_length=40, examples=list(words.CATEGORY_NAMES))], "Name, unique in the budget"
    ],
    overspending: Annotated[Overspending, "blocked: expenses beyond the limit are refused"] = "allowed",
) -> CreatedCategory:
    """Create a category in a budget. Its limit is 0 until set_category_limit assigns money to it."""
    rules.budget(ctx, budget_id)
    names = [row["name"] for row in ctx.rows(_NAMES, budget=budget_id)]
    rules.free_name(name, names, "a category")
    if len(names) >= _MOST_CATEGORIES:
        raise Rejected(
            f"budget {budget_id} has {len(names)} categories; at most {_MOST_CATEGORIES} are allowed, use one"
        )
    row = ctx.insert(BudgetCategory, budget_id=budget_id, name=name, overspending=overspending, archived=False)
    return {"budget_category_id": row["id"], "name": name, "limit": 0.0}


class SetLimit(TypedDict):
    """A category's new limit, what is left of it, and what is still unassigned in the budget (EUR)."""

    budget_category_id: BudgetCategoryId
    limit: float
    left: float
    unassigned: float


@server.tool(
    idempotent=True,
    phrases=[
        "set the limit of {budget_category_id} to {amount}[ for {month}]",
        "change how much may be spent on {budget_category_id} to {amount}[ for {month}]",
        "budget {amount} for {budget_category_id}[ for {month}]",
        "assign {amount} in total to {budget_category_id}[ for {month}]",
        "make {amount} the limit of {budget_category_id}[ for {month}]",
    ],
    brief=[
        "change the limit of a category",
        "set a new limit for {budget_category_id}",
        "set the limit of one of the categories to {amount}",
    ],
)
def set_category_limit(
    ctx: Context,
    budget_category_id: Annotated[BudgetCategoryId, "Category to plan"],
    amount: Annotated[
        Annotated[Money, Field(examples=list(words.LIMITS))], "New limit for the whole month in EUR, not an increase"
    ],
    month: Annotated[Month, "Month that the limit is for; it must be open"] = "this_month",
) -> SetLimit:
    """Set the limit of a category for a month. A raise takes unassigned money, a cut gives it back."""
    row = rules.used_category(ctx, budget_category_id)
    chosen = rules.month_of(ctx, month)
    rules.open_month(ctx, row["budget_id"], chosen)
    new, (old, spent) = cents(amount), rules.limit_and_spent(ctx, budget_category_id, chosen)
    if new < min(old, spent):
        raise Rejected(
            f"{money(spent):.2f} of category {budget_category_id} ({row['name']}) is spent in {chosen}; "
            f"its limit of {money(old):.2f} can't be cut below that"
        )
    if new > old:
        rules.affordable(ctx, row["budget_id"], new - old)
    ctx.execute(_SET_LIMIT, category_id=budget_category_id, month=chosen, amount=new)
    return {
        "budget_category_id": budget_category_id,
        "limit": amount,
        "left": money(new - spent),
        "unassigned": money(rules.unassigned(ctx, row["budget_id"])),
    }


class ClosedMonth(TypedDict):
    """A month just closed: what was spent in it, and what is unassigned now (EUR)."""

    budget_id: BudgetId
    month: str
    spent: float
    unassigned: float


@server.tool(
    phrases=[
        "close the last month of {budget_id}",
        "finish the oldest open month in {budget_id}",
        "do the month-end closing for {budget_id}",
        "wrap up the month that is over in {budget_id}",
        "settle the past month in {budget_id}, so that unspent money is free again",
    ],
    brief=[
        "close the last month of a budget",
        "do the month-end closing for one of my budgets",
    ],
)
def close_budget_month(ctx: Context, budget_id: Annotated[BudgetId, "Budget with a month that is over"]) -> ClosedMonth:
    """Close the oldest open month of a budget, once it is over and not overspent. Unspent money is unassigned again."""
    rules.budget(ctx, budget_id)
    month = ctx.scalar(_FIRST_OPEN, budget=budget_id)
    if month == ctx.today[:7]:
        last = calendar.monthrange(int(month[:4]), int(month[5:]))[1]
        raise Rejected(
            f"the oldest open month of budget {budget_id} is {month}, which ends on {month}-{last}; "
            "it can be closed after that day"
        )
    rows = ctx.rows(_CATEGORIES, budget=budget_id, month=month)
    over = [
        f"{row['name']} ({row['id']}) by {money(row['spent'] - row['limit']):.2f}"
        for row in rows
        if row["spent"] > row["limit"]
    ]
    if over:
        raise Rejected(
            f"{month} is overspent on {', '.join(over)}; raise the limit for last_month with set_category_limit, or "
            "recategorize_expense, before closing"
        )
    spent = sum(row["spent"] for row in rows)
    ctx.execute(_CLOSE, budget=budget_id, closing=month, total=spent)
    return {
        "budget_id": budget_id,
        "month": month,
        "spent": money(spent),
        "unassigned": money(rules.unassigned(ctx, budget_id)),
    }
