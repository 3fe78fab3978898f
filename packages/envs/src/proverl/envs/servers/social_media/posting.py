"""Posting: write, share, delete, react."""

import re
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import bindparam, delete, func, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.social_media import rules, words
from proverl.envs.servers.social_media.app import server
from proverl.envs.servers.social_media.tables import ME, Post, PostComment, PostId, Profile, Reaction

Audience = Literal["public", "followers"]
ReactionKind = Literal["like", "love", "funny", "wow", "sad"]

_MOST_HASHTAGS = 5
_MOST_POSTS = 20  # a day
_HASHTAG = re.compile(r"#\w")
_SAME_TEXT = (
    select(Post.id, Post.posted_on)
    .where(Post.author_id == ME, Post.posted_on >= bindparam("since"), Post.text == bindparam("text"))
    .order_by(Post.id)
)
_POSTED_TODAY = select(func.count()).where(Post.author_id == ME, Post.posted_on == bindparam("today"))
_POST: Any = bindparam("post")
_DELETION = (
    delete(Reaction).where(Reaction.post_id == _POST),
    delete(PostComment).where(PostComment.post_id == _POST, PostComment.reply_to_id.is_not(None)),
    delete(PostComment).where(PostComment.post_id == _POST),
    update(Post).where(Post.quoted_id == _POST).values(quoted_id=None),
    delete(Post).where(Post.id == _POST),
)
_MY_REACTION = select(Reaction.kind).where(Reaction.post_id == _POST, Reaction.profile_id == ME)
_CHANGE = (
    update(Reaction).where(Reaction.post_id == _POST, Reaction.profile_id == ME).values(kind=bindparam("reaction"))
)
_REACTIONS = select(func.count()).where(Reaction.post_id == _POST)


class CreatedPost(TypedDict):
    """A post that its audience sees from now on."""

    post_id: PostId
    audience: Audience
    posted_at: str


@server.tool(
    phrases=[
        "post {text}[; the audience is {audience}]",
        "write a post that says {text}[ and let {comments_by} comment]",
        "publish the post {text}[ and quote {quoted_post_id} in it]",
        "create a post: {text}[, audience {audience}][, comments by {comments_by}]",
        "share {quoted_post_id} in a post of mine with the words {text}",
        "put {text} on my profile as a new post",
    ],
    brief=[
        "write a post for me",
        "publish something new on my profile",
        "share {quoted_post_id} in a post of mine",
    ],
)
def create_post(
    ctx: Context,
    text: Annotated[Annotated[Text, Field(max_length=500, examples=list(words.NEW_POSTS))], "Text, up to 5 hashtags"],
    audience: Annotated[
        Audience | None, "Who sees it; public if left out, or your followers while your profile is private"
    ] = None,
    comments_by: Annotated[Literal["everyone", "followers", "nobody"], "Who of them may comment"] = "everyone",
    quoted_post_id: Annotated[PostId | None, "Public post to share with it"] = None,
) -> CreatedPost:
    """Publish a post, which may share another one. At most 20 a day, and not the same text twice within two days."""
    said = rules.said(text, "post")
    if len(_HASHTAG.findall(said)) > _MOST_HASHTAGS:
        raise Rejected(f"the post has {len(_HASHTAG.findall(said))} hashtags; leave at most {_MOST_HASHTAGS}")
    private = ctx.get(Profile, ME)["visibility"] == "private"
    if private and audience == "public":
        raise Rejected("your profile is private, so your posts reach followers only; update_profile makes it public")
    if quoted_post_id is not None:
        _quotable(ctx, quoted_post_id)
    _not_too_often(ctx, said)
    seen_by: Audience = audience or ("followers" if private else "public")
    row = ctx.insert(
        Post,
        author_id=ME,
        text=said,
        audience=seen_by,
        comments_by=comments_by,
        quoted_id=quoted_post_id,
        posted_on=ctx.today,
        posted_at=ctx.timestamp,
    )
    return {"post_id": row["id"], "audience": seen_by, "posted_at": ctx.timestamp}


def _quotable(ctx: Context, post_id: str) -> None:
    quoted = rules.post(ctx, post_id)
    if quoted["audience"] != "public" or quoted["visibility"] != "public":
        raise Rejected(
            f"post {post_id} is for followers of {quoted['author_id']} only; only public posts can be shared"
        )


def _not_too_often(ctx: Context, text: str) -> None:
    yesterday = (ctx.now.date() - timedelta(days=1)).isoformat()
    for row in ctx.rows(_SAME_TEXT, since=yesterday, text=text):
        raise Rejected(f"you posted the same text on {row['posted_on']} as {row['id']}; write something new")
    if ctx.scalar(_POSTED_TODAY, today=ctx.today) >= _MOST_POSTS:
        raise Rejected(f"you have posted {_MOST_POSTS} times today, the most allowed; go on tomorrow")


class DeletedPost(TypedDict):
    """A post that is gone."""

    post_id: PostId
    status: Literal["deleted"]


@server.tool(
    destructive=True,
    phrases=[
        "delete {post_id}",
        "remove {post_id} from my profile for good",
        "take {post_id} down",
        "get rid of {post_id} and everything said about it",
        "erase {post_id} so that nobody sees it any more",
    ],
    brief=[
        "delete one of my posts",
        "take down something I posted",
    ],
)
def delete_post(ctx: Context, post_id: Annotated[PostId, "Post of yours"]) -> DeletedPost:
    """Delete a post of yours for good, with its comments and reactions."""
    row = rules.post(ctx, post_id)
    if row["author_id"] != ME:
        raise Rejected(f"post {post_id} is by {row['author_id']}, not by you; only your own posts can be deleted")
    for statement in _DELETION:
        ctx.execute(statement, post=post_id)
    return {"post_id": post_id, "status": "deleted"}


class GivenReaction(TypedDict):
    """The user's reaction to a post, and how many there are in all."""

    post_id: PostId
    reaction: ReactionKind
    reactions: int


@server.tool(
    phrases=[
        "react to {post_id} with {reaction}",
        "give {post_id} a {reaction} reaction",
        "set my reaction to {post_id} to {reaction}",
        "leave a {reaction} reaction on {post_id}",
        "put the reaction {reaction} on {post_id}",
    ],
    brief=[
        "react to a post",
        "leave a reaction on {post_id}",
        "give one of the posts a {reaction} reaction",
    ],
)
def react_to_post(
    ctx: Context,
    post_id: Annotated[PostId, "Post of somebody else"],
    reaction: Annotated[ReactionKind, "Replaces your earlier reaction, if any"],
) -> GivenReaction:
    """React to a post. You have one reaction to each post, which another one replaces."""
    row = rules.post(ctx, post_id)
    if row["author_id"] == ME:
        raise Rejected(f"post {post_id} is your own; react to posts of others")
    given = ctx.scalar(_MY_REACTION, post=post_id)
    if given == reaction:
        raise Rejected(f"your reaction to {post_id} is {given} already; choose another one to change it")
    if given is None:
        ctx.insert(Reaction, post_id=post_id, profile_id=ME, kind=reaction)
    else:
        ctx.execute(_CHANGE, post=post_id, reaction=reaction)
    return {"post_id": post_id, "reaction": reaction, "reactions": ctx.scalar(_REACTIONS, post=post_id)}
