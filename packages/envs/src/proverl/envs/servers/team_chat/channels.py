"""Channels: list, create, join, archive."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.team_chat import rules, words
from proverl.envs.servers.team_chat.app import server
from proverl.envs.servers.team_chat.tables import SELF, Channel, ChannelId, Membership

Visibility = Literal["public", "private"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_CHANNEL, _MEMBERSHIP = Channel.__table__.c, Membership.__table__.c
_JOINED = select(_MEMBERSHIP.channel_id).where(_MEMBERSHIP.member_id == SELF)
_SIZES = (
    select(_MEMBERSHIP.channel_id, func.count().label("members")).group_by(_MEMBERSHIP.channel_id).subquery("sizes")
)
_CHANNELS = (
    select(_CHANNEL.id, _CHANNEL.name, _CHANNEL.topic, _CHANNEL.visibility, _SIZES.c.members)
    .join(_SIZES, _SIZES.c.channel_id == _CHANNEL.id)
    .where(
        func.instr(_CHANNEL.name, bindparam("name")) > 0,
        or_(
            (bindparam("show") == "") & ~_CHANNEL.archived,
            (bindparam("show") == "archived") & _CHANNEL.archived,
            (bindparam("show") == "joined") & ~_CHANNEL.archived & _CHANNEL.id.in_(_JOINED),
            (bindparam("show") == "joinable") & ~_CHANNEL.archived & _CHANNEL.id.not_in(_JOINED),
        ),
    )
    .order_by(_CHANNEL.name)
    .limit(bindparam("limit"))
)
_NAMED = select(_CHANNEL.id, _CHANNEL.archived).where(_CHANNEL.name == bindparam("name"))


class ChannelItem(TypedDict):
    """A channel in a list, and how many people are in it."""

    channel_id: ChannelId
    name: str
    topic: str
    visibility: Visibility
    members: int


class ChannelList(TypedDict):
    """Channels by name."""

    channels: list[ChannelItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {show}] channels[ with {name} in their name][, {limit} at most]",
        "show me which[ {show}] channels there are",
        "look up the[ first {limit}][ {show}] channels[ named like {name}]",
        "find the[ {show}] channels[ that contain {name} in the name]",
        "tell me what channels this workspace has[, only the {show} ones]",
    ],
)
def list_channels(
    ctx: Context,
    show: Annotated[
        Literal["joined", "joinable", "archived"] | None,
        "Only those you are in, could still join, or that are closed; all but the archived ones if left out",
    ] = None,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.CHANNEL_SEARCHES))] | None,
        "Part of the channel's name",
    ] = None,
    limit: Annotated[Limit, "Most channels listed"] = 5,
) -> ChannelList:
    """List channels of the workspace with their topic. Private ones show only if you are in them."""
    rows = ctx.rows(_CHANNELS, show=show or "", name=(name or "").casefold(), limit=limit)
    return {
        "channels": [
            {
                "channel_id": row["id"],
                "name": row["name"],
                "topic": row["topic"],
                "visibility": row["visibility"],
                "members": row["members"],
            }
            for row in rows
        ]
    }


class ChannelState(TypedDict):
    """A channel after a change."""

    channel_id: ChannelId
    name: str


@server.tool(
    phrases=[
        "create a {visibility} channel named {name}[ with the topic {topic}]",
        "set up the {visibility} channel {name}[, its topic being {topic}]",
        "open a new {visibility} channel called {name}[ and give it the topic {topic}]",
        "start {name} as a {visibility} channel[ with {topic} as its topic]",
        "make us a {visibility} channel and call it {name}[, topic {topic}]",
    ],
    brief=[
        "create a channel",
        "set up a new {visibility} channel",
        "open a new channel called {name}",
    ],
)
def create_channel(
    ctx: Context,
    name: Annotated[
        Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80, examples=list(words.CHANNEL_NAMES))],
        "Lower-case letters, digits, hyphens and underscores",
    ],
    visibility: Annotated[Visibility, "Anyone can find and join a public channel; people are invited to a private one"],
    topic: Annotated[
        Annotated[Text, Field(max_length=250, examples=list(words.TOPICS))] | None, "What it is for, in a few words"
    ] = None,
) -> ChannelState:
    """Create a channel. You own it and are the first one in it."""
    for taken in ctx.rows(_NAMED, name=name):
        state = (
            "archived, and its name stays taken; choose another name"
            if taken["archived"]
            else "in use; join it or choose another name"
        )
        raise Rejected(f"#{name} exists already: {taken['id']} is {state}")
    row = ctx.insert(
        Channel,
        name=name,
        topic=topic or "",
        visibility=visibility,
        owner_id=SELF,
        is_default=False,
        announcements=False,
        archived=False,
        archived_at=None,
    )
    ctx.insert(Membership, channel_id=row["id"], member_id=SELF)
    return {"channel_id": row["id"], "name": name}


@server.tool(
    phrases=[
        "join {channel_id}",
        "add me to {channel_id}",
        "make me a member of {channel_id}",
        "get me into {channel_id} so that I can take part",
        "sign me up for {channel_id}",
    ],
    brief=[
        "join a channel",
        "get me into one of the channels",
    ],
)
def join_channel(ctx: Context, channel_id: Annotated[ChannelId, "Public channel to join"]) -> ChannelState:
    """Join a public channel, so that you can post, reply, react and invite others there."""
    row = rules.live_channel(ctx, channel_id)
    if rules.is_in(ctx, channel_id, SELF):
        raise Rejected(f"you are in #{row['name']} ({channel_id}) already; you can post there")
    ctx.insert(Membership, channel_id=channel_id, member_id=SELF)
    return {"channel_id": channel_id, "name": row["name"]}


class ArchivedChannel(ChannelState):
    """A channel that was closed."""

    status: Literal["archived"]


@server.tool(
    destructive=True,
    phrases=[
        "archive {channel_id}",
        "close {channel_id} for good but keep its messages",
        "retire {channel_id} since nobody needs it any more",
        "shut {channel_id} down",
        "put {channel_id} into the archive",
    ],
    brief=[
        "archive a channel",
        "close one of my channels for good",
    ],
)
def archive_channel(ctx: Context, channel_id: Annotated[ChannelId, "Channel that you own"]) -> ArchivedChannel:
    """Archive a channel that you own. Its messages stay readable, but nobody can post there any more."""
    row = rules.live_channel(ctx, channel_id)
    if row["is_default"]:
        raise Rejected(f"#{row['name']} is the channel of the whole company and can't be archived; choose another one")
    rules.owner_only(ctx, row, "can archive it")
    ctx.update(Channel, channel_id, archived=True, archived_at=ctx.timestamp)
    return {"channel_id": channel_id, "name": row["name"], "status": "archived"}
