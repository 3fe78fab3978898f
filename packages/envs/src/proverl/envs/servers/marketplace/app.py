"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.marketplace.start_state import start_state
from proverl.envs.servers.marketplace.tables import Base

server = Server(
    "marketplace",
    "A marketplace where people sell used things to people, at fixed prices or by auction. The signed-in member buys "
    "and sells. Amounts are in EUR.",
    Base,
    start_state,
    nouns={"Member": "member", "Listing": "listing", "MarketplaceOffer": "offer"},
)
