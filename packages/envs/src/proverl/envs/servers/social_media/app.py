"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.social_media.start_state import start_state
from proverl.envs.servers.social_media.tables import Base

server = Server(
    "social_media",
    "A social network, seen from one user's account: profiles, follows, blocks, posts, comments and the feed.",
    Base,
    start_state,
    nouns={"Profile": "profile", "Post": "post", "PostComment": "comment"},
)
