"""What the workspace refuses. Every refusal says what would be right."""

from sqlalchemy import bindparam, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.team_chat.tables import SELF, Channel, ChatMember, Membership, Message
from proverl.envs.state import Row

_CHANNEL = Channel.__table__.c
_MEMBERSHIP = (
    select(Membership.member_id)
    .where(Membership.channel_id == bindparam("channel"), Membership.member_id == bindparam("member"))
    .limit(1)
)


def channel(ctx: Context, channel_id: str) -> Row:
    """The channel. Raises NotFound."""
    return ctx.get(Channel, channel_id, "list_channels names the channels")


def member(ctx: Context, chat_member_id: str) -> Row:
    """The member. Raises NotFound."""
    return ctx.get(ChatMember, chat_member_id, "find_chat_members names the members")


def message(ctx: Context, message_id: str) -> Row:
    """The message. Raises NotFound."""
    return ctx.get(Message, message_id, "list_channel_messages names the messages of a channel")


def is_in(ctx: Context, channel_id: str, chat_member_id: str) -> bool:
    """Whether someone is in a channel."""
    return ctx.scalar(_MEMBERSHIP, channel=channel_id, member=chat_member_id) is not None


def live_channel(ctx: Context, channel_id: str) -> Row:
    """The channel, which is still in use. Raises NotFound, or Rejected when it is archived."""
    row = channel(ctx, channel_id)
    if row["archived"]:
        raise Rejected(f"#{row['name']} ({channel_id}) is archived and can only be read; use a channel that is not")
    return row


def own_channel(ctx: Context, channel_id: str) -> Row:
    """The channel, live and with the user in it. Raises NotFound, or Rejected when they have to join it first."""
    row = live_channel(ctx, channel_id)
    if not is_in(ctx, channel_id, SELF):
        raise Rejected(f"you are not in #{row['name']} ({channel_id}); join_channel lets you take part")
    return row


def owner_only(ctx: Context, row: Row, deed: str) -> None:
    """Raises Rejected unless the user owns the channel."""
    if row["owner_id"] != SELF:
        owner = ctx.get(ChatMember, row["owner_id"])["name"]
        raise Rejected(f"only {owner}, the owner of #{row['name']} ({row['id']}), {deed}; ask {owner.split()[0]} to")


def present_message(ctx: Context, message_id: str) -> Row:
    """The message, not deleted, in a channel where the user takes part. Raises NotFound or Rejected."""
    row = message(ctx, message_id)
    if row["deleted"]:
        raise Rejected(f"message {message_id} was deleted by its author; choose another message")
    own_channel(ctx, row["channel_id"])
    return row


def said(text: str) -> None:
    """Raises Rejected when there is nothing to read in a text."""
    if not text.strip():
        raise Rejected("the text is blank; write at least one visible character")


def working_here(row: Row) -> None:
    """Raises Rejected when the member's account is closed."""
    if row["status"] == "deactivated":
        raise Rejected(f"the account of {row['name']} ({row['id']}) is deactivated; choose an active member")


def mentionable(ctx: Context, row: Row, chat_member_id: str) -> None:
    """Raises NotFound or Rejected unless a mention in the channel would reach the member."""
    person = member(ctx, chat_member_id)
    if chat_member_id == SELF:
        raise Rejected("a mention of yourself notifies nobody; mention someone else or leave it out")
    working_here(person)
    if not is_in(ctx, row["id"], chat_member_id):
        raise Rejected(
            f"{person['name']} ({chat_member_id}) is not in #{row['name']} and would not be notified; "
            "invite_chat_member adds people to a channel"
        )
