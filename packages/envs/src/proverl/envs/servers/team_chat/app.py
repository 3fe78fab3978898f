"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.team_chat.start_state import start_state
from proverl.envs.servers.team_chat.tables import Base

server = Server(
    "team_chat",
    "The chat of a company, used by one of its members: channels, messages, threads, reactions and who is where.",
    Base,
    start_state,
    nouns={"Channel": "channel", "Message": "message", "ChatMember": "member"},
)
