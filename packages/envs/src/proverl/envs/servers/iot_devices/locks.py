"""Smart locks and the keypad codes that open them."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, delete, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text
from proverl.envs.servers.iot_devices import rules, words
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.start_state import MOST_CODES
from proverl.envs.servers.iot_devices.tables import AccessCode, AccessCodeId, Device, LockId

_DIGITS = "^[0-9]{6,8}$"
Code = Annotated[
    str,
    Field(pattern=_DIGITS, json_schema_extra={"x-sensitive": True, "x-source": "reveal_access_code.access_code"}),
]
NewCode = Annotated[
    str, Field(pattern=_DIGITS, json_schema_extra={"x-sensitive": True}, examples=list(words.NEW_CODES))
]
_CODE = AccessCode.__table__.c
_CODES = select(AccessCode.__table__).where(_CODE.lock_id == bindparam("lock")).order_by(_CODE.holder, _CODE.id)
_VALID_CODE = (
    select(_CODE.code)
    .where(
        _CODE.lock_id == bindparam("lock"), or_(_CODE.valid_until.is_(None), _CODE.valid_until >= bindparam("today"))
    )
    .order_by(_CODE.valid_until.is_(None).desc(), _CODE.id)
    .limit(1)
)
_DELETE = delete(AccessCode).where(_CODE.id == bindparam("access_code"))


class LockState(TypedDict):
    """A lock after a command."""

    lock_id: LockId
    state: Literal["locked", "unlocked"]


@server.tool(
    phrases=[
        "lock {lock_id}",
        "make sure {lock_id} is locked",
        "secure {lock_id}",
        "bolt {lock_id}",
        "get {lock_id} locked up",
    ],
    brief=[
        "lock a door",
        "make sure one of the smart locks is locked",
    ],
)
def lock_smart_lock(ctx: Context, lock_id: Annotated[LockId, "Lock that is unlocked"]) -> LockState:
    """Lock a smart lock."""
    row = rules.online_device(ctx, lock_id, "lock")
    if row["state"] == "locked":
        raise Rejected(f"lock {lock_id} ({row['name']}) is locked already")
    _refuse_jammed(lock_id, row["state"])
    ctx.update(Device, lock_id, state="locked")
    return {"lock_id": lock_id, "state": "locked"}


def _refuse_jammed(lock_id: str, state: str) -> None:
    if state == "jammed":
        raise Rejected(f"the bolt of lock {lock_id} is jammed; it must be freed by hand at the door")


@server.tool(
    phrases=[
        "unlock {lock_id} with code {access_code}",
        "open {lock_id} using the code {access_code}",
        "use code {access_code} to unlock {lock_id}",
        "let someone in through {lock_id} with code {access_code}",
        "release {lock_id}, access code {access_code}",
    ],
    brief=[
        "unlock a door",
        "unlock {lock_id}",
        "unlock one of the doors with code {access_code}",
    ],
)
def unlock_smart_lock(
    ctx: Context,
    lock_id: Annotated[LockId, "Lock that is locked, in a home whose alarm is disarmed"],
    access_code: Annotated[Code, "A valid code of this lock, as the user gave it"],
) -> LockState:
    """Unlock a smart lock. One of its access codes authorises it."""
    row = rules.online_device(ctx, lock_id, "lock")
    if row["state"] == "unlocked":
        raise Rejected(f"lock {lock_id} ({row['name']}) is unlocked already")
    _refuse_jammed(lock_id, row["state"])
    fitting = [code for code in ctx.rows(_CODES, lock=lock_id) if code["code"] == access_code]
    if not fitting:
        raise Rejected(f"wrong code for lock {lock_id}; ask the user for a code of this lock")
    if fitting[0]["valid_until"] is not None and fitting[0]["valid_until"] < ctx.today:
        raise Rejected(
            f"this code of lock {lock_id} was valid until {fitting[0]['valid_until']}; use one that is still valid"
        )
    rules.disarmed(row, "unlocking")
    ctx.update(Device, lock_id, state="unlocked")
    ctx.update(AccessCode, fitting[0]["id"], last_used_on=ctx.today)
    return {"lock_id": lock_id, "state": "unlocked"}


class AccessCodeItem(TypedDict):
    """A code of a lock; its digits are never shown. Without `valid_until` it is permanent."""

    access_code_id: AccessCodeId
    holder: str
    status: Literal["active", "expired"]
    valid_until: str | None
    last_used_on: str | None


class AccessCodeList(TypedDict):
    """The codes of a lock."""

    access_codes: list[AccessCodeItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the access codes of {lock_id}",
        "show me who has a code for {lock_id}",
        "check which codes open {lock_id}",
        "look up the keypad codes of {lock_id}",
        "find out whose codes still open {lock_id}",
    ],
    brief=[
        "list the access codes of a lock",
        "show me who has a code for one of the doors",
    ],
)
def list_access_codes(ctx: Context, lock_id: Annotated[LockId, "Lock that the codes open"]) -> AccessCodeList:
    """List the access codes of a lock by holder, expired ones included. The digits are not shown."""
    rules.device(ctx, lock_id, "lock")
    return {
        "access_codes": [
            {
                "access_code_id": row["id"],
                "holder": row["holder"],
                "status": "expired" if row["valid_until"] and row["valid_until"] < ctx.today else "active",
                "valid_until": row["valid_until"],
                "last_used_on": row["last_used_on"],
            }
            for row in ctx.rows(_CODES, lock=lock_id)
        ]
    }


class CreatedAccessCode(TypedDict):
    """A code just saved in a lock."""

    access_code_id: AccessCodeId
    holder: str
    valid_until: str | None


@server.tool(
    phrases=[
        "create the access code {access_code} on {lock_id} for {holder}[, valid until {valid_until}]",
        "give {holder} the code {access_code} for {lock_id}[ through {valid_until}]",
        "add code {access_code} to {lock_id}, holder {holder}[, ending on {valid_until}]",
        "set up {lock_id} so that {holder} can open it with {access_code}[ until {valid_until}]",
        "save {access_code} in {lock_id} as a new code under the name {holder}[, expiring on {valid_until}]",
    ],
    brief=[
        "add an access code to a lock",
        "give {holder} a code for {lock_id}[ through {valid_until}]",
        "save the new code {access_code} under the name {holder}",
    ],
)
def create_access_code(
    ctx: Context,
    lock_id: Annotated[LockId, "Lock that the code will open"],
    holder: Annotated[Annotated[Text, Field(max_length=40, examples=list(words.HOLDERS))], "Who will use the code"],
    access_code: Annotated[NewCode, "Six to eight digits that the user chose"],
    valid_until: Annotated[IsoDate | None, "Last day it opens the lock; permanent if left out"] = None,
) -> CreatedAccessCode:
    """Save a new access code in a lock. Codes that end need the lock's newest firmware; a lock keeps 8 codes."""
    row = rules.online_device(ctx, lock_id, "lock")
    if valid_until is not None and valid_until < ctx.today:
        raise Rejected(f"{valid_until} is past; a code must be valid today ({ctx.today}) or longer")
    if valid_until is not None and row["firmware"] != row["newest_firmware"]:
        raise Rejected(
            f"lock {lock_id} runs firmware {row['firmware']}; codes that end need {row['newest_firmware']}: "
            "update_device_firmware first, or leave out valid_until"
        )
    if len(set(access_code)) == 1 or access_code in "0123456789" or access_code in "9876543210":
        raise Rejected(f"code {access_code} is too easy to guess; avoid one repeated digit and digits in a row")
    held = ctx.rows(_CODES, lock=lock_id)
    if len(held) >= MOST_CODES:
        raise Rejected(f"lock {lock_id} keeps {MOST_CODES} codes and all are taken; delete_access_code frees one")
    if any(other["code"] == access_code for other in held):
        raise Rejected(f"lock {lock_id} has a code with these digits already; choose others")
    if any(other["holder"].casefold() == holder.casefold() for other in held):
        raise Rejected(f"{holder!r} has a code for lock {lock_id} already; delete it first, or name another holder")
    created = ctx.insert(
        AccessCode, lock_id=lock_id, holder=holder, code=access_code, valid_until=valid_until, last_used_on=None
    )
    return {"access_code_id": created["id"], "holder": holder, "valid_until": valid_until}


