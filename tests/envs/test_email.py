"""The mailbox: what its tools do together, every refusal, its laws."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

EMAIL = load_server("email")
Arguments = dict[str, Any]
Fits = Callable[[dict[str, Any]], bool]


class Mailbox:
    """A session, and what callers find in it through the visible tools."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([EMAIL], seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def do(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def emails(self, **wanted: Any) -> list[dict[str, Any]]:
        """Emails in full, newest first."""
        found = self.do("search_emails", limit=50, **wanted)["emails"]
        return [self.do("get_email", email_id=row["email_id"]) for row in found]

    def email(self, fits: Fits, **wanted: Any) -> dict[str, Any]:
        return next(row for row in self.emails(**wanted) if fits(row))

    def contacts(self, kind: str = "person") -> list[str]:
        """Ids of contacts that can be written to (or are services)."""
        found = self.do("find_email_contacts", kind=kind, limit=50)["email_contacts"]
        ids = [row["email_contact_id"] for row in found]
        arguments = {"subject": "Hello", "body": "Hi"}
        with Session([EMAIL], self.session.seed) as probe:
            fine = [one for one in ids if probe.call("create_draft", {"email_contact_id": one, **arguments}).ok]
        return fine if kind != "service" else ids

    def bounced(self) -> str:
        found = self.do("find_email_contacts", kind="person", limit=50)["email_contacts"]
        return next(row["email_contact_id"] for row in found if row["email_contact_id"] not in self.contacts())

    def draft(self, **changes: Any) -> str:
        new = {"email_contact_id": self.contacts()[0], "subject": "Lunch", "body": "At noon?", **changes}
        return self.do("create_draft", **new)["draft_id"]

    def old_draft(self, fits: Fits, status: str = "open") -> str:
        return next(row["draft_id"] for row in self.do("list_drafts", status=status, limit=50)["drafts"] if fits(row))

    def answerable(self) -> dict[str, Any]:
        with Session([EMAIL], self.session.seed) as probe:
            ask = {"body": "Yes"}
            return self.email(
                lambda row: probe.call("draft_email_reply", {**ask, "email_id": row["email_id"]}).ok, folder="inbox"
            )

    def labels(self, kind: str, status: str = "in_use") -> list[str]:
        found = self.do("list_email_labels", kind=kind, limit=50)["email_labels"]
        return [row["email_label_id"] for row in found if row["status"] == status]

    def file(self, fits: Fits) -> str:
        """An attachment of an email that fits."""
        for folder in ("inbox", "archive", "spam", "trash"):
            for row in self.emails(folder=folder):
                if "attachments" in row and fits(row):
                    return row["attachments"][0]["attachment_id"]
        raise AssertionError("no such attachment")

    def later(self, **delta: int) -> str:
        return (self.session.now + timedelta(**delta)).isoformat(timespec="minutes")

    # Arguments that are refused

    def new_draft(self) -> Arguments:
        return {"draft_id": self.draft()}

    def sent_draft(self) -> Arguments:
        draft = self.draft()
        self.do("send_draft", draft_id=draft)
        return {"draft_id": draft}

    def due_draft(self) -> Arguments:
        draft = self.draft()
        self.do("schedule_draft", draft_id=draft, send_at=self.later(minutes=30))
        self.session.now += timedelta(minutes=40)
        return {"draft_id": draft}

    def addressed_to_nobody(self) -> Arguments:
        return {"draft_id": self.old_draft(lambda row: not row["recipients"])}

    def empty_draft(self) -> Arguments:
        draft = self.old_draft(lambda row: row["subject"] == "Photos")
        self.do("add_draft_recipient", draft_id=draft, email_contact_id=self.contacts()[0], role="to")
        return {"draft_id": draft}

    def answered(self) -> Arguments:
        arguments = {"email_id": self.answerable()["email_id"], "body": "Yes"}
        reply = self.do("draft_email_reply", **arguments)["draft_id"]
        self.do("schedule_draft", draft_id=reply, send_at=self.later(days=1))
        return arguments

    def rescued_spam(self) -> Arguments:
        email = self.email(lambda row: "attachments" in row, folder="spam")["email_id"]
        self.do("move_email", email_id=email, folder="inbox")
        return {"email_id": email, "email_contact_id": self.contacts()[0]}

    def same_recipient(self) -> Arguments:
        to = self.contacts()[0]
        return {"draft_id": self.draft(email_contact_id=to), "email_contact_id": to, "role": "cc"}

    def eleventh_recipient(self) -> Arguments:
        full = self.old_draft(lambda row: len(row["recipients"]) == 10)
        calls = [{"draft_id": full, "email_contact_id": one, "role": "cc"} for one in self.contacts()]
        return next(call for call in calls if "10 recipients" in self.call("add_draft_recipient", **call).message)

    def same_file(self) -> Arguments:
        arguments = {"draft_id": self.draft(), "attachment_id": self.file(free)}
        self.do("attach_to_draft", **arguments)
        return arguments

    def one_file_too_many(self) -> Arguments:
        draft = self.draft()
        rows = [row for row in [*self.emails(), *self.emails(folder="trash")] if "attachments" in row and free(row)]
        files = {file["attachment_id"]: file["size_kb"] for row in rows for file in row["attachments"]}
        for file in sorted(files, key=lambda file: -files[file]):
            arguments = {"draft_id": draft, "attachment_id": file}
            if not self.call("attach_to_draft", **arguments).ok:
                return arguments
        raise AssertionError("too few files")

    def label_there(self) -> Arguments:
        row = self.email(lambda row: "labels" in row, folder="inbox")
        return {"email_id": row["email_id"], "email_label_id": row["labels"][0]["email_label_id"]}

    def retired_label(self) -> Arguments:
        return {**self.label_there(), "email_label_id": self.labels("topic", "retired")[0]}

    def fourth_topic(self) -> Arguments:
        email = next(row["email_id"] for row in self.emails(folder="inbox") if "labels" not in row)
        *three, fourth = self.labels("topic")[:4]
        for label in three:
            self.do("apply_email_label", email_id=email, email_label_id=label)
        return {"email_id": email, "email_label_id": fourth}


