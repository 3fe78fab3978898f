"""A city's food delivery platform as its service desk sees it: from the basket over the kitchen to the door.

Read `tables` (what there is), `start_state` and `history` (how it begins), `bill` (what an order costs), `rules` (what
the platform refuses), then the tools by theme: `catalogue`, `diners`, `baskets`, `checkout`, `food_orders`, `dispatch`,
`aftercare`. `laws` says what always holds.

An order moves on only by tools: the kitchen's and courier's steps, the hand-over with its code.
"""

from proverl.envs.servers.food_delivery import (  # noqa: F401
    aftercare,
    baskets,
    catalogue,
    checkout,
    diners,
    dispatch,
    food_orders,
    laws,
)
from proverl.envs.servers.food_delivery.app import server

__all__ = ["server"]
