"""Comments on posts, and answers to them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from sqlalchemy import Select, bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.social_media import rules, words
from proverl.envs.servers.social_media.app import server
from proverl.envs.servers.social_media.reading import Limit
from proverl.envs.servers.social_media.tables import ME, PostComment, PostCommentId, PostId, Profile, ProfileId
from proverl.envs.state import Row

_COMMENTS: Select[Any] = (
    select(PostComment.__table__, Profile.name)
    .join_from(PostComment.__table__, Profile.__table__, Profile.id == PostComment.author_id)
    .where(
        PostComment.post_id == bindparam("post"),
        or_(Profile.id == ME, ~(Profile.suspended | rules.i_block | rules.blocks_me)),
    )
)
_LISTED = _COMMENTS.order_by(PostComment.posted_at, PostComment.id).limit(bindparam("limit"))
_VISIBLE = _COMMENTS.where(PostComment.id == bindparam("key"))
_SAME_TEXT = (
    select(PostComment.id)
    .where(PostComment.post_id == bindparam("post"), PostComment.author_id == ME, PostComment.text == bindparam("text"))
    .order_by(PostComment.id)
)


class CommentItem(TypedDict):
    """A comment; `reply_to_id` is there when it answers another one."""

    post_comment_id: PostCommentId
    profile_id: ProfileId
    author: str
    text: str
    reply_to_id: NotRequired[PostCommentId]


class CommentList(TypedDict):
    """Comments on a post, oldest first."""

    comments: list[CommentItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the comments on {post_id}[, {limit} at most]",
        "show me what people said about {post_id}",
        "read me the[ first {limit}] comments under {post_id}",
        "check who commented on {post_id}",
        "go through the comments under {post_id}[, no more than {limit}]",
    ],
    brief=[
        "list the comments on a post",
        "show me what people said about one of the posts",
        "read me the first {limit} comments under a post",
    ],
)
def list_post_comments(
    ctx: Context,
    post_id: Annotated[PostId, "Post that was commented on"],
    limit: Annotated[Limit, "Most comments returned"] = 5,
) -> CommentList:
    """List the comments on a post, oldest first. Those of profiles in a block with you are left out."""
    rules.post(ctx, post_id)
    return {"comments": [_item(row) for row in ctx.rows(_LISTED, post=post_id, limit=limit)]}


def _item(row: Row) -> CommentItem:
    item: CommentItem = {
        "post_comment_id": row["id"],
        "profile_id": row["author_id"],
        "author": row["name"],
        "text": row["text"],
    }
    if row["reply_to_id"] is not None:
        item["reply_to_id"] = row["reply_to_id"]
    return item


class CreatedComment(TypedDict):
    """A comment that readers of the post see."""

    post_comment_id: PostCommentId
    post_id: PostId
    status: Literal["published"]


@server.tool(
    phrases=[
        "comment {text} on {post_id}",
        "write {text} under {post_id}[ in answer to {reply_to_id}]",
        "leave the comment {text} on {post_id}[ as a reply to {reply_to_id}]",
        "respond to {post_id} with the words {text}",
        "add {text} to the comments on {post_id}",
    ],
    brief=[
        "comment on a post",
        "leave a comment on {post_id}",
        "comment {text} on one of the posts",
    ],
)
def create_post_comment(
    ctx: Context,
    post_id: Annotated[PostId, "Post to comment on"],
    text: Annotated[Annotated[Text, Field(max_length=300, examples=list(words.NEW_COMMENTS))], "The comment"],
    reply_to_id: Annotated[PostCommentId | None, "Comment on the same post that this one answers"] = None,
) -> CreatedComment:
    """Comment on a post whose author lets you, or answer a comment on it."""
    post = rules.post(ctx, post_id)
    said = rules.said(text, "comment")
    _may_comment(post)
    if reply_to_id is not None:
        _answerable(ctx, post_id, reply_to_id)
    same = ctx.scalar(_SAME_TEXT, post=post_id, text=said)
    if same is not None:
        raise Rejected(f"you said exactly that about {post_id} already, as {same}; say something new")
    row = ctx.insert(
        PostComment,
        post_id=post_id,
        author_id=ME,
        text=said,
        reply_to_id=reply_to_id,
        posted_on=ctx.today,
        posted_at=ctx.timestamp,
    )
    return {"post_comment_id": row["id"], "post_id": post_id, "status": "published"}


def _may_comment(post: Row) -> None:
    """Authors may always comment on what they posted."""
    author = post["author_id"]
    if author == ME or post["comments_by"] == "everyone":
        return
    if post["comments_by"] == "nobody":
        raise Rejected(f"comments on {post['id']} are closed by its author; react_to_post is possible")
    if not post["i_follow"]:
        raise Rejected(f"only followers of {author} may comment on {post['id']}; follow_profile makes you one")


def _answerable(ctx: Context, post_id: str, comment_id: str) -> None:
    comment = ctx.get(PostComment, comment_id, "list_post_comments names the comments on a post")
    if comment["post_id"] != post_id:
        raise Rejected(f"comment {comment_id} is on {comment['post_id']}, not on {post_id}; answer it there")
    if not ctx.rows(_VISIBLE, post=post_id, key=comment_id):
        raise Rejected(f"you can't see comment {comment_id} any more; answer one that list_post_comments shows")
    first = comment["reply_to_id"]
    if first is not None:
        raise Rejected(f"comment {comment_id} is itself an answer; replies go one level deep, so answer {first}")
