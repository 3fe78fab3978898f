"""A stockbroker as its advisers see it: clients' portfolios, shares and funds, orders, watchlists, price alerts.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what the broker refuses), `matching` (how orders
meet the book), then the tools by theme: `stocks`, `portfolios`, `orders`, `watchlists`, `alerts`. `laws` says what
always holds.
"""

from proverl.envs.servers.trading import alerts, laws, orders, portfolios, stocks, watchlists  # noqa: F401
from proverl.envs.servers.trading.app import server

__all__ = ["server"]
