"""Every refusal of the issue tracker, with what would be right."""

from typing import Any

import pytest
from issue_desk import SELF, Tracker

from proverl.core import Result


@pytest.fixture
def tracker() -> Tracker:
    return Tracker()


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
    part = tracker.new(project, "subtask", parent_id=story)
    message = tracker.refusal("create_issue", type="bug", parent_id=part, **new)
    assert message == f"{part} is of type subtask; the parent of a bug is an epic"
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
    assert refused(issue, "to_do") == f"{issue} is to_do already; from there it can move to in_progress or done"
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
