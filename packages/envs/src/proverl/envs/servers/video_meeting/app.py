"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.video_meeting.start_state import start_state
from proverl.envs.servers.video_meeting.tables import Base

server = Server(
    "video_meeting",
    "Your account at a video meeting service: meetings that you host or attend, their participants and recordings. "
    "You are Robin Vance of lumenworks.example.",
    Base,
    start_state,
    nouns={"Meeting": "meeting", "Participant": "participant", "Recording": "recording"},
)
