"""The wishlist."""

from typing import Annotated

from sqlalchemy import bindparam, delete, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, money
from proverl.envs.servers.shopping import rules
from proverl.envs.servers.shopping.app import server
from proverl.envs.servers.shopping.catalogue import Availability, ProductItem, availability
from proverl.envs.servers.shopping.tables import Product, ProductId, WishlistItem

_PRODUCT, _WISH = Product.__table__.c, WishlistItem.__table__.c
_WISHES = (
    select(_PRODUCT.id, _PRODUCT.name, _PRODUCT.price, _PRODUCT.stock, _PRODUCT.status)
    .join_from(WishlistItem.__table__, Product.__table__, _PRODUCT.id == _WISH.product_id)
    .order_by(_WISH.added_on.desc(), _PRODUCT.id)
)
_TAKE_OFF = delete(WishlistItem).where(WishlistItem.product_id == bindparam("product"))


class Wishlist(TypedDict):
    """Products on the wishlist."""

    products: list[ProductItem]


class WishlistChange(TypedDict):
    """A product just put on the wishlist or taken off it."""

    product_id: ProductId
    availability: Availability


@server.tool(
    read_only=True,
    phrases=[
        "show me my wishlist",
        "list what is on my wishlist",
        "check whether anything on my wishlist is in stock",
        "open my wishlist",
        "tell me what the products on my wishlist cost today",
    ],
)
def get_wishlist(ctx: Context) -> Wishlist:
    """Get the products on the customer's wishlist with today's price, the latest first."""
    return {
        "products": [
            {
                "product_id": row["id"],
                "name": row["name"],
                "price": money(row["price"]),
                "availability": availability(row["status"], row["stock"]),
            }
            for row in ctx.rows(_WISHES)
        ]
    }


@server.tool(
    phrases=[
        "add {product_id} to my wishlist",
        "put {product_id} on my wishlist",
        "save {product_id} to my wishlist for later",
        "note {product_id} on the wishlist",
        "remember {product_id} for me on my wishlist",
    ],
    brief=[
        "add something to my wishlist",
        "put a product on my wishlist",
    ],
)
def add_to_wishlist(ctx: Context, product_id: Annotated[ProductId, "Product to remember"]) -> WishlistChange:
    """Put a product on the wishlist; sold-out products may be on it, discontinued ones can't be added."""
    row = rules.product(ctx, product_id)
    if ctx.find(WishlistItem, product_id):
        raise Rejected(
            f"product {product_id} is on the wishlist already; add_to_cart or remove_from_wishlist comes next"
        )
    if row["status"] == "discontinued":
        raise Rejected(f"product {product_id} is discontinued and won't come back; choose another product")
    ctx.insert(WishlistItem, product_id=product_id, added_on=ctx.today)
    return {"product_id": product_id, "availability": availability(row["status"], row["stock"])}


@server.tool(
    destructive=True,
    phrases=[
        "remove {product_id} from my wishlist",
        "take {product_id} off my wishlist",
        "delete {product_id} from the wishlist",
        "cross {product_id} off my wishlist",
        "clear {product_id} from the list of things I wish for",
    ],
    brief=[
        "take something off my wishlist",
        "remove one of the products from my wishlist",
    ],
)
def remove_from_wishlist(ctx: Context, product_id: Annotated[ProductId, "Product on the wishlist"]) -> WishlistChange:
    """Take a product off the wishlist."""
    row = rules.product(ctx, product_id)
    if ctx.find(WishlistItem, product_id) is None:
        raise Rejected(f"product {product_id} is not on the wishlist; get_wishlist shows what is")
    ctx.execute(_TAKE_OFF, product=product_id)
    return {"product_id": product_id, "availability": availability(row["status"], row["stock"])}
