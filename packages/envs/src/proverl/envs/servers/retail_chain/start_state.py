"""The chain on the morning of a session: its stores, articles and stock, with the records of the last weeks.

Awkward on purpose: two stores of the same name part, a store that is being refurbished, discontinued and recalled
articles, empty shelves, transfers that arrived short, counts that wait for a second one.
"""

from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import folded
from proverl.envs.servers.retail_chain import words
from proverl.envs.servers.retail_chain.tables import (
    Adjustment,
    Replenishment,
    ShelfCount,
    Sku,
    StockLevel,
    StockTransfer,
    Store,
)
from proverl.envs.state import Row

_STOCKTAKE_DAYS = 75  # records begin that long before today
_SCALE = {"supermarket": 2, "express": 1, "warehouse": 12}
_TRANSFERS = ("requested",) * 20 + ("in_transit",) * 20 + ("received",) * 26 + ("cancelled",) * 5
_REPLENISHMENTS = ("ordered",) * 18 + ("shipped",) * 22 + ("received",) * 30 + ("cancelled",) * 4
_LOSSES = ("damaged", "damaged", "expired", "stolen", "used_in_store", "found")


def due(day: datetime, working_days: int) -> str:
    """The ISO date this many working days (Monday to Saturday) later."""
    for _ in range(working_days):
        day += timedelta(days=2 if day.weekday() == 5 else 1)
    return day.date().isoformat()


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    stores, skus = _stores(draft), _skus(draft)
    levels = {(row["store_id"], row["sku_id"]): row for row in _levels(draft, stores, skus)}
    _transfers(draft, stores, skus, levels)
    _replenishments(draft, now, stores, skus, levels)
    _corrections(draft, levels, {row["id"]: row for row in skus})
    for level in levels.values():
        level["issued"] += max(-level["opening"], 0)  # what came in beyond that has left again
        level["opening"] = max(level["opening"], 0)
    return draft.rows


def _stores(draft: Draft) -> list[Row]:
    places = [*words.STORES[:2], *draft.rng.sample(words.STORES[2:], 18)]
    stores = [
        draft.add(
            Store,
            name=f"{city} {place}" if form != "warehouse" else place,
            city=city,
            format=form,
            status="open",
            stocktake_on=draft.day(-_STOCKTAKE_DAYS),
        )
        for city, place, form in places
    ]
    draft.rng.choice(stores[2:])["status"] = "refurbishing"
    return stores


