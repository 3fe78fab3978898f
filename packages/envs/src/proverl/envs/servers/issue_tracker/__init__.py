"""An issue tracker of a software company: projects, issues with a guarded workflow, sprints, links, comments, work.

Read `tables` (what there is), `start_state` and `backlog` (how it begins), `rules` and `workflow` (what is refused),
then the tools by theme: `projects`, `finding`, `issues`, `progress`, `sprints`, `links`, `talk`. `laws` says what
always holds.
"""

from proverl.envs.servers.issue_tracker import finding, issues, laws, links, progress, projects, sprints, talk  # noqa: F401
from proverl.envs.servers.issue_tracker.app import server

__all__ = ["server"]
