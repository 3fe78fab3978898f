"""A session of the issue tracker, used through its visible tools."""

from datetime import timedelta
from typing import Any

from proverl.core import ErrorCode, Result
from proverl.envs import Session, load_server

TRACKER = load_server("issue_tracker")
SELF = "USR-00001"


class Tracker:
    """A session with helpers that go through visible tools only."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([TRACKER], seed)
        self.projects = self.read("list_projects")["projects"]

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def refusal(self, name: str, /, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.code is ErrorCode.REJECTED, result
        return result.message

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()

    def project(self, **wanted: Any) -> str:
        wanted = {"archived": False, **wanted}
        return next(row["project_id"] for row in self.projects if wanted.items() <= row.items())

    def running(self) -> str:
        """A scrum project that the caller administers, with an active sprint."""
        return next(row["project_id"] for row in self.projects if self.administers(row) and self.sprints(row, "active"))

    def between(self) -> str:
        """A scrum project that the caller administers, without an active sprint."""
        return next(
            row["project_id"] for row in self.projects if self.administers(row) and not self.sprints(row, "active")
        )

    @staticmethod
    def administers(row: dict[str, Any]) -> bool:
        return row["board"] == "scrum" and row["your_role"] == "admin" and not row["archived"]

    def sprints(self, project: dict[str, Any] | str, state: str) -> list[dict[str, Any]]:
        project_id = project if isinstance(project, str) else project["project_id"]
        return self.read("list_sprints", project_id=project_id, state=state)["sprints"]

    def issues(self, **wanted: Any) -> list[str]:
        return [row["issue_id"] for row in self.read("search_issues", limit=50, **wanted)["issues"]]

    def issue(self, **wanted: Any) -> str:
        """An issue by project_id, status, sprint_id, or any field of get_issue."""
        searched = {key: value for key, value in wanted.items() if key in ("project_id", "status")}
        for issue in self.issues(**searched):
            if wanted.items() <= self.read("get_issue", issue_id=issue).items():
                return issue
        raise AssertionError(f"no issue with {wanted}")

    def new(self, project: str, type: str = "task", **more: Any) -> str:
        return self.read("create_issue", project_id=project, type=type, summary="Try it out", **more)["issue_id"]

    def started(self, project: str, type: str = "task") -> str:
        """A new issue in progress, assigned to the caller."""
        issue = self.new(project, type)
        self.read("assign_issue", issue_id=issue, user_id=SELF)
        self.read("transition_issue", issue_id=issue, status="in_progress")
        return issue

    def done(self, issue: str) -> str:
        self.read("transition_issue", issue_id=issue, status="done", resolution="wont_do")
        return issue

    def sprint(self, project: str, capacity: int = 40) -> str:
        return self.read("create_sprint", project_id=project, name="Sprint Fjord", capacity=capacity)["sprint_id"]

    def member(self, project: str, **wanted: Any) -> str:
        rows = self.read("list_project_members", project_id=project)["members"]
        return next(row["user_id"] for row in rows if row["user_id"] != SELF and wanted.items() <= row.items())
