"""The server object that the tool modules register with."""

from proverl.envs import Server
from proverl.envs.servers.issue_tracker.start_state import start_state
from proverl.envs.servers.issue_tracker.tables import SELF, Base

server = Server(
    "issue_tracker",
    "An issue tracker for software projects: issues, workflow, sprints, links, comments and work logs. "
    f"The caller acts as user {SELF}.",
    Base,
    start_state,
    nouns={
        "Project": "project",
        "User": "user",
        "Sprint": "sprint",
        "Issue": "issue",
        "Comment": "comment",
        "Worklog": "work log",
    },
)
