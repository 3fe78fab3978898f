"""What a tool raises to refuse a call.

    Refusal
    ├── NotFound    a named entity does not exist
    └── Rejected    the state or the rules forbid the call

A refusal becomes a `Result` with a code; it never leaves `Session.call`. Everything else here raises ValueError.
"""

from proverl.core import ErrorCode


class Refusal(Exception):
    """A call refused by its tool; the message says what was wrong and what would be right."""

    code: ErrorCode


class NotFound(Refusal):
    """A named entity does not exist."""

    code = ErrorCode.NOT_FOUND


class Rejected(Refusal):
    """The entity exists, but its state or the rules forbid the call."""

    code = ErrorCode.REJECTED
