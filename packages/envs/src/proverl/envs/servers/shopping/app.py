"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.shopping.start_state import start_state
from proverl.envs.servers.shopping.tables import Base

server = Server(
    "shopping",
    "A Belgian web shop, seen by the customer who is signed in: products, cart, coupons, orders, returns, reviews and "
    "wishlist. Prices are in EUR, VAT included.",
    Base,
    start_state,
    nouns={
        "Product": "product",
        "Coupon": "coupon",
        "Address": "address",
        "PaymentMethod": "payment method",
        "Order": "order",
        "OrderItem": "order item",
        "Return": "return",
        "ProductReview": "review",
    },
)
