"""The issue tracker: what its tools do together, every refusal, its laws, its start state."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

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


@pytest.fixture
def tracker() -> Tracker:
    return Tracker()


# What the tools do


def test_an_issue_travels_the_workflow_and_can_be_reopened(tracker):
    issue = tracker.started(tracker.running())
    tracker.read("log_work", issue_id=issue, minutes=45)
    for status in ("in_review", "in_progress", "in_review", "done", "to_do"):
        assert tracker.read("transition_issue", issue_id=issue, status=status)["status"] == status
        view = tracker.read("get_issue", issue_id=issue)
        assert (view["status"], view.get("resolution")) == (status, "fixed" if status == "done" else None)
    assert view["minutes_logged"] == 45


def test_a_new_sprint_is_filled_started_and_completed(tracker):
    project = tracker.between()
    sprint, kept, dropped = tracker.sprint(project), tracker.new(project, "story"), tracker.new(project, "bug")
    for issue in (kept, dropped):
        tracker.read("update_issue", issue_id=issue, story_points=8)
        moved = tracker.read("move_issue_to_sprint", issue_id=issue, sprint_id=sprint)
    assert moved["sprint_points"] == 16
    assert sorted(tracker.issues(sprint_id=sprint)) == sorted((kept, dropped))
    tracker.read("start_sprint", sprint_id=sprint, end_date=tracker.day(14))
    (active,) = tracker.sprints(project, "active")
    assert (active["sprint_id"], active["points"], active["end_date"]) == (sprint, 16, tracker.day(14))
    tracker.done(kept)
    completed = tracker.read("complete_sprint", sprint_id=sprint)
    assert (completed["done_issues"], completed["returned_issues"]) == (1, 1)
    assert tracker.read("get_issue", issue_id=dropped)["sprint_id"] is None
    tracker.read("transition_issue", issue_id=kept, status="to_do")
    assert tracker.read("get_issue", issue_id=kept)["sprint_id"] is None  # its sprint is history


def test_a_blocked_issue_starts_once_its_blocker_is_done(tracker):
    project = tracker.running()
    first, second = tracker.new(project), tracker.new(project)
    tracker.read("assign_issue", issue_id=second, user_id=SELF)
    tracker.read("link_issues", issue_id=first, relation="blocks", other_issue_id=second)
    assert "is blocked by" in tracker.refusal("transition_issue", issue_id=second, status="in_progress")
    tracker.done(first)
    assert tracker.call("transition_issue", issue_id=second, status="in_progress").ok


def test_links_are_seen_from_both_ends_and_name_parent_and_children(tracker):
    project = tracker.running()
    story, other = tracker.new(project, "story"), tracker.new(project)
    part = tracker.new(project, "subtask", parent_id=story)
    tracker.read("link_issues", issue_id=story, relation="blocks", other_issue_id=other)
    tracker.read("link_issues", issue_id=other, relation="relates_to", other_issue_id=part)

    def seen(issue: str) -> dict[str, str]:
        links = tracker.read("list_issue_links", issue_id=issue)["links"]
        return {row["issue_id"]: row["relation"] for row in links}

    assert seen(story) == {other: "blocks", part: "is_parent_of"}
    assert seen(other) == {story: "is_blocked_by", part: "relates_to"}
    assert seen(part) == {story: "is_child_of", other: "relates_to"}


def test_search_combines_its_conditions_and_reads_text_literally(tracker):
    project = tracker.running()
    issue = tracker.started(project)
    tracker.read("add_issue_label", issue_id=issue, label="quick-win")
    assert issue in tracker.issues(text="TRY IT", project_id=project, status="in_progress", assignee_id=SELF)
    assert issue in tracker.issues(text="quick-win")
    assert issue not in tracker.issues(text="quick")
    assert issue not in tracker.issues(text="try it", status="done")
    assert tracker.issues(text="t_y") == []
    assert len(tracker.read("search_issues")["issues"]) == 5


def test_archived_projects_are_searched_only_when_named(tracker):
    archived = tracker.project(archived=True)
    assert tracker.issues(project_id=archived)
    texts = {row["summary"] for row in tracker.read("search_issues", project_id=archived, limit=50)["issues"]}
    found = [tracker.read("get_issue", issue_id=issue)["project_id"] for issue in tracker.issues(text=max(texts))]
    assert archived not in found


def test_comments_labels_and_watchers_add_up_on_the_issue(tracker):
    project = tracker.running()
    issue = tracker.new(project)
    for body in ("First", "Zweiter 🎉"):
        tracker.read("add_issue_comment", issue_id=issue, body=body)
    comments = tracker.read("list_issue_comments", issue_id=issue)["comments"]
    assert [row["body"] for row in comments] == ["Zweiter 🎉", "First"]
    assert tracker.read("list_issue_comments", issue_id=issue, limit=1)["comments"] == comments[:1]
    tracker.read("add_issue_label", issue_id=issue, label="ux")
    watched = tracker.read("add_issue_watcher", issue_id=issue, user_id=tracker.member(project, active=True))
    view = tracker.read("get_issue", issue_id=issue)
    assert (view["labels"], view["watchers"], watched["watchers"]) == (["ux"], 1, 1)


def test_a_viewer_reads_and_comments(tracker):
    issue = tracker.issue(project_id=tracker.project(your_role="viewer"))
    assert tracker.call("add_issue_comment", issue_id=issue, body="Any news?").ok


# Refusals


def test_issues_are_created_only_below_a_fitting_parent(tracker):
    project, elsewhere = tracker.running(), tracker.between()
    story, epic = tracker.new(project, "story"), tracker.new(project, "epic")
    new = {"project_id": project, "summary": "Try"}
    assert "a subtask needs a parent_id" in tracker.refusal("create_issue", type="subtask", **new)
    assert "an epic has no parent" in tracker.refusal("create_issue", type="epic", parent_id=epic, **new)
    message = tracker.refusal("create_issue", type="task", parent_id=story, **new)
    assert message == f"{story} is of type story; the parent of a task is an epic"
    message = tracker.refusal("create_issue", type="subtask", parent_id=epic, **new)
    assert message == f"{epic} is of type epic; the parent of a subtask is a story, task or bug"
    foreign = tracker.new(elsewhere, "epic")
    assert "must be in the same project" in tracker.refusal("create_issue", type="bug", parent_id=foreign, **new)
    tracker.done(epic)
    assert "is done (wont_do) and locked" in tracker.refusal("create_issue", type="bug", parent_id=epic, **new)


def test_archived_projects_and_viewers_change_nothing(tracker):
    archived, viewed = tracker.project(archived=True), tracker.project(your_role="viewer")
    for project, message in ((archived, "is archived and read-only"), (viewed, "you are a viewer in project")):
        assert message in tracker.refusal("create_issue", project_id=project, type="bug", summary="Try")
        issue = tracker.issue(project_id=project)
        assert message in tracker.refusal("add_issue_label", issue_id=issue, label="ux")
    issue = tracker.issue(project_id=archived)
    assert "is archived" in tracker.refusal("add_issue_comment", issue_id=issue, body="Hello?")


def test_updates_are_refused_when_empty_late_locked_or_misplaced(tracker):
    project = tracker.running()
    issue, epic = tracker.new(project), tracker.new(project, "epic")
    assert "nothing to change" in tracker.refusal("update_issue", issue_id=issue)
    assert "is past" in tracker.refusal("update_issue", issue_id=issue, due_date=tracker.day(-1))
    message = tracker.refusal("update_issue", issue_id=epic, story_points=3)
    assert "only stories, tasks and bugs have story points" in message
    tracker.done(issue)
    message = tracker.refusal("update_issue", issue_id=issue, priority="high")
    assert message == f"{issue} is done (wont_do) and locked; reopen it with transition_issue to to_do first"


def test_issues_are_assigned_only_to_active_developers_of_the_project(tracker):
    project = tracker.running()
    issue = tracker.new(project)
    viewer = tracker.member(project, role="viewer")
    assert "is a viewer in project" in tracker.refusal("assign_issue", issue_id=issue, user_id=viewer)
    inside = {row["user_id"] for row in tracker.read("list_project_members", project_id=project)["members"]}
    for name, wanted in (("is deactivated", {"active": False}), ("is not a member of", {"active": True})):
        user = next(
            row["user_id"]
            for other in tracker.projects
            for row in tracker.read("list_project_members", project_id=other["project_id"])["members"]
            if wanted.items() <= row.items() and (not row["active"] or row["user_id"] not in inside)
        )
        for tool in ("assign_issue", "add_issue_watcher"):
            assert name in tracker.refusal(tool, issue_id=issue, user_id=user)
    tracker.read("assign_issue", issue_id=issue, user_id=SELF)
    assert f"is assigned to {SELF}" in tracker.refusal("assign_issue", issue_id=issue, user_id=SELF)


def test_the_workflow_guards_each_step(tracker):
    tracked = tracker.running()
    issue, story = tracker.new(tracked, "bug"), tracker.new(tracked, "story")
    part = tracker.new(tracked, "subtask", parent_id=story)

    def refused(issue: str, status: str, **more: Any) -> str:
        return tracker.refusal("transition_issue", issue_id=issue, status=status, **more)

    assert "it can only move to in_progress or done, not to in_review" in refused(issue, "in_review")
    assert "has no assignee" in refused(issue, "in_progress")
    assert "a resolution goes with done only" in refused(issue, "in_progress", resolution="fixed")
    assert refused(issue, "done") == f"{issue} is to_do; a bug is done as fixed only from in_review"
    assert "duplicates no issue yet" in refused(issue, "done", resolution="duplicate")
    assert "only bugs are done as cannot_reproduce" in refused(story, "done", resolution="cannot_reproduce")
    assert f"has open child issues ({part})" in refused(story, "done", resolution="wont_do")
    tracker.done(part)
    tracker.done(story)
    assert f"the parent {story} of {part} is done; reopen the parent first" in refused(part, "to_do")
    started = tracker.started(tracked)
    assert "log_work first" in refused(started, "in_review")


def test_an_issue_of_someone_who_left_is_not_started():
    for seed in range(20):
        tracker = Tracker(seed)
        for project in tracker.projects:
            members = tracker.read("list_project_members", project_id=project["project_id"])["members"]
            for user in [row["user_id"] for row in members if not row["active"]]:
                for issue in tracker.issues(assignee_id=user, status="to_do", project_id=project["project_id"]):
                    message = tracker.call("transition_issue", issue_id=issue, status="in_progress").message
                    if "is deactivated; assign_issue somebody else first" in message:
                        return
    raise AssertionError("no such issue")


def test_a_kanban_board_stops_at_its_limit(tracker):
    board = tracker.project(board="kanban")
    assert "only scrum projects have sprints" in tracker.refusal(
        "create_sprint", project_id=board, name="Sprint Iris", capacity=20
    )
    for _ in range(5):
        issue = tracker.new(board)
        tracker.read("assign_issue", issue_id=issue, user_id=SELF)
        result = tracker.call("transition_issue", issue_id=issue, status="in_progress")
    assert "issues in progress, its limit is" in result.message


def test_sprints_are_planned_by_admins_within_capacity(tracker):
    project, elsewhere = tracker.running(), tracker.between()
    sprint, issue = tracker.sprint(project, capacity=5), tracker.new(project)
    move = {"issue_id": issue, "sprint_id": sprint}
    mine = tracker.project(board="scrum", your_role="developer")
    message = tracker.refusal("create_sprint", project_id=mine, name="Sprint Iris", capacity=20)
    assert "only its admins create, start and complete sprints" in message
    message = tracker.refusal("create_sprint", project_id=project, name="sprint FJORD", capacity=20)
    assert f"({sprint}); choose another name" in message
    tracker.read("update_issue", issue_id=issue, story_points=8)
    assert "holds 0 of 5 story points; 8 more do not fit, at most 5 do" in tracker.refusal(
        "move_issue_to_sprint", **move
    )
    tracker.read("update_issue", issue_id=issue, story_points=5)
    tracker.read("move_issue_to_sprint", **move)
    assert "is in" in tracker.refusal("move_issue_to_sprint", **move)
    assert "more do not fit" in tracker.refusal("update_issue", issue_id=issue, story_points=8)
    foreign = tracker.new(elsewhere)
    message = tracker.refusal("move_issue_to_sprint", issue_id=foreign, sprint_id=sprint)
    assert "both must be in one project" in message
    epic = tracker.new(project, "epic")
    assert "an epic spans sprints" in tracker.refusal("move_issue_to_sprint", issue_id=epic, sprint_id=sprint)
    closed = tracker.sprints(project, "closed")[0]["sprint_id"]
    assert "is closed" in tracker.refusal("move_issue_to_sprint", issue_id=issue, sprint_id=closed)
    tracker.done(issue)
    assert "is done" in tracker.refusal("move_issue_to_sprint", **move)
    while (result := tracker.call("create_sprint", project_id=project, name=f"S {tracker.session.now}", capacity=9)).ok:
        pass
    assert "has 4 future sprints, the most there may be" in result.message


def test_sprints_start_and_end_in_order(tracker):
    running, project = tracker.running(), tracker.between()
    active = tracker.sprints(running, "active")[0]["sprint_id"]
    blocked = tracker.sprint(running)
    end = tracker.day(14)
    assert "is active; complete_sprint it first" in tracker.refusal("start_sprint", sprint_id=blocked, end_date=end)
    assert "only future sprints can be started" in tracker.refusal("start_sprint", sprint_id=active, end_date=end)
    assert "only active sprints can be completed" in tracker.refusal("complete_sprint", sprint_id=blocked)
    sprint, issue = tracker.sprint(project), tracker.new(project)
    assert "has no issues" in tracker.refusal("start_sprint", sprint_id=sprint, end_date=end)
    tracker.read("move_issue_to_sprint", issue_id=issue, sprint_id=sprint)
    assert f"no story points on {issue} in {sprint}" in tracker.refusal("start_sprint", sprint_id=sprint, end_date=end)
    tracker.read("update_issue", issue_id=issue, story_points=3)
    for day in (tracker.day(4), tracker.day(29), "9999-12-31", "0001-01-01"):
        assert "ends 5 to 28 days from today" in tracker.refusal("start_sprint", sprint_id=sprint, end_date=day)


def test_work_is_logged_within_a_day_and_the_issues_life(tracker):
    project = tracker.running()
    issue, epic = tracker.new(project), tracker.new(project, "epic")
    assert "is an epic" in tracker.refusal("log_work", issue_id=epic, minutes=30)
    assert "in the future" in tracker.refusal("log_work", issue_id=issue, minutes=30, worked_on=tracker.day(1))
    assert "was created on" in tracker.refusal("log_work", issue_id=issue, minutes=30, worked_on=tracker.day(-1))
    assert tracker.read("log_work", issue_id=issue, minutes=400)["total_minutes"] == 400
    message = tracker.refusal("log_work", issue_id=issue, minutes=201)
    assert message == f"you logged 400 minutes for {tracker.day(0)}; at most 200 more fit that day"


def test_links_make_no_circles_chains_or_copies(tracker):
    project = tracker.running()
    one, two, three = (tracker.new(project) for _ in "123")
    story = tracker.new(project, "story")
    part = tracker.new(project, "subtask", parent_id=story)

    def link(issue: str, relation: str, other: str) -> Result:
        return tracker.call("link_issues", issue_id=issue, relation=relation, other_issue_id=other)

    assert "can't be linked to itself" in link(one, "relates_to", one).message
    assert link(one, "blocks", two).ok
    assert link(two, "blocks", three).ok
    assert "is recorded already" in link(one, "blocks", two).message
    assert "a circle of blocks would never end" in link(three, "blocks", one).message
    assert "are parent and child" in link(story, "blocks", part).message
    assert link(one, "duplicates", two).ok
    assert f"a duplicate of {two} already" in link(one, "duplicates", three).message
    assert f"is itself a duplicate, of {two}; link to the original instead" in link(three, "duplicates", one).message
    assert link(one, "relates_to", three).ok
    assert "is recorded already" in link(three, "relates_to", one).message
    tracker.done(three)
    assert "only open issues block each other" in link(three, "blocks", story).message


def test_labels_and_watchers_are_added_once(tracker):
    project = tracker.running()
    issue = tracker.new(project)
    tracker.read("add_issue_watcher", issue_id=issue, user_id=SELF)
    assert "already; name another user" in tracker.refusal("add_issue_watcher", issue_id=issue, user_id=SELF)
    labels = ["ux", "backend", "frontend", "security", "i18n"]
    for label in labels:
        tracker.read("add_issue_label", issue_id=issue, label=label)
    assert "has the label 'ux' already" in tracker.refusal("add_issue_label", issue_id=issue, label="ux")
    assert "has 5 labels" in tracker.refusal("add_issue_label", issue_id=issue, label="compliance")


# Laws and start state


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        tracker = Tracker(5)
        one, two = tracker.issues(project_id=tracker.running(), status="to_do")[:2]
        calls = [
            ("add_issue_comment", {"issue_id": one, "body": "Ship it"}),
            ("add_issue_comment", {"issue_id": one, "body": "Wait"}),
            ("update_issue", {"issue_id": one, "priority": "low"}),
            ("update_issue", {"issue_id": one, "due_date": tracker.day(5)}),
            ("link_issues", {"issue_id": two, "relation": "relates_to", "other_issue_id": one}),
            ("create_issue", {"project_id": tracker.running(), "type": "bug", "summary": "Broken link"}),
        ]
        assert all(tracker.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(tracker.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE sprint SET capacity = 0", "sprints_fit_their_capacity"),
        ("UPDATE sprint SET state = 'closed' WHERE state = 'active'", "one_sprint_is_active"),
        (
            "UPDATE issue SET status = 'done', resolution = 'fixed' WHERE type = 'epic'",
            "done_parents_have_done_children",
        ),
        ("INSERT INTO link SELECT other_id, issue_id, relation FROM link LIMIT 50", "blocks_form_no_circle"),
        ("DELETE FROM link WHERE relation = 'duplicates'", "duplicates_name_their_original"),
        ("UPDATE project SET wip_limit = 1 WHERE board = 'kanban'", "boards_keep_their_limit"),
        ("DELETE FROM member WHERE role = 'developer'", "only_members_take_part"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in TRACKER.invariants if check.__name__ == law)
    with TRACKER.storage.connect(TRACKER.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


@pytest.mark.parametrize("seed", range(6))
def test_a_world_has_many_issues_in_every_state_and_nothing_from_the_future(seed):
    tracker = Tracker(seed)
    for status in ("to_do", "in_progress", "in_review", "done"):
        assert tracker.issues(status=status)
    assert 100 <= sum(len(tracker.issues(project_id=row["project_id"])) for row in tracker.projects) <= 200
    assert {row["your_role"] for row in tracker.projects} == {"admin", "developer", "viewer"}
    today = tracker.day(0)
    with TRACKER.storage.connect(TRACKER.image(seed, start_time(seed))) as connection:
        for column in ("comment.written_on", "worklog.worked_on", "issue.created_on"):
            table = column.split(".")[0]
            assert connection.execute(text(f"SELECT max({column}) FROM {table}")).scalar() < today
        early = "SELECT count(*) FROM worklog w JOIN issue i ON i.id = w.issue_id WHERE worked_on < created_on"
        assert connection.execute(text(early)).scalar() == 0
