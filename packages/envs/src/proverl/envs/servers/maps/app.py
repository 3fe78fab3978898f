"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.maps.start_state import start_state
from proverl.envs.servers.maps.tables import Base

server = Server(
    "maps",
    "Maps of the cities Amsel, Kirkhaven, Highmere, Veldria: places, opening hours, routes, transit, lists, reviews.",
    Base,
    start_state,
    nouns={"Place": "place", "TransitLine": "transit line", "PlaceList": "list", "PlaceReview": "review"},
)
