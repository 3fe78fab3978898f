"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.retail_chain.start_state import start_state
from proverl.envs.servers.retail_chain.tables import Base

server = Server(
    "retail_chain",
    "Inventory of a grocery chain: stock levels of stores and warehouses, stock transfers between them, replenishment "
    "by suppliers, shelf counts and stock corrections.",
    Base,
    start_state,
    nouns={
        "Store": "store",
        "Sku": "SKU",
        "StockTransfer": "stock transfer",
        "Replenishment": "replenishment order",
        "ShelfCount": "shelf count",
        "Adjustment": "stock adjustment",
    },
)