@pytest.fixture
def box() -> Mailbox:
    return Mailbox()


def mine(row: dict[str, Any]) -> bool:
    return row["sender"] == "me"


def restricted(row: dict[str, Any]) -> bool:
    return "do_not_forward" in row.get("flags", ())


def free(row: dict[str, Any]) -> bool:
    return not restricted(row) and not row["attachments"][0]["filename"].endswith(("exe", "label.zip"))


# What the tools do


def test_a_sent_draft_becomes_an_email_with_its_recipients_and_files(box):
    first, second = box.contacts()[:2]
    file = box.file(free)
    draft = box.draft(email_contact_id=first)
    box.do("add_draft_recipient", draft_id=draft, email_contact_id=second, role="bcc")
    box.do("attach_to_draft", draft_id=draft, attachment_id=file)
    sent = box.do("send_draft", draft_id=draft)
    email = box.do("get_email", email_id=sent["email_id"])
    assert (email["sender"], email["folder"], email["body"]) == ("me", "sent", "At noon?")
    assert {row["email_contact_id"]: row["role"] for row in email["recipients"]} == {first: "to", second: "bcc"}
    assert [row["attachment_id"] for row in email["attachments"]] == [file]
    assert box.do("search_emails", folder="sent", limit=1)["emails"][0]["email_id"] == sent["email_id"]
    assert draft not in str(box.do("list_drafts", limit=50))


def test_a_reply_joins_the_thread_and_a_new_email_begins_one(box):
    email = box.answerable()
    draft = box.do("draft_email_reply", email_id=email["email_id"], body="Yes, gladly.")
    assert draft["subject"] == "Re: " + email["subject"].removeprefix("Re: ")
    sent = box.do("send_draft", draft_id=draft["draft_id"])
    thread = box.do("get_email_thread", email_thread_id=email["email_thread_id"])
    assert thread["emails"][-1]["email_id"] == sent["email_id"]
    assert thread["emails"][-1]["sender"] == "me"
    other = box.do("send_draft", draft_id=box.draft())
    assert len(box.do("get_email_thread", email_thread_id=other["email_thread_id"])["emails"]) == 1


def test_a_reply_to_the_whole_group_copies_those_who_got_the_email(box):
    email = box.email(lambda row: len(row.get("recipients", ())) > 1 and row["sender"] == "me", folder="sent")
    alone = box.do("draft_email_reply", email_id=email["email_id"], body="One more thing")
    box.do("send_draft", draft_id=alone["draft_id"])
    everyone = box.do("draft_email_reply", email_id=email["email_id"], body="And another", audience="whole_group")
    assert (alone["recipients"], everyone["recipients"]) == (1, len(email["recipients"]))


def test_an_email_to_an_address_that_bounced_since_is_not_followed_up():
    for seed in range(40):
        box = Mailbox(seed)
        for email in box.emails(folder="sent", email_contact_id=box.bounced()):
            answer = box.call("draft_email_reply", email_id=email["email_id"], body="Any news?", audience="whole_group")
            assert answer.code is ErrorCode.REJECTED and "has bounced since" in answer.message
            return
    raise AssertionError("no email went to an address that bounced later")


