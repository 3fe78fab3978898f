"""The budgets: what their tools do across tools, every refusal, what each law notices."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

SERVER = load_server("budget")


class Budgets:
    """A session, and what the reading tools found in its start state."""

    def __init__(self, seed: int) -> None:
        self.session = Session([SERVER], seed)
        self.budgets, self.categories, self.goals = start_of(seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def unassigned(self, budget: str) -> float:
        rows = self.read("list_budgets")["budgets"]
        return next(row["unassigned"] for row in rows if row["budget_id"] == budget)

    def category(self, category: str, month: str = "this_month") -> dict[str, Any]:
        """A category as its budget lists it."""
        rows = self.read("list_budget_categories", budget_id=self.budget_of(category), month=month)
        return next(row for row in rows["budget_categories"] if row["budget_category_id"] == category)

    def budget_of(self, category: str) -> str:
        return next(row["budget_id"] for row in self.categories if row["id"] == category)

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()

    def last_month(self) -> str:
        """The last day of last month."""
        return (self.session.now.date().replace(day=1) - timedelta(days=1)).isoformat()


@cache
def start_of(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Budgets, categories and goals of a start state; categories know of their budget whether last month is open."""
    with Session([SERVER], seed) as session:
        budgets = session.call("list_budgets", {}).content["budgets"]
        categories, goals = [], []
        for row in budgets:
            of = {"budget_id": row["budget_id"], "free": row["unassigned"]}
            of["late"] = row["open_since"] < session.now.date().isoformat()[:7]
            for item in session.call("list_budget_categories", {"budget_id": row["budget_id"]}).content[
                "budget_categories"
            ]:
                categories.append({**of, **item, "id": item["budget_category_id"]})
            for item in session.call("list_savings_goals", {"budget_id": row["budget_id"]}).content["savings_goals"]:
                goals.append({**of, **item, "id": item["savings_goal_id"]})
    return budgets, categories, goals


def everywhere() -> Iterator[Budgets]:
    return (Budgets(seed) for seed in range(12))


def a_category(fits: Callable[[dict[str, Any]], bool] = lambda row: True) -> tuple[Budgets, dict[str, Any]]:
    """The first category in use, of any start state, that fits."""
    return next(
        (world, row) for world in everywhere() for row in world.categories if row["status"] != "archived" and fits(row)
    )


def a_goal(fits: Callable[[dict[str, Any]], bool]) -> tuple[Budgets, dict[str, Any]]:
    return next((world, row) for world in everywhere() for row in world.goals if fits(row))


def spend(category: str, amount: float = 5, **more: Any) -> dict[str, Any]:
    return {"budget_category_id": category, "amount": amount, "payee": "Lidl", **more}


# What the tools do


def test_a_category_shows_whether_it_can_be_overspent_and_keeps_its_name_to_itself():
    world = Budgets(0)
    of = {"budget_id": world.budgets[0]["budget_id"]}
    made = world.read("create_budget_category", **of, name="Chess club", overspending="blocked")
    rows = world.read("list_budget_categories", **of)["budget_categories"]
    row = next(row for row in rows if row["budget_category_id"] == made["budget_category_id"])
    assert (row["overspending"], row["limit"], row["spent"]) == ("blocked", 0.0, 0.0)
    assert "already" in world.call("create_budget_category", **of, name=" chess Club ").message


def test_an_expense_counts_in_its_category_and_month():
    world, row = a_category(lambda row: row["late"] and row["limit"] - row["spent"] > 6)
    made = world.read("record_expense", **spend(row["id"], 5.25))
    assert (made["limit"], made["spent"]) == (row["limit"], round(row["spent"] + 5.25, 2))
    assert world.category(row["id"])["spent"] == made["spent"]
    before = world.category(row["id"], "last_month")["spent"]
    world.read("set_category_limit", budget_category_id=row["id"], amount=before + 90, month="last_month")
    late = world.read("record_expense", **spend(row["id"], 7, date=world.last_month()))
    assert late["month"] == world.last_month()[:7]
    assert world.category(row["id"], "last_month")["spent"] == late["spent"] == round(before + 7, 2)
    assert world.category(row["id"])["spent"] == made["spent"]
    listed = world.read("list_expenses", budget_category_id=row["id"], limit=50)["expenses"]
    assert [item["date"] for item in listed] == sorted((item["date"] for item in listed), reverse=True)
    assert {made["expense_id"], late["expense_id"]} <= {item["expense_id"] for item in listed}
    since = world.read("list_expenses", budget_category_id=row["id"], since=world.day(0))["expenses"]
    assert [item["expense_id"] for item in since if item["amount"] == 5.25] == [made["expense_id"]]


