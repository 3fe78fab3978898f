"""A retail bank as its own assistant sees it: customers, accounts, payees, cards, standing orders and disputes.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what the bank refuses), then the tools by theme:
`accounts`, `payments`, `standing_orders`, `cards`, `transactions`. `laws` says what always holds.
"""

from proverl.envs.servers.banking import accounts, cards, laws, payments, standing_orders, transactions  # noqa: F401
from proverl.envs.servers.banking.app import server

__all__ = ["server"]
