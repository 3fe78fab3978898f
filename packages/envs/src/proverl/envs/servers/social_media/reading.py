"""Reading: the feed, and the search for posts."""

from datetime import timedelta
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from sqlalchemy import Select, bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text
from proverl.envs.servers.social_media import rules, words
from proverl.envs.servers.social_media.app import server
from proverl.envs.servers.social_media.tables import Post, PostComment, PostId, Profile, ProfileId, Reaction
from proverl.envs.state import Row

Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_TOP_DAYS = 7
_REACTIONS = select(func.count()).where(Reaction.post_id == Post.id).correlate(Post).scalar_subquery()
_COMMENTS = select(func.count()).where(PostComment.post_id == Post.id).correlate(Post).scalar_subquery()
_SHOWN: tuple[Any, ...] = (Post.id, Post.author_id, Profile.name, Post.text, Post.posted_at, Post.quoted_id)
_POSTS: Select[Any] = (
    select(*_SHOWN).join_from(Post.__table__, Profile.__table__, Profile.id == Post.author_id).limit(bindparam("limit"))
)


def _newest(posts: Select[Any]) -> Select[Any]:
    """The newest of these posts; only what is listed gets its reactions and comments counted."""
    page = posts.order_by(Post.posted_at.desc(), Post.id).subquery()
    counts = (
        select(func.count()).where(about == page.c.id).scalar_subquery().label(name)
        for about, name in ((Reaction.post_id, "reactions"), (PostComment.post_id, "comments"))
    )
    return select(page, *counts).order_by(page.c.posted_at.desc(), page.c.id)


_FEED = _POSTS.where(~Profile.suspended, rules.i_follow)
_LATEST = _newest(_FEED)
_COUNTED = _FEED.add_columns(_REACTIONS.label("reactions"), _COMMENTS.label("comments"))
_TOP = _COUNTED.where(Post.posted_on >= bindparam("since")).order_by(
    _REACTIONS.desc(), _COMMENTS.desc(), Post.posted_at.desc(), Post.id
)
_SEARCH = _newest(
    _POSTS.where(
        or_(bindparam("author") == "", Post.author_id == bindparam("author")),
        or_(bindparam("query") == "", func.instr(func.lower(Post.text), bindparam("query")) > 0),
        rules.readable,
    )
)


class PostItem(TypedDict):
    """A post in a list, with the numbers of its reactions and comments, and the post that it shares, if any."""

    post_id: PostId
    profile_id: ProfileId
    author: str
    text: str
    posted_at: str
    reactions: int
    comments: int
    quoted_post_id: NotRequired[PostId]


class PostList(TypedDict):
    """Posts, in the order asked for."""

    posts: list[PostItem]


def _listed(rows: list[Row]) -> PostList:
    return {"posts": [_item(row) for row in rows]}


def _item(row: Row) -> PostItem:
    item: PostItem = {
        "post_id": row["id"],
        "profile_id": row["author_id"],
        "author": row["name"],
        "text": row["text"],
        "posted_at": row["posted_at"],
        "reactions": row["reactions"],
        "comments": row["comments"],
    }
    if row["quoted_id"] is not None:
        item["quoted_post_id"] = row["quoted_id"]
    return item


@server.tool(
    read_only=True,
    phrases=[
        "show me my feed[, {sort} posts first][, {limit} posts]",
        "open my feed[ with the {sort} posts]",
        "check what the people I follow have posted[, {limit} posts at most]",
        "read me the[ {limit}][ {sort}] posts of my feed",
        "catch me up on my feed[ with the {limit} {sort} posts]",
    ],
)
def get_feed(
    ctx: Context,
    sort: Annotated[
        Literal["latest", "top"], "Newest first, or those of the last 7 days with most reactions"
    ] = "latest",
    limit: Annotated[Limit, "Most posts returned"] = 5,
) -> PostList:
    """Get the posts of the profiles that you follow."""
    if sort == "latest":
        return _listed(ctx.rows(_LATEST, limit=limit))
    since = (ctx.now.date() - timedelta(days=_TOP_DAYS)).isoformat()
    return _listed(ctx.rows(_TOP, limit=limit, since=since))


@server.tool(
    read_only=True,
    phrases=[
        "look through the posts[ for {query}][, {limit} at most]",
        "find posts[ that say {query}][ by {profile_id}]",
        "look for posts[ from {profile_id}][ that mention {query}]",
        "show me posts[ of {profile_id}][ with {query} in them][, the latest {limit}]",
        "check what has been posted[ by {profile_id}][ with the words {query}]",
    ],
)
def search_posts(
    ctx: Context,
    query: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.POST_QUERIES))] | None,
        "Word, phrase or hashtag in the text; upper and lower case make no difference",
    ] = None,
    profile_id: Annotated[ProfileId | None, "Only posts of this profile; your own id for your own posts"] = None,
    limit: Annotated[Limit, "Most posts returned"] = 5,
) -> PostList:
    """Search the posts that you may read, newest first."""
    if profile_id is not None:
        rules.open_to_user(rules.profile(ctx, profile_id), profile_id)
    wanted = (query or "").strip().lower()
    return _listed(ctx.rows(_SEARCH, query=wanted, author=profile_id or "", limit=limit))
