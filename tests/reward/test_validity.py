"""The three levels of a call's validity and what counts as a compatible JSON type."""

import pytest

from proverl.core import Call, CallRecord, ErrorCode, MalformedCall, Result, Tool
from proverl.reward.validity import call_validity, compatible, validity

PAY = Tool(
    "pay",
    "",
    {
        "type": "object",
        "properties": {
            "amount": {"type": "number"},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
            "note": {"type": "string"},
        },
        "required": ["amount", "mode"],
    },
    {},
)
TOOLS = {"pay": PAY}


def record(name, arguments, code=None):
    return CallRecord(Call(name, arguments), Result(None, code), 0, 0)


@pytest.mark.parametrize(
    ("made", "level"),
    [
        (record("pay", {"amount": 1, "mode": "fast"}), 3),
        (record("pay", {"amount": 1, "mode": "fast"}, ErrorCode.REJECTED), 2),
        (record("pay", {"amount": 1, "mode": "warp"}, ErrorCode.INVALID_ARGUMENTS), 2),  # an enum is no type
        (record("pay", {"amount": 1, "mode": "fast", "what": 1}), 3),  # unknown parameters do not lower the level
        (
            record("pay", {"amount": 1, "mode": "fast", "note": 1}, ErrorCode.INVALID_ARGUMENTS),
            2,
        ),  # nor do optional ones
        (record("pay", {"amount": 1}, ErrorCode.INVALID_ARGUMENTS), 1),
        (record("pay", {"amount": "1", "mode": "fast"}), 1),  # the levels are climbed in order
        (record("fly", {"amount": 1, "mode": "fast"}), 0),
        (CallRecord(MalformedCall("pay(", "no JSON"), Result(), 0, 0), 0),
    ],
)
def test_levels(made, level):
    assert call_validity(made, TOOLS) == pytest.approx(level / 3)


def test_mean_over_calls():
    good, bad = record("pay", {"amount": 1, "mode": "fast"}), record("fly", {})
    assert validity([good, good, bad, bad], TOOLS) == 0.5
    assert validity([], TOOLS) == 0


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (1, {"type": "integer"}, True),
        (1.0, {"type": "integer"}, True),
        (1.5, {"type": "integer"}, False),
        (True, {"type": "integer"}, False),
        (1, {"type": "boolean"}, False),
        (False, {"type": "boolean"}, True),
        (1, {"type": "number"}, True),
        (True, {"type": "number"}, False),
        ("1", {"type": "number"}, False),
        (None, {"type": "null"}, True),
        (None, {"type": "string"}, False),
        ("x", {"type": ["string", "null"]}, True),
        (1, {"type": ["string", "null"]}, False),
        (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
        (1, {"oneOf": [{"type": "string"}, {"type": "integer"}]}, True),
        (1, {"allOf": [{"type": "integer"}, {"type": "string"}]}, False),
        ([1, 2], {"type": "array", "items": {"type": "integer"}}, True),
        ([1, "2"], {"type": "array", "items": {"type": "integer"}}, False),
        ({"a": 1}, {"type": "object", "properties": {"a": {"type": "integer"}}}, True),
        ({"a": "1"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, False),
        ({"b": "1"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, True),
        ({"a": 1}, {"type": "array"}, False),
        ("x", {}, True),
        ("x", True, True),
        ("x", False, False),
        ("warp", {"type": "string", "enum": ["fast"], "maxLength": 1}, True),
        (1, {"$ref": "#/$defs/Money"}, True),
        ("1", {"$ref": "#/$defs/Money"}, False),
        ("1", {"$ref": "#/$defs/Nothing"}, True),
    ],
)
def test_compatible_types(value, schema, fits):
    assert compatible(value, schema, {"$defs": {"Money": {"type": "number"}}}) is fits
