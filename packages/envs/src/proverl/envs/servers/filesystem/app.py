"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.filesystem.start_state import start_state
from proverl.envs.servers.filesystem.tables import Base

server = Server(
    "filesystem",
    "One user's files and directories on a shared POSIX machine: permissions, links, archives, trash and quotas.",
    Base,
    seed=start_state,
    nouns={
        "File": "file",
        "Directory": "folder",
        "Archive": "archive",
        "Path": "item",
        "TrashedItem": "trashed item",
        "User": "user",
    },
)
