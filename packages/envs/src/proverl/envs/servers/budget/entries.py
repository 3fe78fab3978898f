"""Expenses and incomes."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Rejected, Text, cents, money
from proverl.envs.servers.budget import rules, words
from proverl.envs.servers.budget.app import server
from proverl.envs.servers.budget.rules import EXPENSE
from proverl.envs.servers.budget.tables import (
    BudgetCategoryId,
    BudgetId,
    Expense,
    ExpenseId,
    Income,
    IncomeId,
)

PastDate = Annotated[IsoDate, Field(json_schema_extra={"x-when": "past"})]
_EXPENSES = (
    select(Expense.__table__)
    .where(EXPENSE.category_id == bindparam("category"), EXPENSE.spent_on >= bindparam("since"))
    .order_by(EXPENSE.spent_on.desc(), EXPENSE.id)
    .limit(bindparam("limit"))
)


class RecordedExpense(TypedDict):
    """A new expense, and the category's limit and expenses of that month with it (EUR)."""

    expense_id: ExpenseId
    month: str
    limit: float
    spent: float


@server.tool(
    phrases=[
        "record an expense of {amount} at {payee} in {budget_category_id}[, dated {date}]",
        "book {amount} paid to {payee} under {budget_category_id}[ on {date}]",
        "log {amount} for {payee} against {budget_category_id}[, spent on {date}]",
        "note in {budget_category_id} that {amount} went to {payee}[ on {date}]",
        "enter a purchase at {payee} for {amount} under {budget_category_id}[, made on {date}]",
        "add {amount} spent at {payee} to {budget_category_id}[; that was on {date}]",
    ],
    brief=[
        "record an expense",
        "log {amount} spent at {payee}",
        "record an expense of {amount} in {budget_category_id}",
    ],
)
def record_expense(
    ctx: Context,
    budget_category_id: Annotated[BudgetCategoryId, "Category that it counts towards"],
    amount: Annotated[Money, "Amount in EUR"],
    payee: Annotated[Annotated[Text, Field(max_length=60, examples=list(words.PAYEES))], "Who was paid"],
    date: Annotated[PastDate | None, "Day it was paid, in an open month; today if left out"] = None,
) -> RecordedExpense:
    """Record money that was spent, in a category."""
    row = rules.used_category(ctx, budget_category_id)
    day = rules.entry_date(ctx, row["budget_id"], date)
    limit, spent = rules.room_for(ctx, row, day[:7], cents(amount))
    made = ctx.insert(Expense, category_id=budget_category_id, amount=cents(amount), payee=payee, spent_on=day)
    return {"expense_id": made["id"], "month": day[:7], "limit": money(limit), "spent": money(spent)}


class ExpenseItem(TypedDict):
    """An expense in a list; amount in EUR."""

    expense_id: ExpenseId
    date: str
    payee: str
    amount: float


class ExpenseList(TypedDict):
    """Expenses of a category, newest first."""

    expenses: list[ExpenseItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the latest expenses in {budget_category_id}[ since {since}][, {limit} at most]",
        "show me what was spent on {budget_category_id}[ from {since} on][, up to {limit} entries]",
        "go through the expenses of {budget_category_id}[ since {since}][, {limit} of them]",
        "check which expenses are booked under {budget_category_id}[, since {since}][, the latest {limit} only]",
        "look up the[ last {limit}] things that money from {budget_category_id} was spent on[ since {since}]",
    ],
    brief=[
        "list the expenses in a category",
        "show me what was spent on one of the categories",
    ],
)
def list_expenses(
    ctx: Context,
    budget_category_id: Annotated[BudgetCategoryId, "Category to look into"],
    since: Annotated[PastDate | None, "Only those of this date or later"] = None,
    limit: Annotated[
        int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most expenses listed"
    ] = 5,
) -> ExpenseList:
    """List the expenses of a category, newest first."""
    rules.category(ctx, budget_category_id)
    return {
        "expenses": [
            {
                "expense_id": row["id"],
                "date": row["spent_on"],
                "payee": row["payee"],
                "amount": money(row["amount"]),
            }
            for row in ctx.rows(_EXPENSES, category=budget_category_id, since=since or "", limit=limit)
        ]
    }


class MovedExpense(TypedDict):
    """An expense in its new category, and that category's limit and expenses of the month (EUR)."""

    expense_id: ExpenseId
    budget_category_id: BudgetCategoryId
    limit: float
    spent: float


@server.tool(
    phrases=[
        "move {expense_id} to {budget_category_id}",
        "put {expense_id} under {budget_category_id} instead",
        "recategorize {expense_id} to {budget_category_id}",
        "change the category of {expense_id} to {budget_category_id}",
        "count {expense_id} towards {budget_category_id} from now on",
    ],
    brief=[
        "put an expense into another category",
        "move {expense_id} to another category",
        "move one of the expenses to {budget_category_id}",
    ],
)
def recategorize_expense(
    ctx: Context,
    expense_id: Annotated[ExpenseId, "Expense of an open month"],
    budget_category_id: Annotated[BudgetCategoryId, "Category of the same budget that it belongs in"],
) -> MovedExpense:
    """Move an expense of an open month to another category of its budget."""
    expense = ctx.get(Expense, expense_id, "list_expenses names those of a category")
    target = rules.used_category(ctx, budget_category_id)
    source = rules.category(ctx, expense["category_id"])
    if source["id"] == target["id"]:
        raise Rejected(f"expense {expense_id} is in category {budget_category_id} already; name another one")
    if source["budget_id"] != target["budget_id"]:
        raise Rejected(
            f"expense {expense_id} is in budget {source['budget_id']}, category {budget_category_id} in "
            f"{target['budget_id']}; use a category of {source['budget_id']}"
        )
    month = expense["spent_on"][:7]
    rules.open_month(ctx, source["budget_id"], month)
    limit, spent = rules.room_for(ctx, target, month, expense["amount"])
    ctx.update(Expense, expense_id, category_id=budget_category_id)
    return {
        "expense_id": expense_id,
        "budget_category_id": budget_category_id,
        "limit": money(limit),
        "spent": money(spent),
    }


class RecordedIncome(TypedDict):
    """A new income, and what is unassigned in its budget with it (EUR)."""

    income_id: IncomeId
    unassigned: float


@server.tool(
    phrases=[
        "record an income of {amount} from {source} in {budget_id}[, dated {date}]",
        "add {amount} from {source} to {budget_id}[, received on {date}]",
        "book {amount} that came in as {source} to {budget_id}[ on {date}]",
        "note that {budget_id} got {amount}, source {source}[, on {date}]",
        "enter {source} as an income of {amount} in {budget_id}[; it came on {date}]",
    ],
    brief=[
        "record some income",
        "record an income of {amount} in {budget_id}",
        "note that {amount} came in from {source}",
    ],
)
def record_income(
    ctx: Context,
    budget_id: Annotated[BudgetId, "Budget that the money goes to"],
    amount: Annotated[Money, "Amount in EUR"],
    source: Annotated[Annotated[Text, Field(max_length=60, examples=list(words.SOURCES))], "Where it came from"],
    date: Annotated[PastDate | None, "Day it came in, in an open month; today if left out"] = None,
) -> RecordedIncome:
    """Record money that came in. It is unassigned until a limit or a savings goal takes it."""
    rules.budget(ctx, budget_id)
    day = rules.entry_date(ctx, budget_id, date)
    row = ctx.insert(Income, budget_id=budget_id, amount=cents(amount), source=source, received_on=day)
    return {"income_id": row["id"], "unassigned": money(rules.unassigned(ctx, budget_id))}
