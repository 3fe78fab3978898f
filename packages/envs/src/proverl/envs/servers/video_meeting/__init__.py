"""Video meetings as one user of the service runs and attends them: meetings, participants, recordings.

Read `tables` (what there is), `start_state` (how it begins), `rules` (what the service refuses), then the tools by
theme: `meetings`, `scheduling`, `live` (start and end), `participants`, `recordings`. `laws` says what always holds.
"""

from proverl.envs.servers.video_meeting import laws, live, meetings, participants, recordings, scheduling  # noqa: F401
from proverl.envs.servers.video_meeting.app import server

__all__ = ["server"]
