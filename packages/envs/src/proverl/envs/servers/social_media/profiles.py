"""Profiles: find them, read one, change one's own."""

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.names import FIRST_NAMES, folded
from proverl.envs.servers.social_media import rules, words
from proverl.envs.servers.social_media.app import server
from proverl.envs.servers.social_media.tables import ME, Follow, Post, Profile, ProfileId
from proverl.envs.state import Row

Visibility = Literal["public", "private"]
Relation = Literal["you", "following", "requested", "blocked", "none"]

_RENAME_DAYS = 14
_FOUND = (
    select(Profile.id, Profile.handle, Profile.name, Profile.visibility)
    .where(func.instr(Profile.folded, bindparam("wanted")) > 0, ~Profile.suspended, ~rules.blocks_me)
    .order_by(Profile.handle)
    .limit(bindparam("limit"))
)
_COUNTS = select(
    select(func.count()).where(Follow.followed_id == bindparam("key"), Follow.accepted).label("followers"),
    select(func.count()).where(Follow.follower_id == bindparam("key"), Follow.accepted).label("following"),
    select(func.count()).where(Post.author_id == bindparam("key")).label("posts"),
)


class ProfileItem(TypedDict):
    """A profile in a list."""

    profile_id: ProfileId
    handle: str
    name: str
    visibility: Visibility


class ProfileList(TypedDict):
    """Profiles that fit, by handle."""

    profiles: list[ProfileItem]


@server.tool(
    read_only=True,
    phrases=[
        "find people[ called {name}] on the network[, {limit} at most]",
        "search the profiles[ for {name}]",
        "look up profiles[ with {name} in their name or handle][, no more than {limit}]",
        "show me profiles[ that match {name}][, the first {limit}]",
        "check which profiles there are[ under the name {name}]",
    ],
)
def search_profiles(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(FIRST_NAMES))] | None,
        "Part of the name or handle; upper and lower case and accents make no difference",
    ] = None,
    limit: Annotated[
        int, Field(ge=1, le=100, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most profiles returned"
    ] = 5,
) -> ProfileList:
    """Search profiles by name or handle. Suspended ones and those that have blocked you are left out."""
    wanted = folded(name or "").strip().removeprefix("@")
    rows = ctx.rows(_FOUND, wanted=wanted, limit=limit)
    return {
        "profiles": [
            {
                "profile_id": row["id"],
                "handle": row["handle"],
                "name": row["name"],
                "visibility": row["visibility"],
            }
            for row in rows
        ]
    }


class ProfileView(TypedDict):
    """A profile in full; `relation` is what it is to you."""

    profile_id: ProfileId
    handle: str
    name: str
    bio: str
    visibility: Visibility
    followers: int
    following: int
    posts: int
    relation: Relation
    follows_you: bool


@server.tool(
    read_only=True,
    phrases=[
        "show me {profile_id}",
        "open {profile_id} and see how many followers it has",
        "look at {profile_id}",
        "check whether I follow {profile_id}",
        "read me what {profile_id} says about itself",
    ],
    brief=[
        "open a profile",
        "check whether I follow someone",
        "read me somebody's bio",
    ],
)
def get_profile(ctx: Context, profile_id: Annotated[ProfileId, "Profile to read"]) -> ProfileView:
    """Get a profile with its numbers, and whether you follow each other."""
    row = rules.profile(ctx, profile_id)
    if profile_id != ME:
        rules.reachable(row, profile_id)
    (counts,) = ctx.rows(_COUNTS, key=profile_id)
    return {
        "profile_id": profile_id,
        "handle": row["handle"],
        "name": row["name"],
        "bio": row["bio"],
        "visibility": row["visibility"],
        "followers": counts["followers"],
        "following": counts["following"],
        "posts": counts["posts"],
        "relation": _relation(row),
        "follows_you": bool(row["follows_me"]),
    }


def _relation(row: Row) -> Relation:
    if row["id"] == ME:
        return "you"
    if row["i_block"]:
        return "blocked"
    if row["i_follow"]:
        return "following"
    return "requested" if row["i_asked"] else "none"


class OwnProfile(TypedDict):
    """The user's profile after a change."""

    profile_id: ProfileId
    name: str
    bio: str
    visibility: Visibility


@server.tool(
    phrases=[
        "update my profile with the bio {bio}[ and make it {visibility}]",
        "change my display name to {display_name}[ and my bio to {bio}]",
        "make my profile {visibility}[ and call me {display_name} from now on]",
        "set my bio to {bio}[ and my name to {display_name}]",
        "edit how others see me: name {display_name}, bio {bio}[, profile {visibility}]",
        "switch my profile to {visibility}",
    ],
)
def update_profile(
    ctx: Context,
    display_name: Annotated[
        Annotated[Text, Field(max_length=50, examples=list(words.NEW_NAMES))] | None,
        "New name; can be changed every 14 days",
    ] = None,
    bio: Annotated[
        Annotated[Text, Field(max_length=160, examples=list(words.NEW_BIOS))] | None, "A line about yourself"
    ] = None,
    visibility: Annotated[Visibility | None, "Who may see your posts: everyone, or only your followers"] = None,
) -> OwnProfile:
    """Change your own profile; what is left out stays as it is."""
    row = ctx.get(Profile, ME)
    changes: Row = {}
    if display_name is not None:
        changes |= _renamed(ctx, row, rules.said(display_name, "name"))
    if bio is not None:
        changes["bio"] = rules.said(bio, "bio")
    if visibility is not None:
        changes["visibility"] = visibility
    if all(row[name] == value for name, value in changes.items()):
        raise Rejected("that changes nothing; give a display name, bio or visibility that differs from now")
    ctx.update(Profile, ME, **changes)
    row |= changes
    return {"profile_id": ME, "name": row["name"], "bio": row["bio"], "visibility": row["visibility"]}


def _renamed(ctx: Context, row: Row, name: str) -> Row:
    if name == row["name"]:
        return {}
    if row["renamed_on"] is not None:
        again = date.fromisoformat(row["renamed_on"]) + timedelta(days=_RENAME_DAYS)
        if ctx.now.date() < again:
            raise Rejected(f"you changed your name on {row['renamed_on']}; it can be changed again from {again} on")
    return {"name": name, "folded": folded(f"{name} {row['handle']}"), "renamed_on": ctx.today}