def test_raising_a_limit_takes_unassigned_money_and_cutting_it_gives_it_back():
    world, row = a_category(lambda row: row["free"] > 50 and row["spent"] < row["limit"])
    raised = world.read("set_category_limit", budget_category_id=row["id"], amount=row["limit"] + 40)
    assert raised["unassigned"] == world.unassigned(row["budget_id"]) == round(row["free"] - 40, 2)
    assert raised["left"] == round(row["limit"] + 40 - row["spent"], 2)
    world.read("set_category_limit", budget_category_id=row["id"], amount=row["limit"])
    assert world.unassigned(row["budget_id"]) == row["free"]


def test_an_income_is_unassigned_until_a_new_category_or_a_goal_takes_it():
    world, goal = a_goal(lambda row: row["status"] == "active" and row["target"] - row["saved"] > 50)
    of = {"budget_id": goal["budget_id"]}
    got = world.read("record_income", **of, amount=300, source="Bonus")["unassigned"]
    assert got == round(goal["free"] + 300, 2)
    made = world.read("create_budget_category", **of, name="Chess club")
    assert made["limit"] == 0
    new = made["budget_category_id"]
    assert world.read("set_category_limit", budget_category_id=new, amount=120)["unassigned"] == round(got - 120, 2)
    put = world.read("contribute_to_savings_goal", savings_goal_id=goal["id"], amount=45.5)
    assert (put["saved"], put["unassigned"]) == (round(goal["saved"] + 45.5, 2), round(got - 165.5, 2))


def test_a_goal_is_reached_when_its_target_is_saved():
    world = Budgets(0)
    budget = world.budgets[0]["budget_id"]
    world.read("record_income", budget_id=budget, amount=500, source="Bonus")
    goal = world.read("create_savings_goal", budget_id=budget, name="Chess clock", target=80, due_date=world.day(9))
    of = {"savings_goal_id": goal["savings_goal_id"]}
    assert world.read("contribute_to_savings_goal", **of, amount=30)["status"] == "active"
    assert world.read("contribute_to_savings_goal", **of, amount=50)["status"] == "reached"
    listed = world.read("list_savings_goals", budget_id=budget)["savings_goals"]
    assert {**goal, "saved": 80.0, "status": "reached"} in listed


def test_a_month_closes_once_nothing_in_it_is_overspent_and_frees_what_was_not_spent():
    world, row = a_category(lambda row: row["late"])
    of = {"budget_id": row["budget_id"]}
    world.read("record_income", **of, amount=900, source="Bonus")
    new = world.read("create_budget_category", **of, name="Chess club")["budget_category_id"]
    world.read("record_expense", **spend(new, 110, date=world.last_month()))
    assert f"Chess club ({new}) by 110.00" in world.call("close_budget_month", **of).message
    for item in world.read("list_budget_categories", **of, month="last_month")["budget_categories"]:
        if item["status"] == "overspent":
            limit = {"budget_category_id": item["budget_category_id"], "amount": item["spent"], "month": "last_month"}
            world.read("set_category_limit", **limit)
    planned = world.read("list_budget_categories", **of, month="last_month")["budget_categories"]
    unspent = sum(item["limit"] - item["spent"] for item in planned)
    before = world.unassigned(row["budget_id"])
    closed = world.read("close_budget_month", **of)
    assert closed["month"] == world.last_month()[:7]
    assert closed["spent"] == pytest.approx(sum(item["spent"] for item in planned))
    assert closed["unassigned"] == world.unassigned(row["budget_id"]) == pytest.approx(before + unspent)
    late = world.call("record_expense", **spend(new, date=world.last_month()))
    assert f"{closed['month']} is closed" in late.message


def test_a_moved_expense_counts_in_its_new_category():
    world, row = a_category(lambda row: row["status"] == "overspent")
    target = world.read("create_budget_category", budget_id=row["budget_id"], name="Chess club")["budget_category_id"]
    (expense,) = world.read("list_expenses", budget_category_id=row["id"], limit=1)["expenses"]
    moved = world.read("recategorize_expense", expense_id=expense["expense_id"], budget_category_id=target)
    assert (moved["limit"], moved["spent"]) == (0, expense["amount"])
    assert world.category(row["id"])["spent"] == round(row["spent"] - expense["amount"], 2)


