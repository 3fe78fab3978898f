"""What the shop sells: search, read, see what buyers say."""

from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Money, Text, cents, money
from proverl.envs.names import folded
from proverl.envs.servers.shopping import rules, words
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.tables import Product, ProductId, ProductReview, ProductReviewId

Category = Literal["electronics", "kitchen", "home", "garden", "sports", "toys", "books", "personal_care"]
Availability = Literal["in_stock", "sold_out", "discontinued"]
Sort = Literal["lowest_price", "highest_price", "newest"]
Price = Annotated[Money, Field(examples=[10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300])]
Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_PRODUCT, _REVIEW = Product.__table__.c, ProductReview.__table__.c
_NO_LIMIT = -1  # to SQLite
_FITTING = (
    select(_PRODUCT.id, _PRODUCT.name, _PRODUCT.price, _PRODUCT.stock, _PRODUCT.status)
    .where(
        func.coalesce(bindparam("category"), _PRODUCT.category) == _PRODUCT.category,
        func.coalesce(bindparam("highest"), _PRODUCT.price) >= _PRODUCT.price,
    )
    .limit(bindparam("most"))
)
_SORTED = {
    None: _FITTING.order_by(_PRODUCT.id),
    "lowest_price": _FITTING.order_by(_PRODUCT.price, _PRODUCT.id),
    "highest_price": _FITTING.order_by(_PRODUCT.price.desc(), _PRODUCT.id),
    "newest": _FITTING.order_by(_PRODUCT.released_on.desc(), _PRODUCT.id),
}
_RATING = select(func.avg(_REVIEW.rating).label("rating"), func.count().label("count")).where(
    _REVIEW.product_id == bindparam("product")
)
_REVIEWS = (
    select(ProductReview.__table__)
    .where(
        _REVIEW.product_id == bindparam("product"), func.coalesce(bindparam("rating"), _REVIEW.rating) == _REVIEW.rating
    )
    .order_by(_REVIEW.written_on.desc(), _REVIEW.id)
    .limit(bindparam("most"))
)


class ProductItem(TypedDict):
    """A product in a list; price in EUR."""

    product_id: ProductId
    name: str
    price: float
    availability: Availability


class ProductList(TypedDict):
    """Products that fit."""

    products: list[ProductItem]


class ProductView(TypedDict):
    """A product in full; price in EUR, `rating` from 1 to 5."""

    product_id: ProductId
    name: str
    category: Category
    price: float
    availability: Availability
    in_stock: int
    max_per_order: int
    bulky: bool
    rating: float | None
    review_count: int


class ReviewItem(TypedDict):
    """A review in a list."""

    review_id: ProductReviewId
    author: str
    rating: int
    text: str


class ReviewList(TypedDict):
    """A product's reviews."""

    reviews: list[ReviewItem]


@lru_cache(maxsize=2048)
def availability(status: str, stock: int) -> Availability:
    """Whether a product can be ordered, as customers see it."""
    if status == "discontinued":
        return "discontinued"
    return "in_stock" if stock else "sold_out"


@server.tool(
    read_only=True,
    phrases=[
        "search the shop[ for {query}][ among the {category} products][, {max_price} euros at most]",
        "find products[ matching {query}][ that cost no more than {max_price}][, {sort} first]",
        "show me[ the first {limit}] products[ from the {category} department][ with {query} in the name]",
        "look for products[ called {query}][ up to {max_price} euros][ and sort them, {sort} first]",
        "browse the catalogue[ for {query}][ in {category}][, {sort} first][, {limit} products at most]",
        "see what the shop sells[ in the {category} department][ for {max_price} euros or less]",
    ],
)
def search_products(
    ctx: Context,
    query: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.SEARCHES))] | None,
        "Words that must all be in the product's name; case and accents make no difference",
    ] = None,
    category: Annotated[Category | None, "Only this category"] = None,
    max_price: Annotated[Price | None, "Highest price in EUR"] = None,
    sort: Annotated[Sort | None, "Order of the products"] = None,
    limit: Annotated[Limit, "Most products listed"] = 5,
) -> ProductList:
    """Search the catalogue, sold-out and discontinued products included."""
    wanted = folded(query or "").split()
    highest = None if max_price is None else cents(max_price)
    found = ctx.rows(_SORTED[sort], category=category, highest=highest, most=_NO_LIMIT if wanted else limit)
    fitting = [row for row in found if all(word in folded(row["name"]) for word in wanted)]
    return {
        "products": [
            {
                "product_id": row["id"],
                "name": row["name"],
                "price": money(row["price"]),
                "availability": availability(row["status"], row["stock"]),
            }
            for row in fitting[:limit]
        ]
    }


@server.tool(
    read_only=True,
    phrases=[
        "show me the details of {product_id}",
        "check the price and availability of {product_id}",
        "tell me more about {product_id}",
        "open the product page of {product_id}",
        "find out whether {product_id} is in stock and how it is rated",
    ],
    brief=[
        "check the price of a product",
        "tell me whether a product is in stock",
        "open a product page",
    ],
)
def get_product(ctx: Context, product_id: Annotated[ProductId, "Product to read"]) -> ProductView:
    """Get a product with price, stock, the most units per order, and its average rating."""
    row = rules.product(ctx, product_id)
    (reviews,) = ctx.rows(_RATING, product=product_id)
    return {
        "product_id": product_id,
        "name": row["name"],
        "category": row["category"],
        "price": money(row["price"]),
        "availability": availability(row["status"], row["stock"]),
        "in_stock": row["stock"],
        "max_per_order": row["per_order"],
        "bulky": row["bulky"],
        "rating": round(reviews["rating"], 1) if reviews["count"] else None,
        "review_count": reviews["count"],
    }


@server.tool(
    read_only=True,
    phrases=[
        "show me what buyers say about {product_id}[, only {rating}-star reviews]",
        "list the[ {rating}-star] reviews of {product_id}[, {limit} at most]",
        "read me the[ latest {limit}] reviews of {product_id}",
        "check how buyers reviewed {product_id}",
        "find out how other customers liked {product_id}[, from {limit} of their reviews]",
    ],
    brief=[
        "show me what buyers say about a product",
        "read me the reviews of one of the products",
        "list the {rating}-star reviews of a product",
    ],
)
def list_product_reviews(
    ctx: Context,
    product_id: Annotated[ProductId, "Product reviewed"],
    rating: Annotated[Literal[1, 2, 3, 4, 5] | None, "Only reviews with this many stars"] = None,
    limit: Annotated[Limit, "Most reviews listed"] = 5,
) -> ReviewList:
    """List the reviews of a product, newest first."""
    rules.product(ctx, product_id)
    return {
        "reviews": [
            {"review_id": row["id"], "author": row["author"], "rating": row["rating"], "text": row["text"]}
            for row in ctx.rows(_REVIEWS, product=product_id, rating=rating, most=limit)
        ]
    }
