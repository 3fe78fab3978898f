"""Who may see what, and what the network refuses. Every refusal says what would be right."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, or_, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.social_media.tables import ME, Block, Follow, Post, Profile
from proverl.envs.state import Row

_PROFILES = "search_profiles names profiles"
_POSTS = "search_posts and get_feed name posts"

i_follow = exists().where(Follow.follower_id == ME, Follow.followed_id == Profile.id, Follow.accepted)
i_asked = exists().where(Follow.follower_id == ME, Follow.followed_id == Profile.id, ~Follow.accepted)
follows_me = exists().where(Follow.follower_id == Profile.id, Follow.followed_id == ME, Follow.accepted)
i_block = exists().where(Block.blocker_id == ME, Block.blocked_id == Profile.id, Block.lifted_on.is_(None))
blocks_me = exists().where(Block.blocker_id == Profile.id, Block.blocked_id == ME, Block.lifted_on.is_(None))
readable: ColumnElement[bool] = or_(
    Profile.id == ME,
    and_(
        ~Profile.suspended,
        ~i_block,
        ~blocks_me,
        or_(and_(Profile.visibility == "public", Post.audience == "public"), i_follow),
    ),
)
"""Whether the user may read a post; for selects that join Post and Profile (its author)."""

_RELATIONS = (
    i_follow.label("i_follow"),
    i_asked.label("i_asked"),
    follows_me.label("follows_me"),
    i_block.label("i_block"),
    blocks_me.label("blocks_me"),
)
_PROFILE = select(Profile.__table__, *_RELATIONS).where(Profile.id == bindparam("key"))
_POST: Select[Any] = (
    select(Post.__table__, Profile.name, Profile.visibility, Profile.suspended, *_RELATIONS)
    .join_from(Post.__table__, Profile.__table__, Profile.id == Post.author_id)
    .where(Post.id == bindparam("key"))
)


def profile(ctx: Context, profile_id: str) -> Row:
    """The profile and how it and the user stand to each other. Raises NotFound."""
    found = ctx.rows(_PROFILE, key=profile_id)
    if not found:
        ctx.get(Profile, profile_id, _PROFILES)
    return found[0]


def other(ctx: Context, profile_id: str, purpose: str) -> Row:
    """Someone else's profile. Raises NotFound, or Rejected when it is the user's own."""
    if profile_id == ME:
        raise Rejected(f"{ME} is your own profile and you can't {purpose} yourself; name somebody else's profile")
    return profile(ctx, profile_id)


def reachable(row: Row, profile_id: str) -> None:
    """Raises Rejected when the profile is suspended or has blocked the user."""
    if row["suspended"]:
        raise Rejected(f"profile {profile_id} is suspended and shows nothing; choose another one with search_profiles")
    if row["blocks_me"]:
        raise Rejected(f"profile {profile_id} has blocked you and can't be seen; choose another one")


def open_to_user(row: Row, profile_id: str) -> None:
    """Raises Rejected unless the user may read what this profile posts."""
    if profile_id == ME:
        return
    reachable(row, profile_id)
    if row["i_block"]:
        raise Rejected(f"you have blocked {profile_id}; unblock_profile shows its posts again")
    if row["visibility"] == "private" and not row["i_follow"]:
        asked = "it has not answered your request yet" if row["i_asked"] else "ask for that with follow_profile"
        raise Rejected(f"profile {profile_id} is private and shows its posts to followers only; {asked}")


def post(ctx: Context, post_id: str) -> Row:
    """A post that the user may read, with its author's name. Raises NotFound or Rejected."""
    found = ctx.rows(_POST, key=post_id)
    if not found:
        ctx.get(Post, post_id, _POSTS)
    row = found[0]
    open_to_user(row, row["author_id"])
    if row["audience"] == "followers" and not row["i_follow"] and row["author_id"] != ME:
        raise Rejected(f"post {post_id} is for followers of {row['author_id']} only; follow_profile makes you one")
    return row


def said(text: str, what: str) -> str:
    """The text without blanks around it. Raises Rejected when nothing is left."""
    stripped = text.strip()
    if not stripped:
        raise Rejected(f"the {what} is blank; write something that can be read")
    return stripped
