"""A marketplace where people sell to people, as one signed-in member sees it: listings, auctions, offers, sales.

Read `tables` (what there is), `bidding` (how a price follows from bids), `start_state` (how it begins), `rules` (what
is refused), then the tools by theme: `browsing`, `buying`, `offers`, `selling`, `keeping`.
`laws` says what always holds.
"""

from proverl.envs.servers.marketplace import browsing, buying, keeping, laws, offers, selling  # noqa: F401
from proverl.envs.servers.marketplace.app import server

__all__ = ["server"]
