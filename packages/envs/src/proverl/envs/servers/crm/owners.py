"""Sales reps, who own leads, companies and deals."""

from typing import Annotated

from sqlalchemy import String, bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context
from proverl.envs.servers.crm import rules
from proverl.envs.servers.crm.app import server
from proverl.envs.servers.crm.rules import Limit
from proverl.envs.servers.crm.tables import Lead, Owner, OwnerId, Team

_OWNERS = (
    select(Owner.__table__)
    .where(or_(bindparam("team", type_=String).is_(None), Owner.team == bindparam("team")))
    .order_by(Owner.name, Owner.id)
    .limit(bindparam("limit"))
)
_OPEN_LEADS = (
    select(Lead.owner_id, func.count().label("held")).where(Lead.status.in_(rules.OPEN_LEAD)).group_by(Lead.owner_id)
)


class OwnerItem(TypedDict):
    """A sales rep in a list."""

    owner_id: OwnerId
    name: str
    team: Team
    active: bool
    open_leads: int


class OwnerList(TypedDict):
    """Sales reps."""

    owners: list[OwnerItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the sales reps[ of the {team} team][, {limit} at most]",
        "show me[ up to {limit}] sales reps[ of the {team} team] and how many leads they have",
        "look up who can own leads and deals[ in {team}]",
        "check how many open leads the reps[ in {team}] have",
        "tell me who works in sales[, only in the {team} team][, up to {limit} people]",
    ],
)
def list_owners(
    ctx: Context,
    team: Annotated[Team | None, "Only reps of this team"] = None,
    limit: Annotated[Limit, "Most reps listed"] = 5,
) -> OwnerList:
    """List sales reps by name, with the number of their open leads. A rep takes at most 8; inactive ones have left."""
    held = {row["owner_id"]: row["held"] for row in ctx.rows(_OPEN_LEADS)}
    return {
        "owners": [
            {
                "owner_id": row["id"],
                "name": row["name"],
                "team": row["team"],
                "active": row["active"],
                "open_leads": held.get(row["id"], 0),
            }
            for row in ctx.rows(_OWNERS, team=team, limit=limit)
        ]
    }
