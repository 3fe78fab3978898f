"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.budget.start_state import start_state
from proverl.envs.servers.budget.tables import Base

server = Server(
    "budget",
    "Personal budgets by month: categories with limits, expenses, incomes and savings goals. Amounts are in EUR.",
    Base,
    start_state,
    nouns={
        "Budget": "budget",
        "BudgetCategory": "category",
        "Expense": "expense",
        "Income": "income",
        "SavingsGoal": "savings goal",
    },
)
