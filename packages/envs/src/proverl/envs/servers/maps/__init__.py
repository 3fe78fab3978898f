"""Maps of four invented cities: places, addresses, opening hours, routes, transit, and one user's lists and reviews.

Read `tables` (what there is), `geometry` (distances and travel times), `opening` (weekly hours), `start_world` and
`start_state` (how a world is drawn), `rules` (what is refused), then the tools by theme: `places`, `routes`, `transit`,
`lists`, `reviews`. `laws` says what always holds. Only lists and reviews change; the world stays as it was drawn.
"""

from proverl.envs.servers.maps import laws, lists, places, reviews, routes, transit  # noqa: F401
from proverl.envs.servers.maps.app import server

__all__ = ["server"]