def test_a_forward_carries_text_and_files(box):
    email = box.email(lambda row: "attachments" in row and free(row), folder="inbox")
    to = box.contacts()[0]
    draft = box.do("draft_email_forward", email_id=email["email_id"], email_contact_id=to, note="See below.")
    sent = box.do("send_draft", draft_id=draft["draft_id"])
    forwarded = box.do("get_email", email_id=sent["email_id"])
    assert forwarded["body"].startswith("See below.") and forwarded["body"].endswith(email["body"])
    assert forwarded["attachments"] == email["attachments"]
    assert forwarded["subject"] == f"Fwd: {email['subject']}"


def test_a_scheduled_draft_can_be_held_back_and_sent_at_once(box):
    draft = box.draft()
    at = box.later(days=2)
    assert box.do("schedule_draft", draft_id=draft, send_at=at)["status"] == "scheduled"
    (listed,) = [
        row for row in box.do("list_drafts", status="scheduled", limit=50)["drafts"] if row["draft_id"] == draft
    ]
    assert listed["send_at"] == at
    assert box.do("unschedule_draft", draft_id=draft)["status"] == "open"
    assert box.do("send_draft", draft_id=draft)["subject"] == "Lunch"


def test_a_new_progress_replaces_the_old_one_and_says_so_while_topics_add_up(box):
    email = next(row["email_id"] for row in box.emails(folder="inbox") if "labels" not in row)
    todo, done = box.labels("progress")[:2]
    topics = box.labels("topic")[:2]
    for label in (topics[0], todo, topics[1]):
        assert "replaced_label_id" not in box.do("apply_email_label", email_id=email, email_label_id=label)
    assert box.do("apply_email_label", email_id=email, email_label_id=done)["replaced_label_id"] == todo
    carried = [row["email_label_id"] for row in box.do("get_email", email_id=email)["labels"]]
    assert sorted(carried) == sorted([*topics, done])
    assert email in str(box.do("search_emails", email_label_id=done, limit=50))
    assert email not in str(box.do("search_emails", email_label_id=todo, limit=50))
    assert box.do("apply_email_label", email_id=email, email_label_id=todo)["replaced_label_id"] == done


def test_searches_find_names_and_text_without_accents_or_wildcards(box):
    for row in box.emails(query="INVOICE"):
        assert "invoice" in f"{row['subject']} {row['body']}".casefold()
    assert all("%" in row["body"] + row["subject"] for row in box.emails(query="%"))
    people = box.do("find_email_contacts", limit=50)["email_contacts"]
    assert people[0] in box.do("find_email_contacts", name=people[0]["name"].upper())["email_contacts"]
    assert len({row["name"] for row in people}) == len({row["address"] for row in people}) - 1  # namesakes
    assert box.do("search_emails", query="_" * 20) == {"emails": []}


def test_spam_and_trash_are_searched_only_by_name(box):
    assert {row["folder"] for row in box.emails()} <= {"inbox", "archive", "sent"}
    assert all(row["folder"] == "trash" for row in box.emails(folder="trash"))
    moved = box.emails(folder="trash")[0]["email_id"]
    assert box.do("move_email", email_id=moved, folder="archive")["moved_from"] == "trash"
    assert moved in str(box.emails(folder="archive"))


def test_marks_show_in_searches(box):
    email = box.email(lambda row: "unread" in row.get("flags", ()), folder="inbox")["email_id"]
    box.do("mark_email", email_id=email, mark="read")
    assert email not in str(box.do("search_emails", only="unread", limit=50))
    assert box.do("mark_email", email_id=email, mark="starred")["starred"]
    assert email in str(box.do("search_emails", only="starred", limit=50))


# Refusals


def first_in(where: str, **more: Any) -> Callable[[Mailbox], Arguments]:
    """Arguments that name an email of a folder, one that came in where there are both."""
    return lambda box: {"email_id": min(box.emails(folder=where), key=mine)["email_id"], **more}


def letter(to: Callable[[Mailbox], str]) -> Callable[[Mailbox], Arguments]:
    return lambda box: {"email_contact_id": to(box), "subject": "Hi", "body": "Hi"}


def passed_on(found: Callable[[Mailbox], Arguments]) -> Callable[[Mailbox], Arguments]:
    return lambda box: {"email_id": found(box)["email_id"], "email_contact_id": box.contacts()[0]}


def attached(fits: Fits) -> Callable[[Mailbox], Arguments]:
    return lambda box: {"draft_id": box.draft(), "attachment_id": box.file(fits)}


