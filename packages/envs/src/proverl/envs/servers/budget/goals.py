"""Savings goals: money put aside for something."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Rejected, Text, cents, money
from proverl.envs.servers.budget import rules, words
from proverl.envs.servers.budget.app import server
from proverl.envs.servers.budget.rules import CONTRIBUTION, GOAL
from proverl.envs.servers.budget.tables import BudgetId, Contribution, SavingsGoal, SavingsGoalId
from proverl.envs.state import Row

GoalStatus = Literal["active", "overdue", "reached", "abandoned"]

_MOST_GOALS = 6
_GOALS = (
    select(SavingsGoal.__table__, func.coalesce(func.sum(CONTRIBUTION.amount), 0).label("saved"))
    .select_from(SavingsGoal.__table__.outerjoin(Contribution.__table__, CONTRIBUTION.goal_id == GOAL.id))
    .where(GOAL.budget_id == bindparam("budget"))
    .group_by(GOAL.id)
    .order_by(GOAL.name, GOAL.id)
)
_SAVED = select(func.coalesce(func.sum(CONTRIBUTION.amount), 0)).where(CONTRIBUTION.goal_id == bindparam("goal"))


def _status(row: Row, saved: int, today: str) -> GoalStatus:
    if row["abandoned"]:
        return "abandoned"
    if saved == row["target"]:
        return "reached"
    return "overdue" if row["due_on"] is not None and row["due_on"] < today else "active"


class SavingsGoalItem(TypedDict):
    """A savings goal in a list; amounts in EUR."""

    savings_goal_id: SavingsGoalId
    name: str
    target: float
    saved: float
    status: GoalStatus


class SavingsGoalList(TypedDict):
    """The savings goals of a budget."""

    savings_goals: list[SavingsGoalItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the savings goals of {budget_id}",
        "show me what {budget_id} is saving for",
        "check how far along the savings goals in {budget_id} are",
        "look up the savings goals set in {budget_id}",
        "tell me how much is saved for each goal in {budget_id}",
    ],
    brief=[
        "list the savings goals of a budget",
        "check how far along the savings goals in one of my budgets are",
    ],
)
def list_savings_goals(ctx: Context, budget_id: Annotated[BudgetId, "Budget that saves for them"]) -> SavingsGoalList:
    """List the savings goals of a budget with their target and what is saved, reached and abandoned ones included."""
    rules.budget(ctx, budget_id)
    return {
        "savings_goals": [
            {
                "savings_goal_id": row["id"],
                "name": row["name"],
                "target": money(row["target"]),
                "saved": money(row["saved"]),
                "status": _status(row, row["saved"], ctx.today),
            }
            for row in ctx.rows(_GOALS, budget=budget_id)
        ]
    }


class CreatedGoal(TypedDict):
    """A new savings goal (EUR)."""

    savings_goal_id: SavingsGoalId
    name: str
    target: float


@server.tool(
    phrases=[
        "create a savings goal of {target} called {name} in {budget_id}[, due {due_date}]",
        "start saving {target} for {name} in {budget_id}[ by {due_date}]",
        "set up {name} as a goal of {target} in {budget_id}[, to be reached by {due_date}]",
        "add a goal to {budget_id}: {name}, {target}[, by {due_date}]",
        "let {budget_id} have {name} as a new savings goal with {target} as its target[, due on {due_date}]",
    ],
    brief=[
        "set up a new savings goal",
        "start saving {target} for {name}",
        "create a savings goal called {name} in {budget_id}",
    ],
)
def create_savings_goal(
    ctx: Context,
    budget_id: Annotated[BudgetId, "Budget that will save for it"],
    name: Annotated[Annotated[Text, Field(max_length=40, examples=list(words.GOAL_NAMES))], "What it is for"],
    target: Annotated[Annotated[Money, Field(examples=list(words.TARGETS))], "Amount to save in EUR"],
    due_date: Annotated[IsoDate | None, "Day by which it should be reached"] = None,
) -> CreatedGoal:
    """Create a savings goal in a budget, with nothing saved yet."""
    rules.budget(ctx, budget_id)
    if due_date is not None and due_date <= ctx.today:
        raise Rejected(f"{due_date} is not in the future; a goal is due after today ({ctx.today})")
    rows = ctx.rows(_GOALS, budget=budget_id)
    pursued = [row for row in rows if _status(row, row["saved"], ctx.today) in ("active", "overdue")]
    rules.free_name(name, [row["name"] for row in pursued], "a savings goal")
    if len(pursued) >= _MOST_GOALS:
        raise Rejected(
            f"budget {budget_id} saves for {len(pursued)} goals; reach one of the {_MOST_GOALS} allowed first"
        )
    row = ctx.insert(
        SavingsGoal, budget_id=budget_id, name=name, target=cents(target), due_on=due_date, abandoned=False
    )
    return {"savings_goal_id": row["id"], "name": name, "target": target}


class ContributedMoney(TypedDict):
    """A goal after a contribution, and what is unassigned in its budget now (EUR)."""

    savings_goal_id: SavingsGoalId
    saved: float
    status: GoalStatus
    unassigned: float


@server.tool(
    phrases=[
        "put {amount} aside for {savings_goal_id}",
        "contribute {amount} to {savings_goal_id}",
        "save {amount} towards {savings_goal_id}",
        "move {amount} of unassigned money into {savings_goal_id}",
        "add {amount} to what is saved for {savings_goal_id}",
    ],
    brief=[
        "put some money aside for a savings goal",
        "contribute some money to {savings_goal_id}",
        "put {amount} aside for one of the savings goals",
    ],
)
def contribute_to_savings_goal(
    ctx: Context,
    savings_goal_id: Annotated[SavingsGoalId, "Goal that is not reached yet"],
    amount: Annotated[Money, "Amount in EUR, taken from the budget's unassigned money"],
) -> ContributedMoney:
    """Put unassigned money of a budget aside for one of its savings goals, up to the goal's target."""
    goal = ctx.get(SavingsGoal, savings_goal_id, "list_savings_goals names those of a budget")
    saved, added = ctx.scalar(_SAVED, goal=savings_goal_id), cents(amount)
    status = _status(goal, saved, ctx.today)
    if status in ("reached", "abandoned"):
        raise Rejected(f"savings goal {savings_goal_id} ({goal['name']}) is {status}; save for one that is active")
    if saved + added > goal["target"]:
        raise Rejected(
            f"savings goal {savings_goal_id} ({goal['name']}) lacks {money(goal['target'] - saved):.2f}; "
            "put aside that much or less"
        )
    rules.affordable(ctx, goal["budget_id"], added)
    ctx.insert(Contribution, goal_id=savings_goal_id, amount=added, put_aside_on=ctx.today)
    return {
        "savings_goal_id": savings_goal_id,
        "saved": money(saved + added),
        "status": _status(goal, saved + added, ctx.today),
        "unassigned": money(rules.unassigned(ctx, goal["budget_id"])),
    }
