"""Reviews of places: read everybody's, write one's own."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.maps import rules, words
from proverl.envs.servers.maps.app import server
from proverl.envs.servers.maps.places import Limit
from proverl.envs.servers.maps.tables import YOU, PlaceId, PlaceReview, ReviewId

Rating = Literal[1, 2, 3, 4, 5]

_A_DAY = 5  # reviews that one user may publish
_POOR = 2  # a rating up to this needs a reason
_REVIEWS = (
    select(PlaceReview.__table__)
    .where(PlaceReview.place_id == bindparam("place"))
    .order_by(PlaceReview.written_on.desc(), PlaceReview.id)
    .limit(bindparam("limit"))
)
_OWN = select(PlaceReview.id).where(PlaceReview.place_id == bindparam("place"), PlaceReview.author == YOU)
_TODAY = select(func.count()).where(
    PlaceReview.author == YOU, PlaceReview.written_on == bindparam("today"), PlaceReview.place_id != bindparam("place")
)


class ReviewItem(TypedDict):
    """A review; the author of one's own is "You"."""

    review_id: ReviewId
    author: str
    rating: Rating
    text: str | None
    written_on: str


class ReviewList(TypedDict):
    """Reviews of a place, newest first."""

    reviews: list[ReviewItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me the reviews of {place_id}[, {limit} at most]",
        "read what people say about {place_id}[, the latest {limit}]",
        "list reviews for {place_id}[, up to {limit} of them]",
        "check how {place_id} was reviewed",
        "tell me what visitors wrote about {place_id}[, no more than {limit} reviews]",
    ],
    brief=[
        "show me the reviews of a place",
        "read what people say about a place",
    ],
)
def list_place_reviews(
    ctx: Context,
    place_id: Annotated[PlaceId, "Place that was reviewed"],
    limit: Annotated[Limit, "Most reviews listed"] = 5,
) -> ReviewList:
    """List the reviews of a place, newest first."""
    rules.place(ctx, place_id)
    return {
        "reviews": [
            {
                "review_id": row["id"],
                "author": row["author"],
                "rating": row["rating"],
                "text": row["text"],
                "written_on": row["written_on"],
            }
            for row in ctx.rows(_REVIEWS, place=place_id, limit=limit)
        ]
    }


class WrittenReview(TypedDict):
    """The user's review of a place."""

    review_id: ReviewId
    place_id: PlaceId
    rating: Rating
    replaced_earlier: bool


@server.tool(
    idempotent=True,
    phrases=[
        "review {place_id} with a rating of {rating}[ and the text {text}]",
        "give {place_id} {rating} out of 5[, saying {text}]",
        "rate {place_id} {rating} of 5[ and write {text}]",
        "leave a rating of {rating} for {place_id}[ with the comment {text}]",
        "publish a {rating}-star review of {place_id} in my name[: {text}]",
    ],
    brief=[
        "write a review",
        "rate {place_id} for me",
        "give a place {rating} out of 5",
    ],
)
def write_place_review(
    ctx: Context,
    place_id: Annotated[PlaceId, "Business, sight or stop that is in operation"],
    rating: Annotated[Rating, "Stars, 5 is best; 1 and 2 need a text"],
    text: Annotated[
        Annotated[Text, Field(max_length=1_000, examples=list(words.REVIEWS))] | None, "What others should know"
    ] = None,
) -> WrittenReview:
    """Publish the user's review of a place; it replaces an earlier one of the same place."""
    place = rules.place(ctx, place_id)
    if place["category"] == "address":
        raise Rejected(f"{place['name']} ({place_id}) is a plain address; review a business, sight or stop")
    rules.still_there(place, "review")
    if rating <= _POOR and not (text or "").strip():
        raise Rejected(f"a review with a rating of {rating} needs a text that says what was wrong")
    if ctx.scalar(_TODAY, place=place_id, today=ctx.today) >= _A_DAY:
        raise Rejected(f"you reviewed {_A_DAY} places today, the most a day; write this one tomorrow")
    earlier = ctx.scalar(_OWN, place=place_id)
    if earlier is None:
        row = ctx.insert(PlaceReview, place_id=place_id, author=YOU, rating=rating, text=text, written_on=ctx.today)
    else:
        ctx.update(PlaceReview, earlier, rating=rating, text=text, written_on=ctx.today)
    return {
        "review_id": earlier or row["id"],
        "place_id": place_id,
        "rating": rating,
        "replaced_earlier": earlier is not None,
    }
