"""The server object that the tool modules register with."""

from proverl.envs.server import Server
from proverl.envs.servers.calendar.start_state import start_state
from proverl.envs.servers.calendar.tables import Base

server = Server(
    "calendar",
    "The user's calendars: events, invitees and answers, recurrence, free/busy, meeting rooms and reminders.",
    Base,
    seed=start_state,
    nouns={
        "Calendar": "calendar",
        "Event": "event",
        "Person": "person",
        "Reminder": "reminder",
        "Room": "room",
        "Series": "series",
    },
)
