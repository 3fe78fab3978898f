"""Stock transfers between stores: request, dispatch, receive."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.retail_chain import rules
from proverl.envs.servers.retail_chain.app import server
from proverl.envs.servers.retail_chain.levels import Limit
from proverl.envs.servers.retail_chain.rules import SKU, TRANSFER
from proverl.envs.servers.retail_chain.tables import Sku, SkuId, StockTransfer, StockTransferId, StoreId
from proverl.envs.state import Row

TransferStatus = Literal["requested", "in_transit", "received", "cancelled"]
Units = Annotated[int, Field(ge=1, le=10_000, examples=[2, 3, 4, 4, 5, 6, 6, 8, 8, 10, 10, 12, 12, 15, 16, 18, 20, 24])]
ArrivedUnits = Annotated[int, Field(ge=0, le=10_000, examples=[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 24])]

_TRANSFERS = (
    select(StockTransfer.__table__, SKU.name)
    .join_from(StockTransfer.__table__, Sku.__table__, SKU.id == TRANSFER.sku_id)
    .where(func.coalesce(bindparam("status"), TRANSFER.status) == TRANSFER.status)
    .order_by(TRANSFER.requested_on.desc(), TRANSFER.id)
    .limit(bindparam("most"))
)
_TRANSFERS_OF_STORE = _TRANSFERS.where(
    or_(TRANSFER.from_store_id == bindparam("store"), TRANSFER.to_store_id == bindparam("store"))
)


class TransferState(TypedDict):
    """A transfer after a change."""

    stock_transfer_id: StockTransferId
    status: TransferStatus
    quantity: int


class ReceivedTransfer(TypedDict):
    """A transfer that has arrived, and what the receiving store has on hand now."""

    stock_transfer_id: StockTransferId
    received_quantity: int
    missing: int
    on_hand: int


class TransferItem(TypedDict):
    """A transfer in a list."""

    stock_transfer_id: StockTransferId
    from_store_id: StoreId
    to_store_id: StoreId
    sku_id: SkuId
    quantity: int
    status: TransferStatus


class TransferList(TypedDict):
    """Transfers that fit."""

    stock_transfers: list[TransferItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {status}] stock transfers[ of {store_id}]",
        "show me the[ latest {limit}] transfers[ from or to {store_id}][ that are {status}]",
        "check which[ {status}] transfers there are[ for {store_id}]",
        "look up stock transfers[ that involve {store_id}][, only the {status} ones]",
        "tell me what is being moved between our stores[, {limit} transfers at most]",
    ],
)
def list_stock_transfers(
    ctx: Context,
    store_id: Annotated[StoreId | None, "Only transfers from or to this store"] = None,
    status: Annotated[TransferStatus | None, "Only transfers with this status"] = None,
    limit: Annotated[Limit, "Most transfers listed"] = 5,
) -> TransferList:
    """List stock transfers, the latest requested first."""
    if store_id is None:
        rows = ctx.rows(_TRANSFERS, status=status, most=limit)
    else:
        rules.store(ctx, store_id)
        rows = ctx.rows(_TRANSFERS_OF_STORE, status=status, most=limit, store=store_id)
    return {
        "stock_transfers": [
            {
                "stock_transfer_id": row["id"],
                "from_store_id": row["from_store_id"],
                "to_store_id": row["to_store_id"],
                "sku_id": row["sku_id"],
                "quantity": row["quantity"],
                "status": row["status"],
            }
            for row in rows
        ]
    }


@server.tool(
    phrases=[
        "request a transfer of {quantity} units of {sku_id} from {from_store_id} to {to_store_id}",
        "have {quantity} of {sku_id} sent from {from_store_id} to {to_store_id}",
        "set up a stock transfer: {quantity} of {sku_id} out of {from_store_id}, into {to_store_id}",
        "reserve {quantity} of {sku_id} at {from_store_id} for a transfer to {to_store_id}",
        "move {quantity} units of {sku_id} over to {to_store_id}, taking them from {from_store_id}",
    ],
    brief=[
        "move some stock from one store to another",
        "request a transfer of {quantity} units of {sku_id} from {from_store_id}",
        "have some units of {sku_id} sent from {from_store_id} to {to_store_id}",
    ],
)
def create_stock_transfer(
    ctx: Context,
    from_store_id: Annotated[StoreId, "Store or warehouse that gives"],
    to_store_id: Annotated[StoreId, "Store or warehouse that gets"],
    sku_id: Annotated[SkuId, "SKU that both carry"],
    quantity: Annotated[Units, "Units to move"],
) -> TransferState:
    """Request a stock transfer. The units are reserved until dispatch_stock_transfer sends them off."""
    if from_store_id == to_store_id:
        raise Rejected(f"{from_store_id} is both ends of the transfer; name two different stores")
    source, target = rules.level(ctx, from_store_id, sku_id), rules.level(ctx, to_store_id, sku_id)
    rules.not_recalled(source)
    rules.receiving(target)
    _spare(source, quantity)
    free = rules.room(ctx, target)
    if quantity > free:
        raise Rejected(
            f"{to_store_id} has room for {free} more of {sku_id} with what is on its way; {quantity} don't fit"
        )
    row = ctx.insert(
        StockTransfer,
        sku_id=sku_id,
        from_store_id=from_store_id,
        to_store_id=to_store_id,
        quantity=quantity,
        status="requested",
        requested_on=ctx.today,
        received_quantity=None,
    )
    return {"stock_transfer_id": row["id"], "status": "requested", "quantity": quantity}


def _spare(source: Row, quantity: int) -> None:
    """Raises Rejected when the giving store can't spare the units; discontinued articles may go to the last one."""
    where, available = f"{source['sku_id']} at {source['store_id']}", source["on_hand"] - source["reserved"]
    if quantity > available:
        raise Rejected(
            f"{available} of {where} are available ({source['on_hand']} on hand, {source['reserved']} reserved), "
            f"not {quantity}; ask for fewer or another store"
        )
    spare = available - source["reorder_point"]
    if source["status"] == "active" and quantity > spare:
        raise Rejected(
            f"{quantity} less of {where} would leave {available - quantity}, below the reorder point of "
            f"{source['reorder_point']}; at most {max(spare, 0)} can be spared"
        )


