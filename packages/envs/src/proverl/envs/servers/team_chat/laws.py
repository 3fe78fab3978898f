"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.sql.elements import ColumnElement

from proverl.envs import Context
from proverl.envs.servers.team_chat.app import server
from proverl.envs.servers.team_chat.tables import Channel, ChatMember, Membership, Message, Reaction

_CHANNEL, _MEMBER, _MEMBERSHIP = Channel.__table__.c, ChatMember.__table__.c, Membership.__table__.c
_MESSAGE, _REACTION, _PARENT = Message.__table__.c, Reaction.__table__.c, Message.__table__.alias("parent")


def _outside(channel_id: ColumnElement[Any], member_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Condition: that member is not in that channel."""
    inside = select(_MEMBERSHIP.member_id).where(
        _MEMBERSHIP.channel_id == channel_id, _MEMBERSHIP.member_id == member_id
    )
    return ~inside.correlate_except(Membership.__table__).exists()


@server.invariant
def only_people_inside_take_part(ctx: Context) -> None:
    """Who wrote, reacted or was mentioned in a channel, or owns it, is in it."""
    reactions = Reaction.__table__.join(Message.__table__, _MESSAGE.id == _REACTION.message_id)
    strange = [
        select(_MESSAGE.id).where(_outside(_MESSAGE.channel_id, _MESSAGE.author_id)),
        select(_MESSAGE.id).where(
            _MESSAGE.mentioned_id.is_not(None), _outside(_MESSAGE.channel_id, _MESSAGE.mentioned_id)
        ),
        select(_MESSAGE.id).select_from(reactions).where(_outside(_MESSAGE.channel_id, _REACTION.member_id)),
        select(_CHANNEL.id).where(_outside(_CHANNEL.id, _CHANNEL.owner_id)),
    ]
    for statement in strange:
        assert not ctx.rows(statement), f"by someone outside the channel: {ctx.rows(statement)}"


@server.invariant
def threads_are_flat(ctx: Context) -> None:
    """A reply is to a message of the same channel that is no reply itself, and not older than it."""
    pairs = Message.__table__.join(_PARENT, _PARENT.c.id == _MESSAGE.parent_id)
    strange = (
        select(_MESSAGE.id)
        .select_from(pairs)
        .where(
            _PARENT.c.parent_id.is_not(None)
            | (_PARENT.c.channel_id != _MESSAGE.channel_id)
            | (_PARENT.c.posted_at > _MESSAGE.posted_at)
        )
    )
    assert not ctx.rows(strange), f"not in a flat thread: {ctx.rows(strange)}"


@server.invariant
def nothing_happens_in_archived_channels(ctx: Context) -> None:
    """No message is younger than the archiving of its channel."""
    strange = (
        select(_MESSAGE.id)
        .join(Channel.__table__, _CHANNEL.id == _MESSAGE.channel_id)
        .where(_CHANNEL.archived & (_CHANNEL.archived_at.is_(None) | (_CHANNEL.archived_at < _MESSAGE.posted_at)))
    )
    assert not ctx.rows(strange), f"posted in archived channels: {ctx.rows(strange)}"


@server.invariant
def guests_are_in_one_channel(ctx: Context) -> None:
    """A guest is in at most one channel that is still in use."""
    crowded = (
        select(_MEMBER.id)
        .join(Membership.__table__, _MEMBERSHIP.member_id == _MEMBER.id)
        .join(Channel.__table__, _CHANNEL.id == _MEMBERSHIP.channel_id)
        .where(_MEMBER.status == "guest", ~_CHANNEL.archived)
        .group_by(_MEMBER.id)
        .having(func.count() > 1)
    )
    assert not ctx.rows(crowded), f"guests in several channels: {ctx.rows(crowded)}"


@server.invariant
def deleted_messages_get_no_reactions(ctx: Context) -> None:
    """Reactions vanish with a deleted message."""
    strange = select(_MESSAGE.id).join(Reaction.__table__, _REACTION.message_id == _MESSAGE.id).where(_MESSAGE.deleted)
    assert not ctx.rows(strange), f"reactions to deleted messages: {ctx.rows(strange)}"
