"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.payments.start_state import start_state
from proverl.envs.servers.payments.tables import Base

server = Server(
    "payments",
    "A design and print studio's account at a payment provider: invoices to customers, card charges, refunds, "
    "payment links and webhooks. Amounts are in EUR.",
    Base,
    start_state,
    nouns={
        "Customer": "customer",
        "Invoice": "invoice",
        "Charge": "charge",
        "Refund": "refund",
        "PaymentLink": "payment link",
        "Webhook": "webhook",
    },
)
