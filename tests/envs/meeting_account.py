"""A session of the video meeting service, and what its reading tools find at the start."""

from datetime import timedelta
from functools import cache
from typing import Any

from proverl.core import Result
from proverl.envs import Session, load_server

SERVICE = load_server("video_meeting")
COLLEAGUE, OUTSIDER = "mei.chen@lumenworks.example", "grace.walker@atlasfreight.example"


@cache
def start_of(seed: int) -> list[dict[str, Any]]:
    """All meetings in full, as the reading tools show them at the start."""
    with Session([SERVICE], seed) as session:
        return [
            row | session.call("get_meeting", {"meeting_id": row["meeting_id"]}).content
            for status in ("live", "scheduled", "ended", "cancelled")
            for row in session.call("list_meetings", {"status": status, "limit": 50}).content["meetings"]
        ]


class Account:
    """A session, and what the reading tools found in its start state."""

    def __init__(self, seed: int = 1) -> None:
        self.session = Session([SERVICE], seed)
        self.meetings = start_of(seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def one(self, **wanted: Any) -> dict[str, Any]:
        return self.fitting(**wanted)[0]

    def fitting(self, **wanted: Any) -> list[dict[str, Any]]:
        return [row for row in self.meetings if wanted.items() <= row.items()]

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()

    def plan(self, topic: str = "Design critique", **changes: Any) -> str:
        """Schedule a meeting. Returns its id."""
        arguments = {"topic": topic, "start_time": f"{self.day(3)}T15:00", **changes}
        return self.read("schedule_meeting", **arguments)["meeting_id"]

    def keyed(self, meeting_id: str) -> dict[str, Any]:
        return {"meeting_id": meeting_id, **self.read("reveal_host_key", meeting_id=meeting_id)}

    def begin(self, *invited: str, **plan: Any) -> str:
        """Schedule a meeting, invite people, start it. Returns its id."""
        meeting = self.plan(**plan)
        for email in invited:
            self.read("invite_participant", meeting_id=meeting, email=email)
        self.read("start_meeting", **self.keyed(meeting))
        return meeting

    def people(self, meeting_id: str) -> dict[str, str]:
        """Where everybody is, by name."""
        found = self.read("get_meeting", meeting_id=meeting_id)["participants"]
        return {row["name"]: row["status"] for row in found}