# Refusals

Case = Callable[[], tuple[Budgets, str, dict[str, Any], str]]
REFUSALS: list[Case] = []


def refusal(case: Case) -> Case:
    REFUSALS.append(case)
    return case


@refusal
def spend_on_an_archived_category():
    world = Budgets(0)
    old = next(row["id"] for row in world.categories if row["status"] == "archived")
    return world, "record_expense", spend(old), "is archived; use one that is not"


@refusal
def spend_in_the_future():
    world, row = a_category()
    return world, "record_expense", spend(row["id"], date=world.day(1)), f"date entries {world.day(0)} or earlier"


@refusal
def receive_in_a_closed_month():
    world = Budgets(0)
    arguments = {"budget_id": world.budgets[0]["budget_id"], "amount": 5, "source": "Bonus", "date": world.day(-70)}
    return world, "record_income", arguments, f"{world.day(-70)[:7]} is closed in budget"


@refusal
def overspend_where_it_is_blocked():
    world = Budgets(0)
    made = world.read(
        "create_budget_category", budget_id=world.budgets[0]["budget_id"], name="Chess club", overspending="blocked"
    )
    arguments = spend(made["budget_category_id"])
    return world, "record_expense", arguments, "has 0.00 left in"


@refusal
def move_an_expense_to_where_overspending_is_blocked():
    world, row = a_category(lambda row: row["status"] == "overspent")
    of = {"budget_id": row["budget_id"], "name": "Chess club", "overspending": "blocked"}
    target = world.read("create_budget_category", **of)["budget_category_id"]
    (expense,) = world.read("list_expenses", budget_category_id=row["id"], limit=1)["expenses"]
    arguments = {"expense_id": expense["expense_id"], "budget_category_id": target}
    return world, "recategorize_expense", arguments, "overspending is blocked; raise its limit"


@refusal
def cut_a_limit_below_what_is_spent():
    world, row = a_category(lambda row: 2 < row["spent"] < row["limit"])
    arguments = {"budget_category_id": row["id"], "amount": 1}
    return world, "set_category_limit", arguments, f"its limit of {row['limit']:.2f} can't be cut below that"


@refusal
def assign_more_than_there_is():
    world, row = a_category(lambda row: row["free"] == 0)
    arguments = {"budget_category_id": row["id"], "amount": row["limit"] + 30}
    return world, "set_category_limit", arguments, "30.00 more is needed, but only 0.00 is unassigned"


@refusal
def plan_a_closed_month():
    world, row = a_category(lambda row: not row["late"])
    arguments = {"budget_category_id": row["id"], "amount": 10, "month": "last_month"}
    return world, "set_category_limit", arguments, f"can change from {world.day(0)[:7]} on"


@refusal
def name_a_category_like_another():
    world, row = a_category()
    arguments = {"budget_id": row["budget_id"], "name": row["name"].upper()}
    return world, "create_budget_category", arguments, "already; use that one, or another name"


@refusal
def create_too_many_categories():
    world, row = a_category()
    for number in range(15):
        world.call("create_budget_category", budget_id=row["budget_id"], name=f"Club {number}")
    return (
        world,
        "create_budget_category",
        {"budget_id": row["budget_id"], "name": "One more"},
        "at most 15 are allowed",
    )


def moving(fits: Callable[[str, str], bool], since: int = 0) -> tuple[Budgets, str, dict[str, Any]]:
    """A fresh or an old expense of the first category and a category that fits."""
    world, row = a_category(lambda row: row["limit"] - row["spent"] > 6)
    expense = world.read("record_expense", **spend(row["id"]))["expense_id"]
    if since:
        expense = world.read("list_expenses", budget_category_id=row["id"], limit=50)["expenses"][-1]["expense_id"]
    targets = [other for other in world.categories if other["status"] != "archived"]
    target = next(other["id"] for other in targets if fits(row["id"], other["id"]))
    return world, "recategorize_expense", {"expense_id": expense, "budget_category_id": target}


@refusal
def move_an_expense_to_where_it_is():
    return *moving(lambda old, new: old == new), "already; name another one"


@refusal
def move_an_expense_to_another_budget():
    world = Budgets(0)
    return *moving(lambda old, new: world.budget_of(old) != world.budget_of(new)), "use a category of BUD-"


