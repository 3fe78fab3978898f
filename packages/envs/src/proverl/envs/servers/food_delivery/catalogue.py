"""Restaurants and their menus."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import Float, bindparam, cast, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text, money
from proverl.envs.names import folded
from proverl.envs.servers.food_delivery import bill, rules, words
from proverl.envs.servers.food_delivery.app import server
from proverl.envs.servers.food_delivery.tables import (
    DeliveryAddressId,
    Dish,
    DishId,
    Restaurant,
    RestaurantId,
)

Cuisine = Literal["breakfast", "bakery", "bowls", "burgers", "pizza", "sushi", "indian", "thai", "lebanese", "mexican"]
Opening = Literal["open", "closed", "paused"]
Section = Literal["starter", "main", "side", "dessert", "drink"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_SHOWN = ("id", "name", "cuisine", "opens", "closes", "day_off", "paused", "min_order", "radius", "x", "y")
_RESTAURANTS = select(
    *(Restaurant.__table__.c[name] for name in _SHOWN),
    (cast(Restaurant.rating_sum, Float) / Restaurant.ratings).label("rating"),
).order_by(Restaurant.name, Restaurant.id)
_DISHES = (
    select(Dish.id, Dish.name, Dish.section, Dish.price, Dish.diet, Dish.sold_out)
    .where(Dish.restaurant_id == bindparam("restaurant"))
    .order_by(Dish.name, Dish.id)
)
_SUITS = {"vegan": ("vegan",), "vegetarian": ("vegan", "vegetarian")}


class RestaurantItem(TypedDict):
    """A restaurant in a list; `rating` is the mean of its stars, `min_order` the least amount of an order in EUR."""

    restaurant_id: RestaurantId
    name: str
    cuisine: Cuisine
    status: Opening
    hours: str
    rating: float
    min_order: float


class RestaurantList(TypedDict):
    """Restaurants that fit."""

    restaurants: list[RestaurantItem]


@server.tool(
    read_only=True,
    phrases=[
        "find restaurants[ in the category {cuisine}][ that deliver to {delivery_address_id}][, {limit} at most]",
        "search for restaurants[ that are {status} now][, {cuisine} only][, {limit} of them]",
        "show me which restaurants there are[ within reach of {delivery_address_id}][, only the ones {status} now]",
        "look up restaurants[ with {name} in their name][, up to {limit}]",
        "check which restaurants[ called {name}] deliver[ to {delivery_address_id}]",
        "list the restaurants[ in reach of {delivery_address_id}][, kitchen {cuisine}][, only those {status} now]",
    ],
)
def search_restaurants(
    ctx: Context,
    cuisine: Annotated[Cuisine | None, "Only this kind of kitchen"] = None,
    name: Annotated[
        Annotated[
            Text, Field(max_length=60, examples=[name for names, *_ in words.RESTAURANTS.values() for name in names])
        ]
        | None,
        "Part of the name; case and accents make no difference",
    ] = None,
    status: Annotated[Opening | None, "Only restaurants in this state now"] = None,
    delivery_address_id: Annotated[DeliveryAddressId | None, "Only restaurants that deliver there"] = None,
    limit: Annotated[Limit, "Most restaurants listed"] = 5,
) -> RestaurantList:
    """Search restaurants by kitchen, name, delivery area and whether they are open now."""
    address = None if delivery_address_id is None else rules.address(ctx, delivery_address_id)
    wanted = folded(name or "")
    time, weekday = ctx.timestamp[11:], ctx.now.weekday()
    fitting: list[RestaurantItem] = []
    for row in ctx.rows(_RESTAURANTS):
        now = rules.opening(row, time, weekday)
        if (
            cuisine in (None, row["cuisine"])
            and status in (None, now)
            and wanted in folded(row["name"])
            and (address is None or bill.way(row, address) <= row["radius"])
        ):
            fitting.append(
                {
                    "restaurant_id": row["id"],
                    "name": row["name"],
                    "cuisine": row["cuisine"],
                    "status": now,  # type: ignore[typeddict-item]
                    "hours": "closed today" if row["day_off"] == weekday else f"{row['opens']}-{row['closes']}",
                    "rating": round(row["rating"], 1),
                    "min_order": money(row["min_order"]),
                }
            )
    return {"restaurants": fitting[:limit]}


class DishItem(TypedDict):
    """A dish on a menu; the price in EUR."""

    dish_id: DishId
    name: str
    price: float
    diet: Literal["vegan", "vegetarian", "any"]
    available: bool


class DishList(TypedDict):
    """A restaurant's dishes."""

    dishes: list[DishItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me the menu of {restaurant_id}[, only the {section} section][, {limit} at most]",
        "list the[ {diet}] dishes of {restaurant_id}[ from the {section} section]",
        "look up what {restaurant_id} has on the menu[ that is {diet}][, up to {limit} dishes]",
        "check which[ {diet}] dishes {restaurant_id} offers[ as a {section}]",
        "tell me what one can order at {restaurant_id} and for how much[, {diet} only][, the first {limit} dishes]",
    ],
    brief=[
        "show me the menu of a restaurant",
        "list the[ {diet}] dishes that a restaurant has",
    ],
)
def list_dishes(
    ctx: Context,
    restaurant_id: Annotated[RestaurantId, "Restaurant whose menu is read"],
    section: Annotated[Section | None, "Only this part of the menu"] = None,
    diet: Annotated[
        Literal["vegan", "vegetarian"] | None, "Only dishes for this diet; vegan ones are vegetarian"
    ] = None,
    limit: Annotated[Limit, "Most dishes listed"] = 10,
) -> DishList:
    """List the dishes of a restaurant with prices and whether they are available today."""
    rules.restaurant(ctx, restaurant_id)
    rows = [
        row
        for row in ctx.rows(_DISHES, restaurant=restaurant_id)
        if section in (None, row["section"]) and (diet is None or row["diet"] in _SUITS[diet])
    ]
    return {
        "dishes": [
            {
                "dish_id": row["id"],
                "name": row["name"],
                "price": money(row["price"]),
                "diet": row["diet"],
                "available": not row["sold_out"],
            }
            for row in rows[:limit]
        ]
    }
