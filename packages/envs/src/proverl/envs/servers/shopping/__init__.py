"""A web shop as the customer who is signed in uses it: catalogue, cart, coupons, orders, returns, reviews, wishlist.

Read `tables` (what there is), `start_state` (how it begins), `rules` (prices, and what the shop refuses), then the
tools by theme: `catalogue`, `cart`, `account`, `orders`, `after_sale`, `wishlist`. `laws` says what always holds.
"""

from proverl.envs.servers.shopping import account, after_sale, cart, catalogue, laws, orders, wishlist  # noqa: F401
from proverl.envs.servers.shopping.app import server

__all__ = ["server"]