@refusal
def move_an_expense_of_a_closed_month():
    world = Budgets(0)
    moved = moving(lambda old, new: old != new and world.budget_of(old) == world.budget_of(new), since=60)
    return *moved, "is closed in budget"


def goal_for(world: Budgets, **more: Any) -> dict[str, Any]:
    return {"budget_id": world.budgets[0]["budget_id"], "name": "Chess clock", "target": 80, **more}


@refusal
def be_due_today():
    world = Budgets(0)
    return world, "create_savings_goal", goal_for(world, due_date=world.day(0)), "a goal is due after today"


@refusal
def save_for_the_same_twice():
    world = Budgets(0)
    world.read("create_savings_goal", **goal_for(world))
    return world, "create_savings_goal", goal_for(world, name="CHESS clock"), "a savings goal called 'CHESS clock'"


@refusal
def save_for_too_much():
    world = Budgets(0)
    for number in range(6):
        world.call("create_savings_goal", **goal_for(world, name=f"Clock {number}"))
    return world, "create_savings_goal", goal_for(world), "reach one of the 6 allowed first"


@pytest.mark.parametrize("status", ["reached", "abandoned"])
def test_nothing_is_put_aside_for_a_goal_that_is_done_with(status):
    world, goal = a_goal(lambda row: row["status"] == status)
    arguments = {"savings_goal_id": goal["id"], "amount": 1}
    refused(world, "contribute_to_savings_goal", arguments, f"is {status}; save for one that is active")


@refusal
def put_aside_more_than_the_target():
    world, goal = a_goal(lambda row: row["status"] == "active")
    lacks = round(goal["target"] - goal["saved"], 2)
    arguments = {"savings_goal_id": goal["id"], "amount": lacks + 1}
    return world, "contribute_to_savings_goal", arguments, f"lacks {lacks:.2f}; put aside that much or less"


@refusal
def put_aside_more_than_is_unassigned():
    world, goal = a_goal(lambda row: row["status"] == "active" and row["free"] == 0)
    arguments = {"savings_goal_id": goal["id"], "amount": 1}
    return world, "contribute_to_savings_goal", arguments, "only 0.00 is unassigned in budget"


@refusal
def close_a_month_that_is_not_over():
    world, row = a_category(lambda row: not row["late"])
    month = world.day(0)[:7]
    following = (date.fromisoformat(f"{month}-01") + timedelta(days=32)).replace(day=1)
    last = (following - timedelta(days=1)).isoformat()
    return world, "close_budget_month", {"budget_id": row["budget_id"]}, f"{month}, which ends on {last}"


def refused(world: Budgets, name: str, arguments: dict[str, Any], message: str) -> None:
    before = world.session.digest()
    result = world.call(name, **arguments)
    assert (result.code, message in result.message) == (ErrorCode.REJECTED, True), result
    assert world.session.digest() == before


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.__name__)
def test_a_budget_refuses_and_says_what_would_be_right(case):
    refused(*case())


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        world, row = a_category(lambda row: row["limit"] - row["spent"] > 30)
        of = {"budget_id": row["budget_id"]}
        calls = [
            ("record_expense", spend(row["id"], 7)),
            ("record_expense", spend(row["id"], 9)),
            ("record_income", {**of, "amount": 40, "source": "Bonus"}),
            ("create_budget_category", {**of, "name": "Chess club"}),
            ("create_savings_goal", {**of, "name": "Chess clock", "target": 80}),
        ]
        assert all(world.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(world.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE income SET amount = 1", "nothing_is_assigned_that_did_not_come_in"),
        ("UPDATE expense SET amount = amount + 1", "closed_months_add_up_and_are_not_overspent"),
        ("UPDATE category_limit SET amount = 0", "closed_months_add_up_and_are_not_overspent"),
        ("UPDATE category_limit SET amount = 0", "blocked_categories_stay_within_their_limits"),
        ("UPDATE savings_goal SET target = 1", "goals_hold_no_more_than_their_target"),
        ("UPDATE savings_goal SET abandoned = 1", "goals_hold_no_more_than_their_target"),
        ("UPDATE budget_month SET status = 'closed', spent = 0", "months_close_in_order"),
        ("UPDATE expense SET spent_on = '2990-01-01'", "entries_are_of_the_past"),
        ("UPDATE expense SET spent_on = '1990-01-01'", "entries_are_of_the_past"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in SERVER.invariants if check.__name__ == law)
    with SERVER.storage.connect(SERVER.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