def _transfer(ctx: Context, stock_transfer_id: str, wanted: str, hint: str) -> Row:
    row = ctx.get(StockTransfer, stock_transfer_id, "list_stock_transfers names the transfers")
    if row["status"] != wanted:
        state = str(row["status"]).replace("_", " ")
        raise Rejected(f"transfer {stock_transfer_id} is {state}; {hint}")
    return row


@server.tool(
    phrases=[
        "dispatch {stock_transfer_id}",
        "send {stock_transfer_id} off",
        "mark {stock_transfer_id} as on its way",
        "load {stock_transfer_id} on the truck and book it out",
        "get {stock_transfer_id} on the road",
    ],
    brief=[
        "send off a stock transfer",
        "mark one of the requested transfers as on its way",
    ],
)
def dispatch_stock_transfer(
    ctx: Context, stock_transfer_id: Annotated[StockTransferId, "Requested transfer"]
) -> TransferState:
    """Send a requested transfer off: its units leave the stock of the giving store and are in transit."""
    row = _transfer(ctx, stock_transfer_id, "requested", "only transfers that are requested can be dispatched")
    rules.move(ctx, row["from_store_id"], row["sku_id"], -row["quantity"])
    ctx.update(StockTransfer, stock_transfer_id, status="in_transit")
    return {"stock_transfer_id": stock_transfer_id, "status": "in_transit", "quantity": row["quantity"]}


@server.tool(
    phrases=[
        "receive {stock_transfer_id}[, {received_quantity} units of it]",
        "book {stock_transfer_id} in[ with {received_quantity} units]",
        "confirm the arrival of {stock_transfer_id}[; {received_quantity} units were counted]",
        "take in {stock_transfer_id}[ with a quantity of {received_quantity}]",
        "log {stock_transfer_id} as received[ and put down {received_quantity} units for it]",
    ],
    brief=[
        "book in a stock transfer that has arrived",
        "confirm the arrival of a transfer from another store",
        "take in one of the stock transfers with a quantity of {received_quantity}",
    ],
)
def receive_stock_transfer(
    ctx: Context,
    stock_transfer_id: Annotated[StockTransferId, "Transfer in transit"],
    received_quantity: Annotated[ArrivedUnits | None, "Units that arrived; all of them if left out"] = None,
) -> ReceivedTransfer:
    """Book a transfer in transit into the receiving store; what is missing is written off as lost on the way."""
    hint = "only transfers in transit can be received, after dispatch_stock_transfer has sent them off"
    row = _transfer(ctx, stock_transfer_id, "in_transit", hint)
    arrived = row["quantity"] if received_quantity is None else received_quantity
    if arrived > row["quantity"]:
        raise Rejected(
            f"transfer {stock_transfer_id} was sent with {row['quantity']} units, so {arrived} can't have arrived; "
            "record_shelf_count corrects the stock if there are more"
        )
    target = rules.level(ctx, row["to_store_id"], row["sku_id"])
    rules.fits_now(target, arrived)
    rules.move(ctx, row["to_store_id"], row["sku_id"], arrived)
    ctx.update(StockTransfer, stock_transfer_id, status="received", received_quantity=arrived)
    return {
        "stock_transfer_id": stock_transfer_id,
        "received_quantity": arrived,
        "missing": row["quantity"] - arrived,
        "on_hand": target["on_hand"] + arrived,
    }
