"""A web shop as the customer who is signed in uses it: catalogue, cart, coupons, orders, returns, reviews, wishlist.

Read `tables` (what there is), `start_state` and `history` (how it begins), `prices`, `rules` (what the shop refuses),
then the tools by theme: `catalogue`, `cart`, `coupons`, `checkout`, `orders`, `after_sale`, `wishlist`, `account`.
`laws` says what always holds.
"""

from proverl.envs.servers.shopping import (  # noqa: F401
    account,
    after_sale,
    cart,
    catalogue,
    checkout,
    coupons,
    laws,
    orders,
    wishlist,
)
from proverl.envs.servers.shopping.app import server

__all__ = ["server"]