class DeletedAccessCode(TypedDict):
    """The code that is gone, and how many the lock still keeps."""

    access_code_id: AccessCodeId
    lock_id: LockId
    codes_left: int


@server.tool(
    destructive=True,
    phrases=[
        "delete {access_code_id}",
        "remove {access_code_id} from its lock",
        "revoke {access_code_id}",
        "make sure {access_code_id} no longer opens the door",
        "take {access_code_id} off the lock for good",
    ],
    brief=[
        "delete an access code",
        "revoke one of the access codes",
    ],
)
def delete_access_code(ctx: Context, access_code_id: Annotated[AccessCodeId, "Code to delete"]) -> DeletedAccessCode:
    """Delete an access code from its lock for good. A lock keeps at least one permanent code."""
    code = ctx.get(AccessCode, access_code_id, "list_access_codes names the codes of a lock")
    rules.online(rules.any_device(ctx, code["lock_id"]))
    held = ctx.rows(_CODES, lock=code["lock_id"])
    if [row["id"] for row in held if row["valid_until"] is None] == [access_code_id]:
        raise Rejected(
            f"{access_code_id} is the last permanent code of lock {code['lock_id']}; create another one first"
        )
    ctx.execute(_DELETE, access_code=access_code_id)
    return {"access_code_id": access_code_id, "lock_id": code["lock_id"], "codes_left": len(held) - 1}


class CodeOfLock(TypedDict):
    """What someone who may come in knows by heart."""

    access_code: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_access_code(ctx: Context, lock_id: Annotated[LockId, "Lock that the code opens"]) -> CodeOfLock:
    """A valid code of a lock, for writing what its holder would say."""
    rules.device(ctx, lock_id, "lock")
    return {"access_code": ctx.scalar(_VALID_CODE, lock=lock_id, today=ctx.today)}
