"""Messages: read a channel and its threads, post, reply, react."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from sqlalchemy import bindparam, case, func, literal, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.names import folded
from proverl.envs.servers.team_chat import rules, words
from proverl.envs.servers.team_chat.app import server
from proverl.envs.servers.team_chat.channels import Limit
from proverl.envs.servers.team_chat.tables import (
    SELF,
    ChannelId,
    ChatMember,
    ChatMemberId,
    Message,
    MessageId,
    Reaction,
)

Emoji = Literal[
    "thumbs_up", "heart", "tada", "eyes", "rocket", "joy", "pray", "raised_hands", "white_check_mark", "thinking_face"
]

_MESSAGE, _REPLY = Message.__table__.c, Message.__table__.alias("reply")
_AUTHOR = case((_MESSAGE.author_id == SELF, literal("me")), else_=ChatMember.name).label("author")
_REPLIES = select(func.count()).where(_REPLY.c.parent_id == _MESSAGE.id).correlate(Message.__table__).scalar_subquery()
_LATEST = (
    select(_MESSAGE.id, _MESSAGE.text, _MESSAGE.posted_at, _AUTHOR, _REPLIES.label("replies"))
    .join(ChatMember.__table__, ChatMember.id == _MESSAGE.author_id)
    .where(
        _MESSAGE.channel_id == bindparam("channel"),
        _MESSAGE.parent_id.is_(None),
        or_(bindparam("author") == "", _MESSAGE.author_id == bindparam("author")),
    )
    .order_by(_MESSAGE.posted_at.desc(), _MESSAGE.id)
)
_THREAD = (
    select(_MESSAGE.id, _MESSAGE.author_id, _AUTHOR, _MESSAGE.text)
    .join(ChatMember.__table__, ChatMember.id == _MESSAGE.author_id)
    .where(_MESSAGE.parent_id == bindparam("message"))
    .order_by(_MESSAGE.posted_at, _MESSAGE.id)
)
_EMOJIS = (
    select(Reaction.emoji, func.count().label("count"))
    .where(Reaction.message_id == bindparam("message"))
    .group_by(Reaction.emoji)
    .order_by(func.count().desc(), Reaction.emoji)
)
_MINE = select(func.count()).where(
    Reaction.message_id == bindparam("message"), Reaction.member_id == SELF, Reaction.emoji == bindparam("emoji")
)
_DELETED = "(deleted)"


class MessageItem(TypedDict):
    """A message of a channel; `author` is "me" for the user's own."""

    message_id: MessageId
    author: str
    text: str
    posted_at: str
    replies: int


class MessageList(TypedDict):
    """Messages, newest first."""

    messages: list[MessageItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the latest messages in {channel_id}[ that contain {query}][, {limit} at most]",
        "show me what was said in {channel_id}[ by {chat_member_id}]",
        "read me the[ last {limit}] messages of {channel_id}[ from {chat_member_id}]",
        "look through {channel_id}[ for messages with {query} in them]",
        "catch me up on {channel_id}[ with the last {limit} messages]",
    ],
    brief=[
        "show me what was said in a channel",
        "read me the latest messages of one of the channels",
        "look through a channel for messages with {query} in them",
    ],
)
def list_channel_messages(
    ctx: Context,
    channel_id: Annotated[ChannelId, "Channel to read; you need not be in it"],
    query: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.QUESTIONS))] | None,
        "Part of the text; upper and lower case and accents make no difference",
    ] = None,
    chat_member_id: Annotated[ChatMemberId | None, "Only messages by this member"] = None,
    limit: Annotated[Limit, "Most messages listed"] = 5,
) -> MessageList:
    """List the messages of a channel, newest first, without the replies in their threads."""
    rules.channel(ctx, channel_id)
    if chat_member_id is not None:
        rules.member(ctx, chat_member_id)
    wanted = folded(query or "")
    rows = ctx.rows(_LATEST, channel=channel_id, author=chat_member_id or "")
    fitting = [row for row in rows if not wanted or wanted in folded(row["text"])][:limit]
    return {
        "messages": [
            {
                "message_id": row["id"],
                "author": row["author"],
                "text": row["text"] or _DELETED,
                "posted_at": row["posted_at"],
                "replies": row["replies"],
            }
            for row in fitting
        ]
    }


class ReactionCount(TypedDict):
    """How often a message got an emoji."""

    emoji: Emoji
    count: int


class ReplyItem(TypedDict):
    """A reply in a thread."""

    message_id: MessageId
    author: str
    text: str


