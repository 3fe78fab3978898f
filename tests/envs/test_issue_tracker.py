"""The issue tracker: what its tools do together, its laws, its start state."""

import pytest
from issue_desk import SELF, TRACKER, Tracker
from sqlalchemy import text

from proverl.envs import Context, start_time


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
