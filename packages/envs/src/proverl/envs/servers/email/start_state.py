"""The mailbox on the morning of a session: ten weeks of correspondence, drafts in progress, mail waiting to go out.

Awkward on purpose: contacts of one name, addresses that bounce, drafts without recipient or text, one at the limit of
recipients, infected and confidential files, retired labels, spam.
"""

from collections import Counter
from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.servers.email import correspondence, people, words
from proverl.envs.servers.email.rules import MOST_KILOBYTES, MOST_RECIPIENTS
from proverl.envs.servers.email.tables import (
    Attachment,
    DraftAttachment,
    DraftRecipient,
    Email,
    EmailAttachment,
    EmailContact,
    EmailDraft,
    EmailLabel,
    Labelling,
)
from proverl.envs.state import Row

_SCHEDULED = 5
_ROLES = ("to", "to", "cc", "cc", "bcc")


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    circle = people.invite(draft)
    correspondence.write(draft, circle, now)
    _label(draft)
    _answers(draft, now)
    _new_drafts(draft, circle, now)
    _schedule(draft)
    return draft.rows


def _label(draft: Draft) -> None:
    rng = draft.rng
    progress = [draft.add(EmailLabel, name=name, kind="progress", retired=False) for name in words.PROGRESS_LABELS]
    topics = [
        draft.add(EmailLabel, name=name, kind="topic", retired=name in words.RETIRED_LABELS)
        for name in words.TOPIC_LABELS
    ]
    by_name = {row["name"]: row for row in topics}
    persons = {row["id"] for row in draft.rows[EmailContact] if row["kind"] == "person"}
    recent = draft.day(-30)
    for email in draft.rows[Email]:
        if email["folder"] in ("spam", "trash") or rng.random() < 0.4:
            continue
        subject = email["subject"].casefold()
        fitting = [by_name[name] for word, name in words.TOPICS if word in subject and rng.random() < 0.7]
        in_use = [label for label in fitting if not label["retired"] or email["sent_at"] < recent]
        stages = rng.choice((0, 0, 1, 2)) if email["sender_id"] in persons else 0
        _apply(draft, email, in_use + rng.sample(progress, stages))


def _apply(draft: Draft, email: Row, labels: list[Row]) -> None:
    """Put labels on an email, one a minute; of its stages of progress only the last one still counts."""
    arrived = datetime.fromisoformat(email["sent_at"])
    for position, label in enumerate(labels):
        draft.add(
            Labelling,
            email_id=email["id"],
            label_id=label["id"],
            replaced=label["kind"] == "progress" and label is not labels[-1],
            applied_at=(arrived + timedelta(minutes=1 + position)).isoformat(timespec="minutes"),
        )


def _add(draft: Draft, now: datetime, kind: str, subject: str, body: str, source: Row | None = None) -> Row:
    earliest = now - timedelta(days=9) if source is None else datetime.fromisoformat(source["sent_at"])
    minutes = int((now - earliest).total_seconds()) // 60
    written = earliest + timedelta(minutes=draft.rng.randint(minutes // 2, max(minutes - 2, minutes // 2)))
    return draft.add(
        EmailDraft,
        kind=kind,
        source_id=source and source["id"],
        subject=subject,
        body=body,
        status="open",
        send_at=None,
        email_id=None,
        written_at=written.isoformat(timespec="minutes"),
    )


def _answers(draft: Draft, now: datetime) -> None:
    """Replies that the user began to the newest email of a thread."""
    last = {row["thread_id"]: row for row in sorted(draft.rows[Email], key=lambda row: row["sent_at"])}
    silent = people.unanswerable(draft)
    open_ones = [
        row
        for row in last.values()
        if row["folder"] == "inbox" and row["sender_id"] is not None and row["sender_id"] not in silent
    ]
    for email in draft.rng.sample(sorted(open_ones, key=lambda row: row["id"]), min(6, len(open_ones))):
        reply = _add(draft, now, "reply", correspondence.answer_to(email), draft.rng.choice(words.REPLY_TEXTS), email)
        draft.add(DraftRecipient, draft_id=reply["id"], contact_id=email["sender_id"], role="to")


def _new_drafts(draft: Draft, circle: people.Circle, now: datetime) -> None:
    rng = draft.rng
    free = _free_files(draft)
    audiences = {
        "colleagues": circle.colleagues,
        "clients": circle.clients,
        "friends": circle.friends,
        "everyone": circle.reachable,
    }
    for position, (audience, subject, body) in enumerate(words.DRAFTS):
        row = _add(draft, now, "new", subject, body)
        reachable = [contact for contact in audiences.get(audience, ()) if contact["bounced_on"] is None]
        count = {"everyone": MOST_RECIPIENTS, "nobody": 0}.get(audience, rng.choice((1, 1, 1, 2, 3)))
        for place, contact in enumerate(rng.sample(reachable, count)):
            role = "to" if place == 0 else rng.choice(_ROLES)
            draft.add(DraftRecipient, draft_id=row["id"], contact_id=contact["id"], role=role)
        if position % 4 == 1:
            draft.add(DraftAttachment, draft_id=row["id"], attachment_id=rng.choice(free)["id"])


def _free_files(draft: Draft) -> list[Row]:
    """Files that may be passed on."""
    held = {row["id"] for row in draft.rows[Email] if row["do_not_forward"]}
    held_files = {row["attachment_id"] for row in draft.rows[EmailAttachment] if row["email_id"] in held}
    return [
        row
        for row in draft.rows[Attachment]
        if not row["infected"] and row["id"] not in held_files and row["size_kb"] < MOST_KILOBYTES
    ]


def _schedule(draft: Draft) -> None:
    count = Counter(row["draft_id"] for row in draft.rows[DraftRecipient])
    ready = [row for row in draft.rows[EmailDraft] if 0 < count[row["id"]] < MOST_RECIPIENTS and row["body"]]
    for row in draft.rng.sample(ready, _SCHEDULED):
        row["status"] = "scheduled"
        hour, minute = draft.rng.choice(((8, 0), (8, 30), (9, 0), (13, 30), (17, 0)))
        row["send_at"] = f"{draft.day(draft.rng.randint(1, 12))}T{hour:02d}:{minute:02d}"
