"""A person's budgets, planned by the month: what comes in is assigned to categories and goals before it is spent.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what is refused), then the tools by theme:
`plan` (budgets, categories, limits, closing a month), `entries` (expenses and incomes), `goals`. `laws` says what
always holds.
"""

from proverl.envs.servers.budget import entries, goals, laws, plan  # noqa: F401
from proverl.envs.servers.budget.app import server

__all__ = ["server"]
