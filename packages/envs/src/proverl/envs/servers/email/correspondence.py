"""The mailbox's past: threads told by `stories`, in folders as a tidy person would have filed them."""

from datetime import datetime, timedelta
from random import Random

from proverl.envs import Draft, names
from proverl.envs.names import folded
from proverl.envs.servers.email import stories, words
from proverl.envs.servers.email.people import Circle
from proverl.envs.servers.email.stories import Story
from proverl.envs.servers.email.tables import Attachment, Email, EmailAttachment, EmailRecipient, EmailThread
from proverl.envs.state import Row

_HISTORY = 70  # days
_SIZES = {"xlsx": 400, "pptx": 8_000, "pdf": 900, "docx": 250, "mp4": 19_000, "png": 700, "zip": 14_000, "exe": 90}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def answer_to(email: Row) -> str:
    """The subject of a reply."""
    subject: str = email["subject"]
    return subject if subject.startswith("Re: ") else f"Re: {subject}"


def write(draft: Draft, circle: Circle, now: datetime) -> None:
    """Add all threads with their emails, recipients and files."""
    rng = draft.rng
    told = [(story, rng.choice(circle.colleagues)) for story in stories.COLLEAGUES * 2]
    told += [(story, rng.choice(circle.clients)) for story in stories.CLIENTS * 2]
    told += [(story, rng.choice(circle.friends)) for story in stories.FRIENDS]
    told += [(story, circle.lists[0]) for story in stories.LISTS]
    told += [(story, circle.strangers[0]) for story in stories.STRANGERS]
    for (_, _, texts), sender in zip(stories.SERVICES, circle.services, strict=True):
        told += [(story, sender) for story in texts]
    for story, sender in told:
        _thread(draft, circle, story, sender, now)
    for (_, _, story), sender in zip(stories.SPAM, circle.spammers, strict=True):
        for email in _thread(draft, circle, story, sender, now):
            email.update(folder="spam", unread=True, starred=False)


def _thread(draft: Draft, circle: Circle, story: Story, sender: Row, now: datetime) -> list[Row]:
    rng = draft.rng
    slots = _slots(rng, circle.me, sender, now)
    subject = story.subject.format(**slots)
    thread = draft.add(EmailThread, subject=subject)
    copied = _copied(rng, circle, sender)
    emails: list[Row] = []
    for at, turn in zip(_times(rng, circle, sender, len(story.turns), now), story.turns, strict=True):
        mine = turn.startswith(">")
        body = turn.removeprefix(">").format(**slots)
        emails.append(
            draft.add(
                Email,
                thread_id=thread["id"],
                sender_id=None if mine else sender["id"],
                subject=f"Re: {subject}" if emails else subject,
                folded=folded(f"{subject} {sender['name']} {body}"),
                body=body,
                folder="sent" if mine else "inbox",
                unread=False,
                starred=rng.random() < 0.1,
                do_not_forward=story.do_not_forward and not mine,
                sent_at=at.isoformat(timespec="minutes"),
            )
        )
        for contact, role in [*([(sender, "to")] if mine else []), *((row, "cc") for row in copied)]:
            draft.add(EmailRecipient, email_id=emails[-1]["id"], contact_id=contact["id"], role=role)
    if story.file:
        _carry(draft, emails[0], story.file.format(**slots))
    _file(rng, emails, now)
    return emails


def _slots(rng: Random, me: str, sender: Row, now: datetime) -> dict[str, str | int]:
    return {
        "me": me,
        "them": sender["name"].split()[0],
        "project": rng.choice(words.PROJECTS),
        "city": rng.choice(names.CITIES),
        "day": rng.choice(_DAYS),
        "week": (now + timedelta(weeks=rng.randint(1, 9))).isocalendar().week,
        "code": rng.randint(20_410, 98_760),
        "number": rng.randint(12, 48),
        "amount": rng.randint(80, 960),
    }


def _copied(rng: Random, circle: Circle, sender: Row) -> list[Row]:
    """Who else got the emails of a thread: now and then a colleague or two."""
    if sender not in circle.colleagues + circle.clients:
        return []
    others = [row for row in circle.colleagues if row is not sender and row["bounced_on"] is None]
    return rng.sample(others, rng.choice((0, 0, 0, 1, 1, 2)))


def _times(rng: Random, circle: Circle, sender: Row, count: int, now: datetime) -> list[datetime]:
    """When the emails of a thread were sent: within ten weeks, in order, before now and before an address bounced."""
    last = datetime.fromisoformat(sender["bounced_on"]) if sender["bounced_on"] else now
    gaps = [timedelta(minutes=rng.randint(25, 1_700)) for _ in range(count - 1)]
    end = last - timedelta(minutes=20 + int(_HISTORY * 1_440 * rng.random() ** 2.2))
    at_work = sender in circle.colleagues + circle.clients + circle.lists
    times = [_waking_time(rng, end, at_work)]
    for gap in gaps:
        times.append(_waking_time(rng, times[-1] - gap, at_work))
    return times[::-1]


def _waking_time(rng: Random, moment: datetime, at_work: bool) -> datetime:
    """The moment itself, or the last day when people were up; at work that is no weekend."""
    days = 1 if moment.hour < 7 else 0
    if at_work:
        days += max(0, (moment - timedelta(days=days)).weekday() - 4)
    if days or moment.hour >= 21:
        return moment.replace(hour=rng.randint(8, 19), minute=rng.randrange(60)) - timedelta(days=days)
    return moment


def _carry(draft: Draft, email: Row, filename: str) -> None:
    usual = _SIZES[filename.rsplit(".", 1)[1]]
    file = draft.add(
        Attachment,
        filename=filename,
        size_kb=draft.rng.randint(usual // 4, usual * 5 // 4),
        infected=filename in ("Claim form.doc.exe", "Shipping label.zip"),
    )
    draft.add(EmailAttachment, email_id=email["id"], attachment_id=file["id"])


def _file(rng: Random, emails: list[Row], now: datetime) -> None:
    """Old threads are archived or thrown away, of the recent ones some are still unread."""
    old = emails[-1]["sent_at"] < (now - timedelta(days=16)).isoformat()
    fate = rng.choice(("archive", "archive", "archive", "archive", "inbox", "trash")) if old else "inbox"
    for email in emails:
        if fate != "inbox" and (email["sender_id"] or fate == "trash"):
            email["folder"] = fate
    newest = emails[-1]
    if newest["folder"] == "inbox" and not old:
        newest["unread"] = rng.random() < 0.6
    if fate == "trash":
        for email in emails:
            email["starred"] = False
