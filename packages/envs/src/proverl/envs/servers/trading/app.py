"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.trading.start_state import start_state
from proverl.envs.servers.trading.tables import Base

server = Server(
    "trading",
    "A stockbroker: clients' portfolios, stock orders, quotes, order books, watchlists and price alerts. "
    "Prices and amounts are in EUR, times in Central European time.",
    Base,
    start_state,
    nouns={
        "Stock": "stock",
        "Portfolio": "portfolio",
        "StockOrder": "order",
        "Watchlist": "watchlist",
        "PriceAlert": "price alert",
    },
)