class ThreadView(TypedDict):
    """A message with its reactions and the replies to it, oldest first."""

    message_id: MessageId
    channel_id: ChannelId
    chat_member_id: ChatMemberId
    mentioned_member_id: NotRequired[ChatMemberId]
    text: str
    reactions: list[ReactionCount]
    thread_replies: list[ReplyItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the replies to {message_id}",
        "show me the thread of {message_id}",
        "check how people reacted to {message_id}",
        "read me what people answered to {message_id}",
        "open the thread under {message_id}",
    ],
    brief=[
        "show me a thread",
        "list the replies to a message",
        "check how people reacted to one of the messages",
    ],
)
def list_thread_replies(ctx: Context, message_id: Annotated[MessageId, "Message that began the thread"]) -> ThreadView:
    """Get a message with its author's id, its reactions, and the replies in its thread."""
    row = rules.message(ctx, message_id)
    view: ThreadView = {
        "message_id": message_id,
        "channel_id": row["channel_id"],
        "chat_member_id": row["author_id"],
        "text": row["text"] or _DELETED,
        "reactions": [
            {"emoji": found["emoji"], "count": found["count"]} for found in ctx.rows(_EMOJIS, message=message_id)
        ],
        "thread_replies": [
            {"message_id": reply["id"], "author": reply["author"], "text": reply["text"] or _DELETED}
            for reply in ctx.rows(_THREAD, message=message_id)
        ],
    }
    if row["mentioned_id"]:
        view["mentioned_member_id"] = row["mentioned_id"]
    return view


class PostedMessage(TypedDict):
    """A new message."""

    message_id: MessageId
    channel_id: ChannelId
    posted_at: str


def _post(ctx: Context, channel_id: str, parent_id: str | None, text: str, mentioned_id: str | None) -> PostedMessage:
    row = ctx.insert(
        Message,
        channel_id=channel_id,
        parent_id=parent_id,
        author_id=SELF,
        mentioned_id=mentioned_id,
        text=text,
        deleted=False,
        posted_at=ctx.timestamp,
    )
    return {"message_id": row["id"], "channel_id": channel_id, "posted_at": ctx.timestamp}


@server.tool(
    phrases=[
        "post {text} in {channel_id}[ and mention {chat_member_id}]",
        "write {text} to {channel_id}[ and make sure {chat_member_id} is notified]",
        "say {text} in {channel_id}[, with a mention of {chat_member_id}]",
        "send the message {text} to {channel_id}[ and notify {chat_member_id}]",
        "let everyone in {channel_id} know: {text}",
    ],
    brief=[
        "post a message in a channel",
        "write something to {channel_id}",
        "send the message {text} to one of the channels",
    ],
)
def post_message(
    ctx: Context,
    channel_id: Annotated[ChannelId, "Channel that you are in"],
    text: Annotated[Annotated[Text, Field(examples=list(words.POSTS))], "What to say"],
    chat_member_id: Annotated[ChatMemberId | None, "Who is notified; must be in the channel"] = None,
) -> PostedMessage:
    """Post a message in a channel. In a channel for announcements only its owner can."""
    row = rules.own_channel(ctx, channel_id)
    if row["announcements"]:
        rules.owner_only(ctx, row, "can post there, while everyone can reply in its threads")
    rules.said(text)
    if chat_member_id is not None:
        rules.mentionable(ctx, row, chat_member_id)
    return _post(ctx, channel_id, None, text, chat_member_id)


class PostedReply(TypedDict):
    """A new reply."""

    message_id: MessageId
    replies: int


@server.tool(
    phrases=[
        "reply {text} in the thread of {message_id}",
        "answer {message_id} with {text}",
        "respond to {message_id} by writing {text}",
        "add {text} to the thread of {message_id}",
        "write {text} as a reply to {message_id}",
    ],
    brief=[
        "reply to a message",
        "answer {message_id} in its thread",
        "reply {text} in the thread of one of the messages",
    ],
)
def post_thread_reply(
    ctx: Context,
    message_id: Annotated[MessageId, "Message that began the thread, not a reply"],
    text: Annotated[Annotated[Text, Field(examples=list(words.REPLIES))], "What to answer"],
) -> PostedReply:
    """Reply to a message in its thread."""
    row = rules.present_message(ctx, message_id)
    if row["parent_id"] is not None:
        raise Rejected(f"{message_id} is itself a reply; answer in its thread by replying to {row['parent_id']}")
    rules.said(text)
    posted = _post(ctx, row["channel_id"], message_id, text, None)
    return {"message_id": posted["message_id"], "replies": len(ctx.rows(_THREAD, message=message_id))}


class AddedReaction(TypedDict):
    """An emoji on a message, and how many people put it there."""

    message_id: MessageId
    emoji: Emoji
    count: int


@server.tool(
    phrases=[
        "react to {message_id} with {emoji}",
        "put the emoji {emoji} on {message_id}",
        "add the {emoji} emoji to {message_id}",
        "give {message_id} the reaction {emoji}",
        "leave the reaction {emoji} on {message_id}",
    ],
    brief=[
        "react to a message with an emoji",
        "put an emoji on {message_id}",
        "give one of the messages the reaction {emoji}",
    ],
)
def add_reaction(
    ctx: Context,
    message_id: Annotated[MessageId, "Message or reply in a channel that you are in"],
    emoji: Annotated[Emoji, "Emoji to add"],
) -> AddedReaction:
    """React to a message or a reply with an emoji."""
    rules.present_message(ctx, message_id)
    if ctx.scalar(_MINE, message=message_id, emoji=emoji):
        raise Rejected(f"you reacted to {message_id} with {emoji} already; choose another emoji")
    ctx.insert(Reaction, message_id=message_id, member_id=SELF, emoji=emoji)
    counts = {row["emoji"]: row["count"] for row in ctx.rows(_EMOJIS, message=message_id)}
    return {"message_id": message_id, "emoji": emoji, "count": counts[emoji]}