REFUSALS: list[tuple[str, Callable[[Mailbox], Arguments], str]] = [
    ("create_draft", letter(Mailbox.bounced), "has bounced since 20"),
    ("create_draft", letter(lambda box: box.contacts("service")[0]), "it only sends them; choose a person"),
    ("draft_email_reply", first_in("spam", body="Hi"), "is in spam; move it to the inbox before it is answered"),
    ("draft_email_reply", Mailbox.answered, "unschedule it before you write another reply"),
    ("draft_email_forward", passed_on(lambda box: box.email(restricted)), "does not allow forwarding; ask them"),
    ("draft_email_forward", passed_on(first_in("trash")), "is in trash; move it to the inbox before it is forwarded"),
    ("draft_email_forward", Mailbox.rescued_spam, "infected; choose another attachment"),
    ("add_draft_recipient", Mailbox.same_recipient, "is among the to recipients of"),
    ("add_draft_recipient", Mailbox.eleventh_recipient, "at most 10 are allowed, write to a mailing list"),
    ("attach_to_draft", attached(restricted), "ask the sender for a copy"),
    ("attach_to_draft", attached(lambda row: row["folder"] == "spam"), "the virus scan found"),
    ("attach_to_draft", Mailbox.same_file, "already"),
    ("attach_to_draft", Mailbox.one_file_too_many, "would exceed the limit of 25,000 KB an email"),
    ("send_draft", Mailbox.sent_draft, "create another draft"),
    ("send_draft", lambda box: {"draft_id": box.old_draft(bool, "scheduled")}, "; unschedule it first"),
    ("send_draft", Mailbox.addressed_to_nobody, "has no To recipient; add one with add_draft_recipient"),
    ("send_draft", Mailbox.empty_draft, "neither text nor attachment"),
    ("schedule_draft", lambda box: {**box.new_draft(), "send_at": box.later(minutes=29)}, "is too soon: it is"),
    ("schedule_draft", lambda box: {**box.new_draft(), "send_at": "9999-12-31T23:59"}, "more than a year away"),
    ("unschedule_draft", Mailbox.new_draft, "is not scheduled"),
    ("unschedule_draft", Mailbox.sent_draft, "only scheduled drafts can be held back"),
    ("unschedule_draft", Mailbox.due_draft, "has been going out since"),
    ("apply_email_label", Mailbox.label_there, "already; choose another label"),
    ("apply_email_label", Mailbox.fourth_topic, "carries 3 topics, which is the most"),
    ("apply_email_label", Mailbox.retired_label, "is retired; use one that is still in use"),
    ("move_email", first_in("archive", folder="archive"), "is in archive already; name another folder"),
    ("move_email", first_in("sent", folder="inbox"), "it can be moved to archive or trash, not to inbox"),
    ("move_email", first_in("spam", folder="archive"), "is in spam; move it to the inbox first"),
    ("mark_email", first_in("trash", mark="starred"), "before it is starred"),
    ("mark_email", first_in("sent", mark="unread"), "only emails that came in can be unread"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSALS, ids=[case[2] for case in REFUSALS])
def test_the_mailbox_refuses_and_says_what_would_be_right(box, tool, arguments, message):
    given = arguments(box)
    before = box.session.digest()
    result = box.call(tool, **given)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert box.session.digest() == before


# Order and laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        box = Mailbox(5)
        first, second = box.contacts()[:2]
        drafts = [box.draft(), box.draft(subject="Photos")]
        email = box.answerable()["email_id"]
        calls = [
            *(("send_draft", {"draft_id": draft}) for draft in drafts),
            *(("create_draft", {"email_contact_id": to, "subject": "Hello", "body": "Hi"}) for to in (first, second)),
            ("draft_email_reply", {"email_id": email, "body": "Yes"}),
            ("mark_email", {"email_id": email, "mark": "starred"}),
        ]
        assert all(box.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(box.session.digest())
    assert len(digests) == 1


DRAFT = "(SELECT draft_id FROM draft_recipient JOIN draft ON draft.id = draft_id WHERE status = 'open' LIMIT 1)"
CORRUPTIONS = {
    "sent_drafts_are_what_arrived": (
        f"UPDATE draft SET status = 'sent', email_id = (SELECT min(id) FROM email) WHERE id = {DRAFT}"
    ),
    "one_progress_and_no_label_twice": (
        "INSERT INTO labelling SELECT 'LBG-1', email_id, label_id, 0, '' FROM labelling WHERE NOT replaced LIMIT 1"
    ),
    "restricted_files_stay": f"INSERT INTO draft_attachment SELECT {DRAFT}, id FROM attachment WHERE infected LIMIT 1",
    "drafts_stay_within_limits": f"INSERT OR IGNORE INTO draft_recipient SELECT {DRAFT}, id, 'cc' FROM contact",
    "what_goes_out_is_addressed": "UPDATE draft_recipient SET role = 'bcc'",
}


@pytest.mark.parametrize(("law", "corruption"), CORRUPTIONS.items())
def test_each_law_notices_a_state_that_breaks_it(law, corruption):
    now = start_time(2)
    check = next(check for check in EMAIL.invariants if check.__name__ == law)
    with EMAIL.storage.connect(EMAIL.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
