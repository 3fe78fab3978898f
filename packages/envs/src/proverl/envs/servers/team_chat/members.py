"""Members of the workspace: find them, bring them into a channel."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text, names
from proverl.envs.names import folded
from proverl.envs.servers.team_chat import rules
from proverl.envs.servers.team_chat.app import server
from proverl.envs.servers.team_chat.channels import Limit
from proverl.envs.servers.team_chat.tables import SELF, Channel, ChannelId, ChatMember, ChatMemberId, Membership

_MEMBER, _MEMBERSHIP = ChatMember.__table__.c, Membership.__table__.c
_IN_CHANNEL = select(_MEMBERSHIP.member_id).where(_MEMBERSHIP.channel_id == bindparam("channel"))
_FOUND = (
    select(ChatMember.__table__)
    .where(
        _MEMBER.id != SELF,
        func.instr(_MEMBER.folded, bindparam("name")) > 0,
        or_(bindparam("channel") == "", _MEMBER.id.in_(_IN_CHANNEL)),
    )
    .order_by(_MEMBER.name, _MEMBER.id)
    .limit(bindparam("limit"))
)
_CHANNEL_OF_GUEST = (
    select(Channel.id, Channel.name)
    .join(Membership.__table__, _MEMBERSHIP.channel_id == Channel.id)
    .where(_MEMBERSHIP.member_id == bindparam("member"), ~Channel.archived)
    .order_by(Channel.id)
)


class MemberItem(TypedDict):
    """A member in a list; a guest is from outside the company, a deactivated member has left it."""

    chat_member_id: ChatMemberId
    name: str
    title: str
    status: Literal["active", "guest", "deactivated"]


class MemberList(TypedDict):
    """Members by name."""

    chat_members: list[MemberItem]


@server.tool(
    read_only=True,
    phrases=[
        "find the members[ called {name}][ in {channel_id}][, {limit} at most]",
        "look up people[ named {name}] in the workspace[, only those in {channel_id}]",
        "list the[ first {limit}] people in the workspace[, only those in {channel_id}][, with {name} in their name]",
        "show me the members[ of {channel_id}][ who are called {name}]",
        "tell me who is in {channel_id}[ under the name {name}]",
        "check which colleagues are[ called {name} and] in this chat[, {limit} people at most]",
    ],
)
def find_chat_members(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(names.FIRST_NAMES))] | None,
        "Part of the name; upper and lower case and accents make no difference",
    ] = None,
    channel_id: Annotated[ChannelId | None, "Only people in this channel"] = None,
    limit: Annotated[Limit, "Most members listed"] = 5,
) -> MemberList:
    """Find other members of the workspace or of one channel, with their job titles."""
    if channel_id is not None:
        rules.channel(ctx, channel_id)
    rows = ctx.rows(_FOUND, name=folded(name or ""), channel=channel_id or "", limit=limit)
    return {
        "chat_members": [
            {"chat_member_id": row["id"], "name": row["name"], "title": row["title"], "status": row["status"]}
            for row in rows
        ]
    }


class Invitation(TypedDict):
    """A member who is in a channel now."""

    channel_id: ChannelId
    chat_member_id: ChatMemberId
    name: str


@server.tool(
    phrases=[
        "invite {chat_member_id} to {channel_id}",
        "add {chat_member_id} to {channel_id}",
        "bring {chat_member_id} into {channel_id}",
        "get {chat_member_id} on board in {channel_id}",
        "let {chat_member_id} take part in {channel_id}",
    ],
    brief=[
        "invite somebody to a channel",
        "add someone to {channel_id}",
        "bring {chat_member_id} into one of the channels",
    ],
)
def invite_chat_member(
    ctx: Context,
    channel_id: Annotated[ChannelId, "Channel that you are in"],
    chat_member_id: Annotated[ChatMemberId, "Who joins it; a guest can be in one channel only"],
) -> Invitation:
    """Add a member to a channel. Only its owner can do so in a private channel."""
    row = rules.own_channel(ctx, channel_id)
    person = rules.member(ctx, chat_member_id)
    if rules.is_in(ctx, channel_id, chat_member_id):
        raise Rejected(f"{person['name']} ({chat_member_id}) is in #{row['name']} already; choose someone else")
    rules.working_here(person)
    if row["visibility"] == "private":
        rules.owner_only(ctx, row, "can invite people to this private channel")
    if person["status"] == "guest":
        for other in ctx.rows(_CHANNEL_OF_GUEST, member=chat_member_id):
            raise Rejected(
                f"{person['name']} ({chat_member_id}) is a guest, who can be in one channel only, "
                f"and is in #{other['name']} ({other['id']})"
            )
    ctx.insert(Membership, channel_id=channel_id, member_id=chat_member_id)
    return {"channel_id": channel_id, "chat_member_id": chat_member_id, "name": person["name"]}
