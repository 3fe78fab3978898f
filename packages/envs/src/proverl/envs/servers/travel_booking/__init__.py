"""A travel agency's booking desk: passengers, flights with fares and seats, hotels with rooms, itineraries, payments.

Read `tables` (what there is), `timetable`, `fares` and `cabins` (how airlines sell and seat), `start_state` (how it
begins), `rules` (what the desk refuses), then the tools by theme: `passengers`, `flights`, `hotels`, `itineraries`,
`payment`, `changes`, `check_in`. `laws` says what always holds.
"""

from proverl.envs.servers.travel_booking import (  # noqa: F401
    changes,
    check_in,
    flights,
    hotels,
    itineraries,
    laws,
    passengers,
    payment,
)
from proverl.envs.servers.travel_booking.app import server

__all__ = ["server"]
