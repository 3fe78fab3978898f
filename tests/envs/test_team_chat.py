"""The team chat: what its tools do together, every refusal, its laws."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time
from proverl.envs.servers.team_chat.tables import SELF

CHAT = load_server("team_chat")


class Chat:
    """A session, and what callers find in it through the visible tools."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([CHAT], seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def do(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def channels(self, **wanted: Any) -> list[dict[str, Any]]:
        return self.do("list_channels", limit=50, **wanted)["channels"]

    def channel(self, name: str) -> str:
        return next(
            row["channel_id"]
            for show in ("joined", "joinable", "archived")
            for row in self.channels(show=show)
            if row["name"] == name
        )

    def joined(self) -> str:
        """A channel in use where the user can post."""
        return next(row["channel_id"] for row in self.channels(show="joined") if row["name"] == "general")

    def unjoined(self) -> str:
        """A channel with messages that the user could join."""
        return next(row["channel_id"] for row in self.channels(show="joinable") if self.messages(row["channel_id"]))

    def own(self, visibility: str = "public") -> str:
        return self.do("create_channel", name=f"plans-{visibility}", visibility=visibility)["channel_id"]

    def messages(self, channel_id: str, **wanted: Any) -> list[dict[str, Any]]:
        return self.do("list_channel_messages", channel_id=channel_id, limit=50, **wanted)["messages"]

    def message(self, fits: Callable[[dict[str, Any]], bool], show: str = "joined") -> dict[str, Any]:
        return next(row for one in self.channels(show=show) for row in self.messages(one["channel_id"]) if fits(row))

    def thread(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.do("list_thread_replies", message_id=message["message_id"])

    def members(self, status: str, **wanted: Any) -> list[str]:
        found = self.do("find_chat_members", limit=50, **wanted)["chat_members"]
        return [row["chat_member_id"] for row in found if row["status"] == status]

    def outsider(self, channel_id: str, status: str = "active") -> str:
        """A member who is not in a channel."""
        inside = self.members(status, channel_id=channel_id)
        return next(one for one in self.members(status) if one not in inside)


@pytest.fixture
def chat() -> Chat:
    return Chat()


# What the tools do


def test_a_posted_message_is_read_first_and_its_mention_is_kept(chat):
    channel = chat.own()
    person = chat.outsider(channel)
    chat.do("invite_chat_member", channel_id=channel, chat_member_id=person)
    chat.do("post_message", channel_id=channel, text="Hello")
    posted = chat.do("post_message", channel_id=channel, text="The plan is ready", chat_member_id=person)
    newest, older = chat.messages(channel)
    assert (newest["message_id"], newest["author"], older["text"]) == (posted["message_id"], "me", "Hello")
    assert chat.thread(newest)["mentioned_member_id"] == person
    assert [row["message_id"] for row in chat.messages(channel, query="PLAN")] == [posted["message_id"]]
    assert chat.messages(channel, chat_member_id=person) == []


def test_replies_stay_in_their_thread_and_are_counted(chat):
    message = chat.message(lambda row: row["replies"] > 0 and row["text"] != "(deleted)")
    replied = chat.do("post_thread_reply", message_id=message["message_id"], text="Count me in!")
    assert replied["replies"] == message["replies"] + 1
    thread = chat.thread(message)
    assert thread["thread_replies"][-1] == {
        "message_id": replied["message_id"],
        "author": "me",
        "text": "Count me in!",
    }
    again = {row["message_id"]: row for row in chat.messages(thread["channel_id"])}
    assert again[message["message_id"]]["replies"] == message["replies"] + 1
    assert replied["message_id"] not in again


def test_reactions_to_messages_and_replies_add_up(chat):
    message = chat.message(lambda row: row["replies"] > 0 and row["text"] != "(deleted)")
    thread = chat.thread(message)
    before = {row["emoji"]: row["count"] for row in thread["reactions"]}.get("rocket", 0)
    added = chat.do("add_reaction", message_id=message["message_id"], emoji="rocket")
    assert added["count"] == before + 1
    assert {"emoji": "rocket", "count": before + 1} in chat.thread(message)["reactions"]
    chat.do("add_reaction", message_id=thread["thread_replies"][0]["message_id"], emoji="rocket")


def test_joining_a_channel_lets_one_take_part(chat):
    channel = chat.unjoined()
    (size,) = [row["members"] for row in chat.channels() if row["channel_id"] == channel]
    assert not chat.call("post_message", channel_id=channel, text="Hi").ok
    chat.do("join_channel", channel_id=channel)
    chat.do("post_message", channel_id=channel, text="Hi")
    assert {row["channel_id"]: row["members"] for row in chat.channels(show="joined")}[channel] == size + 1


def test_an_archived_channel_is_still_read_but_listed_apart(chat):
    channel = chat.own()
    chat.do("post_message", channel_id=channel, text="Last words")
    assert chat.do("archive_channel", channel_id=channel)["status"] == "archived"
    assert channel not in str(chat.channels())
    assert channel in str(chat.channels(show="archived"))
    assert chat.messages(channel)[0]["text"] == "Last words"


def test_a_guest_can_come_once_their_channel_is_closed(chat):
    first, second = chat.own(), chat.own("private")
    guest = next(one for one in chat.members("guest") if _comes(chat, first, one))
    assert not chat.call("invite_chat_member", channel_id=second, chat_member_id=guest).ok
    chat.do("archive_channel", channel_id=first)
    chat.do("invite_chat_member", channel_id=second, chat_member_id=guest)


def _comes(chat: Chat, channel: str, guest: str) -> bool:
    return chat.call("invite_chat_member", channel_id=channel, chat_member_id=guest).ok


def test_everyone_in_announcements_can_reply(chat):
    message = next(row for row in chat.messages(chat.channel("announcements")) if row["text"] != "(deleted)")
    chat.do("post_thread_reply", message_id=message["message_id"], text="Great news!")


def test_members_are_found_by_part_of_the_name_whatever_accents(chat):
    found = chat.do("find_chat_members", limit=50)["chat_members"]
    assert SELF not in str(found)
    assert len({row["name"] for row in found}) == len(found) - 1
    assert len({(row["name"], row["title"]) for row in found}) == len(found)
    name = found[0]["name"]
    assert found[0] in chat.do("find_chat_members", name=name.upper())["chat_members"]
    assert chat.do("find_chat_members", name="%") == {"chat_members": []}


# Refusals


def post(channel: Callable[[Chat], str], **more: Any) -> Callable[[Chat], dict[str, Any]]:
    return lambda chat: {"channel_id": channel(chat), "text": "Hi"} | more


def named(name: str) -> Callable[[Chat], str]:
    return lambda chat: chat.channel(name)


def mention(status: str) -> Callable[[Chat], dict[str, Any]]:
    def arguments(chat: Chat) -> dict[str, Any]:
        channel = chat.own()
        return {"channel_id": channel, "text": "Hi", "chat_member_id": chat.outsider(channel, status)}

    return arguments


def reply_to(fits: Callable[[dict[str, Any]], bool], show: str = "joined", **more: Any) -> Callable[[Chat], Any]:
    return lambda chat: {"message_id": chat.message(fits, show)["message_id"], **more}


def fine(row: dict[str, Any]) -> bool:
    return row["text"] != "(deleted)"


def deleted(row: dict[str, Any]) -> bool:
    return not fine(row)


def reply_to_a_reply(chat: Chat) -> dict[str, Any]:
    thread = chat.thread(chat.message(lambda row: row["replies"] > 0 and fine(row)))
    return {"message_id": thread["thread_replies"][0]["message_id"], "text": "Hi"}


def same_reaction(chat: Chat) -> dict[str, Any]:
    arguments = {"message_id": chat.message(fine)["message_id"], "emoji": "pray"}
    chat.do("add_reaction", **arguments)
    return arguments


def invite(channel: Callable[[Chat], str], status: str = "active") -> Callable[[Chat], dict[str, Any]]:
    def arguments(chat: Chat) -> dict[str, Any]:
        found = channel(chat)
        return {"channel_id": found, "chat_member_id": chat.outsider(found, status)}

    return arguments


def someone_inside(chat: Chat) -> dict[str, Any]:
    channel = chat.joined()
    return {"channel_id": channel, "chat_member_id": chat.members("active", channel_id=channel)[0]}


def busy_guest(chat: Chat) -> dict[str, Any]:
    calls = [{"channel_id": chat.own(), "chat_member_id": one} for one in chat.members("guest")[:1]]
    other = chat.own("private")
    chat.call("invite_chat_member", **calls[0])
    return {**calls[0], "channel_id": other}


REFUSALS: list[tuple[str, Callable[[Chat], dict[str, Any]], str]] = [
    ("post_message", post(Chat.unjoined), "join_channel lets you take part"),
    ("post_message", post(named("office-lyon")), "is archived and can only be read; use a channel that is not"),
    ("post_message", post(named("announcements")), "can post there, while everyone can reply in its threads; ask"),
    ("post_message", mention("active"), "would not be notified; invite_chat_member adds people"),
    ("post_message", mention("deactivated"), "is deactivated; choose an active member"),
    ("post_message", post(Chat.joined, chat_member_id=SELF), "mention someone else or leave it out"),
    ("post_message", post(Chat.joined, text=" \n"), "is blank; write at least one visible character"),
    ("post_thread_reply", reply_to(fine, text="\t"), "is blank; write at least one visible character"),
    ("post_thread_reply", reply_to(fine, "archived", text="Hi"), "is archived"),
    ("post_thread_reply", reply_to(fine, "joinable", text="Hi"), "you are not in #"),
    ("post_thread_reply", reply_to(deleted, text="Hi"), "was deleted by its author; choose another message"),
    ("post_thread_reply", reply_to_a_reply, "is itself a reply; answer in its thread by replying to MSG-"),
    ("add_reaction", same_reaction, "with pray already; choose another emoji"),
    ("add_reaction", reply_to(deleted, emoji="heart"), "was deleted by its author"),
    ("create_channel", lambda _: {"name": "general", "visibility": "public"}, "#general exists already: CHN-"),
    ("create_channel", lambda _: {"name": "office-lyon", "visibility": "public"}, "its name stays taken; choose"),
    ("join_channel", lambda chat: {"channel_id": chat.joined()}, "already; you can post there"),
    ("join_channel", lambda chat: {"channel_id": chat.channel("office-lyon")}, "is archived"),
    ("invite_chat_member", invite(Chat.unjoined), "you are not in #"),
    ("invite_chat_member", someone_inside, "is in #general already; choose someone else"),
    ("invite_chat_member", invite(Chat.own, "deactivated"), "is deactivated; choose an active member"),
    ("invite_chat_member", invite(named("hiring")), "the owner of #hiring"),
    ("invite_chat_member", busy_guest, "is a guest, who can be in one channel only, and is in #"),
    ("archive_channel", lambda chat: {"channel_id": chat.joined()}, "the channel of the whole company"),
    ("archive_channel", lambda chat: {"channel_id": chat.channel("hiring")}, "can archive it; ask"),
    ("archive_channel", lambda chat: {"channel_id": chat.channel("office-lyon")}, "is archived"),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"), REFUSALS, ids=[f"{tool}: {message}" for tool, _, message in REFUSALS]
)
def test_the_chat_refuses_and_says_what_would_be_right(chat, tool, arguments, message):
    given = arguments(chat)
    before = chat.session.digest()
    result = chat.call(tool, **given)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert chat.session.digest() == before


# Order and laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        chat = Chat(5)
        channel, other, message = chat.joined(), chat.unjoined(), chat.message(fine)["message_id"]
        calls = [
            ("post_message", {"channel_id": channel, "text": "One"}),
            ("post_message", {"channel_id": channel, "text": "Two"}),
            ("post_thread_reply", {"message_id": message, "text": "Yes"}),
            ("add_reaction", {"message_id": message, "emoji": "eyes"}),
            ("create_channel", {"name": "plans", "visibility": "private"}),
            ("join_channel", {"channel_id": other}),
        ]
        assert all(chat.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(chat.session.digest())
    assert len(digests) == 1


def test_a_channel_archived_at_another_time_is_the_same_state():
    digests = set()
    for turn in (1, -1):
        chat = Chat(5)
        own = [chat.own(), chat.own("private")]
        for channel in own[::turn]:
            chat.do("archive_channel", channel_id=channel)
        digests.add(chat.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("DELETE FROM membership WHERE member_id = 'MEM-00001'", "only_people_inside_take_part"),
        (
            "UPDATE message SET parent_id = (SELECT min(id) FROM message WHERE parent_id IS NOT NULL) "
            "WHERE parent_id IS NOT NULL",
            "threads_are_flat",
        ),
        ("UPDATE channel SET archived_at = '2020-01-01T09:00' WHERE archived", "nothing_happens_in_archived_channels"),
        (
            "INSERT OR IGNORE INTO membership SELECT channel.id, member.id FROM channel, member WHERE status = 'guest'",
            "guests_are_in_one_channel",
        ),
        (
            "UPDATE message SET deleted = 1, text = '' WHERE id IN (SELECT message_id FROM reaction)",
            "deleted_messages_get_no_reactions",
        ),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in CHAT.invariants if check.__name__ == law)
    with CHAT.storage.connect(CHAT.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))
