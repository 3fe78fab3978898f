"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.banking.start_state import start_state
from proverl.envs.servers.banking.tables import Base

server = Server(
    "banking",
    "A retail bank: customers, accounts, transfers, payees, cards, standing orders and disputes. Amounts are in EUR.",
    Base,
    start_state,
    nouns={
        "Customer": "customer",
        "Account": "account",
        "Payee": "payee",
        "Card": "card",
        "Transaction": "transaction",
        "StandingOrder": "standing order",
        "Dispute": "dispute",
    },
)