def _skus(draft: Draft) -> list[Row]:
    rng = draft.rng
    skus = [
        draft.add(
            Sku,
            name=name,
            search_name=folded(name),
            department=department,
            cost=cost + rng.randint(-cost // 15, cost // 15),
            case_size=case_size,
            lead_days=words.LEAD_DAYS[department],
            dated=department != "household",
            status="active",
        )
        for department, name, cost, case_size in rng.sample(words.SKUS, 40)
    ]
    for number, row in enumerate(rng.sample(skus, 4)):
        row["status"] = "recalled" if number == 3 else "discontinued"
    return skus


def _levels(draft: Draft, stores: list[Row], skus: list[Row]) -> list[Row]:
    rng = draft.rng
    levels = []
    for store in stores:
        for sku in skus:
            no_freezer = store["format"] == "express" and sku["department"] == "frozen"
            if no_freezer or (store["format"] != "warehouse" and rng.random() < 0.15):
                continue
            scale = _SCALE[store["format"]]
            reorder = rng.randint(4, 9) * scale
            capacity = -(-max(reorder * rng.randint(4, 6), 2 * sku["case_size"]) // sku["case_size"]) * sku["case_size"]
            on_hand = rng.choice((0, rng.randint(1, reorder), *[rng.randint(reorder + 1, capacity * 4 // 5)] * 6))
            issued = rng.randint(1, 12) * capacity // 8
            levels.append(
                draft.add(
                    StockLevel,
                    store_id=store["id"],
                    sku_id=sku["id"],
                    on_hand=on_hand,
                    reorder_point=reorder,
                    capacity=capacity,
                    opening=on_hand + issued,  # records drawn below are set against it
                    issued=issued,
                )
            )
    return levels


Levels = dict[tuple[str, str], Row]


def _transfers(draft: Draft, stores: list[Row], skus: list[Row], levels: Levels) -> None:
    """Transfers of the last weeks; those that are not done yet fit into the stock that is there now."""
    rng = draft.rng
    reserved: dict[tuple[str, str], int] = {}
    for status in _TRANSFERS:
        source, target, sku = *rng.sample(stores, 2), rng.choice(skus)
        if rng.random() < 0.4:
            source = stores[rng.randrange(2)]
        out, into = levels.get((source["id"], sku["id"])), levels.get((target["id"], sku["id"]))
        is_open = status in ("requested", "in_transit")
        barred = sku["status"] == "recalled" or "refurbishing" in (source["status"], target["status"])
        if source is target or not out or not into or (is_open and barred):
            continue
        free = out["on_hand"] - reserved.get((source["id"], sku["id"]), 0) - out["reorder_point"]
        quantity = min(rng.choice((4, 6, 8, 10, 12, 20, 24)), into["capacity"] - into["on_hand"])
        if quantity < 1 or (is_open and (free < quantity or target["format"] == "warehouse")):
            continue
        if status == "requested":
            reserved[source["id"], sku["id"]] = reserved.get((source["id"], sku["id"]), 0) + quantity
        days = rng.randint(*{"requested": (0, 2), "in_transit": (1, 4)}.get(status, (5, 60)))
        arrived = None
        if status == "received":
            arrived = quantity - rng.choice((0, 0, 0, 0, 0, 1, 2))
            into["opening"] -= arrived
        if status in ("received", "in_transit"):
            out["opening"] += quantity
        draft.add(
            StockTransfer,
            sku_id=sku["id"],
            from_store_id=source["id"],
            to_store_id=target["id"],
            quantity=quantity,
            status=status,
            requested_on=draft.day(-days),
            received_quantity=arrived,
        )


def _replenishments(draft: Draft, now: datetime, stores: list[Row], skus: list[Row], levels: Levels) -> None:
    """Orders to suppliers, at most one that is open for each article of a store, none beyond what fits."""
    rng = draft.rng
    inbound = _inbound(draft)
    taken: set[tuple[str, str]] = set()
    for status in _REPLENISHMENTS:
        store, sku = rng.choice(stores), rng.choice(skus)
        key, is_open = (store["id"], sku["id"]), status in ("ordered", "shipped")
        level = levels.get(key)
        if level is None or key in taken or (is_open and (sku["status"] != "active" or store["status"] != "open")):
            continue
        fits = (level["capacity"] - level["on_hand"] - inbound.get(key, 0)) // sku["case_size"]
        cases = min(rng.randint(1, 6), fits)
        if cases < 1:
            continue
        taken.add(key)
        days = {"ordered": 0, "shipped": sku["lead_days"]}.get(status, rng.randint(8, 60))
        ordered = now - timedelta(days=days)
        units = None
        if status == "received":
            units = cases * sku["case_size"] - rng.choice((0, 0, 0, 0, 1))
            level["opening"] -= units
        draft.add(
            Replenishment,
            store_id=store["id"],
            sku_id=sku["id"],
            cases=cases,
            status=status,
            ordered_on=ordered.date().isoformat(),
            due_on=due(ordered, sku["lead_days"]),
            received_units=units,
        )


def _inbound(draft: Draft) -> dict[tuple[str, str], int]:
    units: dict[tuple[str, str], int] = {}
    for row in draft.rows[StockTransfer]:
        if row["status"] in ("requested", "in_transit"):
            key = (row["to_store_id"], row["sku_id"])
            units[key] = units.get(key, 0) + row["quantity"]
    return units


def _corrections(draft: Draft, levels: Levels, skus: dict[str, Row]) -> None:
    """Counts and corrections of the last weeks, and two counts of this morning that wait for a second one."""
    rng = draft.rng
    rows = list(levels.values())
    for level in rng.sample(rows, 24):
        expected = rng.randint(level["reorder_point"], level["capacity"] - 2)
        difference = rng.choice((0, 0, 0, -1, -1, -2, -3, 1, 2))
        count = _count(draft, level, expected + difference, expected, "posted", rng.randint(1, 60))
        if difference:
            _adjust(draft, level, difference, "count", count["counted_on"], count["id"])
    for level in rng.sample(rows, 26):
        reason = rng.choice(_LOSSES)
        if reason == "expired" and not skus[level["sku_id"]]["dated"]:
            reason = "damaged"
        units = rng.randint(1, 4)
        _adjust(draft, level, units if reason == "found" else -units, reason, draft.day(-rng.randint(1, 60)), None)
    for level in rng.sample([row for row in rows if row["on_hand"] > 15], 2):
        _count(draft, level, level["on_hand"] // 2, level["on_hand"], "recount_needed", 0)


def _count(draft: Draft, level: Row, counted: int, expected: int, status: str, days: int) -> Row:
    return draft.add(
        ShelfCount,
        store_id=level["store_id"],
        sku_id=level["sku_id"],
        counted=counted,
        expected=expected,
        status=status,
        counted_on=draft.day(-days),
    )


def _adjust(draft: Draft, level: Row, units: int, reason: str, day: str, shelf_count_id: str | None) -> None:
    level["opening"] -= units
    draft.add(
        Adjustment,
        store_id=level["store_id"],
        sku_id=level["sku_id"],
        units=units,
        reason=reason,
        adjusted_on=day,
        shelf_count_id=shelf_count_id,
    )
