"""Follows and blocks: who follows whom, and who wants nothing to do with whom."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, delete, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.social_media import rules
from proverl.envs.servers.social_media.app import server
from proverl.envs.servers.social_media.tables import ME, Block, Follow, Profile, ProfileId

Kind = Literal["followers", "followed_profiles", "follow_requests", "blocked_profiles"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_MOST_FOLLOWS = 20  # new ones a day
_FOLLOW, _BLOCK = Follow.__table__, Block.__table__
_LISTED = select(Profile.id, Profile.handle, Profile.name).order_by(Profile.handle).limit(bindparam("limit"))
_LISTS = {
    "followers": _LISTED.join(_FOLLOW, Follow.follower_id == Profile.id).where(
        Follow.followed_id == bindparam("of"), Follow.accepted
    ),
    "followed_profiles": _LISTED.join(_FOLLOW, Follow.followed_id == Profile.id).where(
        Follow.follower_id == bindparam("of"), Follow.accepted
    ),
    "follow_requests": _LISTED.join(_FOLLOW, Follow.followed_id == Profile.id).where(
        Follow.follower_id == bindparam("of"), ~Follow.accepted
    ),
    "blocked_profiles": _LISTED.join(_BLOCK, Block.blocked_id == Profile.id).where(
        Block.blocker_id == bindparam("of"), Block.lifted_on.is_(None)
    ),
}
_FOLLOWED_TODAY = select(func.count()).where(Follow.follower_id == ME, Follow.since == bindparam("today"))
_UNFOLLOW = delete(Follow).where(Follow.follower_id == ME, Follow.followed_id == bindparam("whom"))
_PART = delete(Follow).where(
    or_(
        and_(Follow.follower_id == ME, Follow.followed_id == bindparam("whom")),
        and_(Follow.follower_id == bindparam("whom"), Follow.followed_id == ME),
    )
)
_MY_BLOCK = select(_BLOCK).where(Block.blocker_id == ME, Block.blocked_id == bindparam("whom"))
_SET_BLOCK = (
    _BLOCK.update()  # type: ignore[attr-defined]
    .where(Block.blocker_id == ME, Block.blocked_id == bindparam("whom"))
    .values(since=bindparam("day"), lifted_on=bindparam("lifted"))
)


class Connection(TypedDict):
    """A profile at the other end of a follow or block."""

    profile_id: ProfileId
    handle: str
    name: str


class ConnectionList(TypedDict):
    """Profiles, by handle."""

    profiles: list[Connection]


@server.tool(
    read_only=True,
    phrases=[
        "list my {kind}[, {limit} at most]",
        "show me the {kind}[ of {profile_id}][, {limit} at most]",
        "look through the {kind}[ of {profile_id}][, the first {limit} only]",
        "pull up the {kind} of my account[, no more than {limit}]",
        "tell me who is among the {kind}[ of {profile_id}]",
    ],
    brief=[
        "list some of my connections",
        "show me who {profile_id} is connected with",
        "pull up one of my lists of connections",
    ],
)
def list_connections(
    ctx: Context,
    kind: Annotated[Kind, "Who follows, who is followed, whom you asked to let you follow, or whom you blocked"],
    profile_id: Annotated[ProfileId | None, "Whose list; your own if left out"] = None,
    limit: Annotated[Limit, "Most profiles listed"] = 5,
) -> ConnectionList:
    """List the followers of a profile or those it follows; of your own account also requests and blocks."""
    of = profile_id or ME
    if of != ME:
        row = rules.profile(ctx, of)
        if kind in ("follow_requests", "blocked_profiles"):
            raise Rejected(f"only {of} itself sees its {kind}; leave profile_id out to list your own")
        rules.open_to_user(row, of)
    rows = ctx.rows(_LISTS[kind], of=of, limit=limit)
    return {"profiles": [{"profile_id": row["id"], "handle": row["handle"], "name": row["name"]} for row in rows]}


class FollowState(TypedDict):
    """Whether the user follows the profile now; a private one has to agree first."""

    profile_id: ProfileId
    status: Literal["following", "requested", "not_following"]


@server.tool(
    phrases=[
        "follow {profile_id}",
        "start following {profile_id}",
        "add {profile_id} to the people I follow",
        "subscribe to what {profile_id} posts",
        "make me a follower of {profile_id}",
    ],
    brief=[
        "follow somebody",
        "start following a new profile",
        "add someone to the people I follow",
    ],
)
def follow_profile(ctx: Context, profile_id: Annotated[ProfileId, "Profile to follow"]) -> FollowState:
    """Follow a profile; a private one is asked and has to accept. At most 20 new ones a day."""
    row = rules.other(ctx, profile_id, "follow")
    rules.reachable(row, profile_id)
    if row["i_block"]:
        raise Rejected(f"you have blocked {profile_id}; unblock_profile it before you follow it")
    if row["i_follow"]:
        raise Rejected(f"you follow {profile_id} already; unfollow_profile ends that")
    if row["i_asked"]:
        raise Rejected(f"you have asked {profile_id} already and wait for its answer; unfollow_profile withdraws that")
    if ctx.scalar(_FOLLOWED_TODAY, today=ctx.today) >= _MOST_FOLLOWS:
        raise Rejected(f"you have followed {_MOST_FOLLOWS} profiles today, the most allowed; go on tomorrow")
    public = row["visibility"] == "public"
    ctx.insert(Follow, follower_id=ME, followed_id=profile_id, accepted=public, since=ctx.today)
    return {"profile_id": profile_id, "status": "following" if public else "requested"}


@server.tool(
    phrases=[
        "unfollow {profile_id}",
        "stop following {profile_id}",
        "remove {profile_id} from the people I follow",
        "take {profile_id} out of my feed by no longer following it",
        "end my following of {profile_id}",
    ],
    brief=[
        "unfollow somebody",
        "stop following one of the profiles I follow",
    ],
)
def unfollow_profile(
    ctx: Context, profile_id: Annotated[ProfileId, "Profile that you follow or asked to follow"]
) -> FollowState:
    """Stop following a profile, or withdraw a request that it has not answered."""
    row = rules.other(ctx, profile_id, "unfollow")
    if not row["i_follow"] and not row["i_asked"]:
        raise Rejected(f"you don't follow {profile_id}; list_connections shows your followed_profiles")
    ctx.execute(_UNFOLLOW, whom=profile_id)
    return {"profile_id": profile_id, "status": "not_following"}


class BlockState(TypedDict):
    """Whether the user blocks the profile now."""

    profile_id: ProfileId
    status: Literal["blocked", "unblocked"]


@server.tool(
    destructive=True,
    phrases=[
        "block {profile_id}",
        "keep {profile_id} away from me with a block",
        "put {profile_id} on my block list",
        "stop {profile_id} from contacting me by blocking it",
        "add {profile_id} to the profiles that I block",
    ],
    brief=[
        "block somebody",
        "put someone on my block list",
    ],
)
def block_profile(ctx: Context, profile_id: Annotated[ProfileId, "Profile to block"]) -> BlockState:
    """Block a profile: neither sees the other's posts, and follows between you end for good."""
    row = rules.other(ctx, profile_id, "block")
    if row["i_block"]:
        raise Rejected(f"you have blocked {profile_id} already; unblock_profile lifts that")
    earlier = ctx.rows(_MY_BLOCK, whom=profile_id)
    yesterday = (ctx.now.date() - timedelta(days=1)).isoformat()
    if earlier and earlier[0]["lifted_on"] >= yesterday:
        lifted = earlier[0]["lifted_on"]
        raise Rejected(f"you unblocked {profile_id} on {lifted}; it can be blocked again two days after that")
    if earlier:
        ctx.execute(_SET_BLOCK, whom=profile_id, day=ctx.today, lifted=None)
    else:
        ctx.insert(Block, blocker_id=ME, blocked_id=profile_id, since=ctx.today, lifted_on=None)
    ctx.execute(_PART, whom=profile_id)
    return {"profile_id": profile_id, "status": "blocked"}


@server.tool(
    phrases=[
        "unblock {profile_id}",
        "lift my block on {profile_id}",
        "take {profile_id} off my block list",
        "give {profile_id} another chance and unblock it",
        "end the block that keeps {profile_id} from me",
    ],
    brief=[
        "unblock somebody",
        "lift one of my blocks",
        "take someone off my block list",
    ],
)
def unblock_profile(ctx: Context, profile_id: Annotated[ProfileId, "Profile that you blocked"]) -> BlockState:
    """Lift a block. It does not bring back follows, and the profile can't be blocked again for two days."""
    row = rules.other(ctx, profile_id, "unblock")
    if not row["i_block"]:
        raise Rejected(f"you have not blocked {profile_id}; list_connections shows your blocked_profiles")
    (block,) = ctx.rows(_MY_BLOCK, whom=profile_id)
    ctx.execute(_SET_BLOCK, whom=profile_id, day=block["since"], lifted=ctx.today)
    return {"profile_id": profile_id, "status": "unblocked"}
