"""Stores, and what they have in stock."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, case, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text
from proverl.envs.names import folded
from proverl.envs.servers.retail_chain import rules, words
from proverl.envs.servers.retail_chain.app import server
from proverl.envs.servers.retail_chain.rules import LEVEL, RESERVED, SKU, STORE
from proverl.envs.servers.retail_chain.tables import Sku, SkuId, StockLevel, Store, StoreId

StoreFormat = Literal["supermarket", "express", "warehouse"]
LevelStatus = Literal["out_of_stock", "low", "ok"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_STORES = select(Store.__table__).order_by(STORE.name, STORE.id)
_STATUS = case((LEVEL.on_hand == 0, "out_of_stock"), (LEVEL.on_hand <= LEVEL.reorder_point, "low"), else_="ok").label(
    "level_status"
)
_LEVELS = (
    select(
        LEVEL.store_id,
        LEVEL.sku_id,
        SKU.name,
        LEVEL.on_hand,
        (LEVEL.on_hand - RESERVED).label("available"),
        LEVEL.reorder_point,
        _STATUS,
    )
    .join_from(StockLevel.__table__, Sku.__table__, SKU.id == LEVEL.sku_id)
    .where(
        func.coalesce(bindparam("status"), _STATUS) == _STATUS,
        func.instr(SKU.search_name, bindparam("query")) > 0,
    )
    .order_by(LEVEL.store_id, LEVEL.sku_id)
    .limit(bindparam("most"))
)
_CHOSEN = {  # by whether a store and a SKU are named
    (False, False): _LEVELS,
    (True, False): _LEVELS.where(LEVEL.store_id == bindparam("store")),
    (False, True): _LEVELS.where(LEVEL.sku_id == bindparam("sku")),
    (True, True): _LEVELS.where(LEVEL.store_id == bindparam("store"), LEVEL.sku_id == bindparam("sku")),
}


class StoreItem(TypedDict):
    """A store in a list."""

    store_id: StoreId
    name: str
    format: StoreFormat
    status: Literal["open", "refurbishing"]


class StoreList(TypedDict):
    """Stores and warehouses of the chain."""

    stores: list[StoreItem]


class StockLevelItem(TypedDict):
    """Stock of a SKU in a store; `available` is what is on hand and not reserved for a transfer."""

    store_id: StoreId
    sku_id: SkuId
    name: str
    on_hand: int
    available: int
    reorder_point: int
    status: LevelStatus


class StockLevelList(TypedDict):
    """Stock levels that fit."""

    stock_levels: list[StockLevelItem]


@server.tool(
    read_only=True,
    phrases=[
        "list our stores[ in {city}][, {limit} at most]",
        "show me the[ {format}] stores of the chain[ in {city}]",
        "look up which[ {format}] locations we have[ in {city}]",
        "find[ the first {limit}] stores[ in {city}][ of the format {format}]",
        "tell me where[ in {city}] we have a store[, only those of the format {format}]",
    ],
)
def list_stores(
    ctx: Context,
    city: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.CITIES))] | None,
        "City; case and accents make no difference",
    ] = None,
    format: Annotated[StoreFormat | None, "Only stores of this format"] = None,
    limit: Annotated[Limit, "Most stores listed"] = 5,
) -> StoreList:
    """List the chain's stores and warehouses by name."""
    wanted = folded(city or "")
    fitting = [
        row
        for row in ctx.rows(_STORES)
        if (not wanted or folded(row["city"]) == wanted) and format in (None, row["format"])
    ]
    return {
        "stores": [
            {"store_id": row["id"], "name": row["name"], "format": row["format"], "status": row["status"]}
            for row in fitting[:limit]
        ]
    }


@server.tool(
    read_only=True,
    phrases=[
        "list the stock levels[ of {sku_id}][ at {store_id}][ that are {status}]",
        "check the stock[ of {sku_id}][ at {store_id}][ and list {limit} lines at most]",
        "show me our stock[ of {query}][ at {store_id}]",
        "look up[ at most {limit}] stock levels[ of articles with {query} in the name][ that are {status}]",
        "go through the inventory[ of {store_id}][ and look for {query}][, only levels that are {status}]",
        "tell me how much is on hand[ of {sku_id}][ at {store_id}]",
    ],
)
def list_stock_levels(
    ctx: Context,
    store_id: Annotated[StoreId | None, "Only this store"] = None,
    sku_id: Annotated[SkuId | None, "Only this SKU"] = None,
    query: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.SEARCHES))] | None,
        "Part of the SKU's name; case and accents make no difference",
    ] = None,
    status: Annotated[LevelStatus | None, "Low is at or below the reorder point, but not zero"] = None,
    limit: Annotated[Limit, "Most stock levels listed"] = 5,
) -> StockLevelList:
    """List stock levels by store and SKU: one store's articles, one article in all stores, or a search by name."""
    if store_id is not None:
        rules.store(ctx, store_id)
    if sku_id is not None:
        rules.sku(ctx, sku_id)
    rows = ctx.rows(
        _CHOSEN[store_id is not None, sku_id is not None],
        status=status,
        query=folded(query or ""),
        most=limit,
        **({} if store_id is None else {"store": store_id}),
        **({} if sku_id is None else {"sku": sku_id}),
    )
    return {
        "stock_levels": [
            {
                "store_id": row["store_id"],
                "sku_id": row["sku_id"],
                "name": row["name"],
                "on_hand": row["on_hand"],
                "available": row["available"],
                "reorder_point": row["reorder_point"],
                "status": row["level_status"],
            }
            for row in rows
        ]
    }
