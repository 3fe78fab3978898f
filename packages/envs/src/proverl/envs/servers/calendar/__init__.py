"""The calendar server: one person's calendars inside an organisation, with colleagues, rooms and recurring events.

Read it in this order: `tables` (what there is), `start_state` (what a session begins with), `rules` (what is refused),
the tools (`calendars`, `events`, `recurrence`, `people`, `rooms`), and `laws` (what always holds). Times are the user's
local time. Left out on purpose: changing a whole series other than cancelling it, and acting as somebody else.
"""

from proverl.envs.servers.calendar import calendars, events, laws, people, recurrence, rooms  # noqa: F401 - register
from proverl.envs.servers.calendar.app import server

__all__ = ["server"]
