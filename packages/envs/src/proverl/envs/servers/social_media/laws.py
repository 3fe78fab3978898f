"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import select
from sqlalchemy.orm import aliased

from proverl.envs import Context
from proverl.envs.servers.social_media.app import server
from proverl.envs.servers.social_media.tables import Block, Follow, Post, PostComment, Profile


@server.invariant
def blocks_end_follows(ctx: Context) -> None:
    """Where one blocks the other, neither follows or asks to follow."""
    blocked = {
        frozenset((row["blocker_id"], row["blocked_id"]))
        for row in ctx.rows(select(Block.__table__).where(Block.lifted_on.is_(None)))
    }
    for row in ctx.rows(select(Follow.__table__)):
        pair = frozenset((row["follower_id"], row["followed_id"]))
        assert pair not in blocked, f"{row['follower_id']} follows {row['followed_id']} in spite of a block"


@server.invariant
def only_private_profiles_are_asked(ctx: Context) -> None:
    """A request that waits for an answer is one to a private profile."""
    joined = select(Follow.follower_id, Profile.id).join_from(
        Follow.__table__, Profile.__table__, Profile.id == Follow.followed_id
    )
    strange = ctx.rows(joined.where(~Follow.accepted, Profile.visibility == "public"))
    assert not strange, f"requests to public profiles: {strange}"


@server.invariant
def answers_stay_under_their_comment(ctx: Context) -> None:
    """A reply is on the post of the comment that it answers, which is no reply itself, and not older than it."""
    first = aliased(PostComment)
    pairs = select(PostComment.id).join_from(PostComment, first, first.id == PostComment.reply_to_id)
    strange = pairs.where(
        (first.post_id != PostComment.post_id)
        | first.reply_to_id.is_not(None)
        | (first.posted_on > PostComment.posted_on)
    )
    assert not ctx.rows(strange), f"misplaced replies: {ctx.rows(strange)}"


@server.invariant
def nothing_is_older_than_what_it_is_about(ctx: Context) -> None:
    """Comments and shares come after the post."""
    comments = select(PostComment.id).join_from(PostComment, Post, Post.id == PostComment.post_id)
    early = ctx.rows(comments.where(PostComment.posted_at < Post.posted_at))
    assert not early, f"comments before the post: {early}"
    quoted = aliased(Post)
    shares = select(Post.id).join_from(Post, quoted, quoted.id == Post.quoted_id)
    early = ctx.rows(shares.where(Post.posted_at < quoted.posted_at))
    assert not early, f"shared before it was posted: {early}"


@server.invariant
def only_public_posts_are_shared(ctx: Context) -> None:
    """What was written for followers is not passed on."""
    quoted = aliased(Post)
    shares = select(Post.id).join_from(Post, quoted, quoted.id == Post.quoted_id)
    assert not ctx.rows(shares.where(quoted.audience != "public")), "a post for followers is shared"


@server.invariant
def closed_posts_have_only_their_authors_comments(ctx: Context) -> None:
    """Nobody else comments on a post whose author closed the comments."""
    joined = select(PostComment.id).join_from(PostComment, Post, Post.id == PostComment.post_id)
    strange = ctx.rows(joined.where(Post.comments_by == "nobody", PostComment.author_id != Post.author_id))
    assert not strange, f"comments on closed posts: {strange}"
