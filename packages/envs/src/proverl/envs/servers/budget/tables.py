"""The tables of the budgets. Amounts are integer cents (EUR); dates are ISO text, months its first seven characters."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

BudgetId = Ref("Budget")
BudgetCategoryId = Ref("BudgetCategory")
ExpenseId = Ref("Expense")
IncomeId = Ref("Income")
SavingsGoalId = Ref("SavingsGoal")


class Base(DeclarativeBase):
    """Tables of the budget server."""


class Budget(Base):
    """A plan for one purse: incomes fill it, limits and savings goals share it out."""

    __tablename__ = "budget"
    __table_args__ = (COMPACT,)
    id_prefix = "BUD"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]


class BudgetMonth(Base):
    """A month of a budget. Once it is closed nothing in it changes, and `spent` is what its expenses add up to."""

    __tablename__ = "budget_month"
    __table_args__ = (CheckConstraint("(status = 'closed') = (spent IS NOT NULL)"), COMPACT)
    budget_id: Mapped[str] = mapped_column(ForeignKey("budget.id"), primary_key=True)
    month: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]  # open, closed
    spent: Mapped[int | None]


class BudgetCategory(Base):
    """What money is spent on. Where `overspending` is blocked, a month's expenses stay within its limit."""

    __tablename__ = "budget_category"
    __table_args__ = (CheckConstraint("overspending IN ('allowed', 'blocked')"), COMPACT)
    id_prefix = "CAT"
    id: Mapped[str] = mapped_column(primary_key=True)
    budget_id: Mapped[str] = mapped_column(ForeignKey("budget.id"), index=True)
    name: Mapped[str]
    overspending: Mapped[str]
    archived: Mapped[bool]


class CategoryLimit(Base):
    """What a category may cost in a month; without a row, nothing is assigned to it."""

    __tablename__ = "category_limit"
    __table_args__ = (CheckConstraint("amount >= 0"), COMPACT)
    category_id: Mapped[str] = mapped_column(ForeignKey("budget_category.id"), primary_key=True)
    month: Mapped[str] = mapped_column(primary_key=True)
    amount: Mapped[int]


class Expense(Base):
    """Money that was spent."""

    __tablename__ = "expense"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "EXP"
    id: Mapped[str] = mapped_column(primary_key=True)
    category_id: Mapped[str] = mapped_column(ForeignKey("budget_category.id"), index=True)
    amount: Mapped[int]
    payee: Mapped[str]
    spent_on: Mapped[str]


class Income(Base):
    """Money that came in."""

    __tablename__ = "income"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "INC"
    id: Mapped[str] = mapped_column(primary_key=True)
    budget_id: Mapped[str] = mapped_column(ForeignKey("budget.id"), index=True)
    amount: Mapped[int]
    source: Mapped[str]
    received_on: Mapped[str]


class SavingsGoal(Base):
    """Something to save for; its contributions add up to what is saved. An abandoned goal's money has gone back."""

    __tablename__ = "savings_goal"
    __table_args__ = (CheckConstraint("target > 0"), COMPACT)
    id_prefix = "GOA"
    id: Mapped[str] = mapped_column(primary_key=True)
    budget_id: Mapped[str] = mapped_column(ForeignKey("budget.id"), index=True)
    name: Mapped[str]
    target: Mapped[int]
    due_on: Mapped[str | None]
    abandoned: Mapped[bool]


class Contribution(Base):
    """Money put aside for a goal."""

    __tablename__ = "contribution"
    __table_args__ = (CheckConstraint("amount > 0"), COMPACT)
    id_prefix = "CON"
    id: Mapped[str] = mapped_column(primary_key=True)
    goal_id: Mapped[str] = mapped_column(ForeignKey("savings_goal.id"), index=True)
    amount: Mapped[int]
    put_aside_on: Mapped[str]
