"""The state machine that makes a conversation: query, turn, execution, response, continuation (paper, Synthesis 3).

TRANSITIONS is all there is to know about it: what may happen in a state, and which state follows. A teacher writes and
acts, a live session executes, and the scene records.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import StrEnum

from proverl.agent import Reply
from proverl.core import Call
from proverl.envs import Session
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.scene import Attempt, MalformedReply, Scene, Teacher

_REGENERATIONS = 3  # malformed replies in a row before the row is given up
_CALLS = 24  # of one conversation; a teacher that wanders is stopped


class State(StrEnum):
    """Where a conversation is."""

    QUERY = "query"  # the user's turn is to be written
    TURN = "turn"  # the assistant's next message is to come
    EXECUTION = "execution"  # its calls are to be run
    RECOVERY = "recovery"  # something was refused, the assistant decides what next
    RESPONSE = "response"  # its text ends the turn
    CONTINUATION = "continuation"  # does the user say more
    DONE = "done"
    DROPPED = "dropped"


class Event(StrEnum):
    """What happened in a state."""

    WRITTEN = "written"
    MALFORMED = "malformed"  # the teacher's reply could not be used; it is asked again
    EXHAUSTED = "exhausted"  # too many of these, or too many calls
    CALLS = "calls"
    TEXT = "text"
    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"  # some of the calls of one message were refused
    FAILURE = "failure"
    CORRECTED = "corrected"  # the same tool with other arguments
    ALTERNATIVE = "alternative"  # another tool
    GIVE_UP = "give_up"  # an explanation
    ANSWERED = "answered"
    FOLLOW_UP = "follow_up"
    CLARIFICATION = "clarification"  # the user tells what was left out
    END = "end"


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.QUERY, Event.WRITTEN): State.TURN,
    (State.QUERY, Event.MALFORMED): State.QUERY,
    (State.QUERY, Event.EXHAUSTED): State.DROPPED,
    (State.TURN, Event.CALLS): State.EXECUTION,
    (State.TURN, Event.TEXT): State.RESPONSE,
    (State.TURN, Event.MALFORMED): State.TURN,
    (State.TURN, Event.EXHAUSTED): State.DROPPED,
    (State.EXECUTION, Event.SUCCESS): State.TURN,
    (State.EXECUTION, Event.PARTIAL_SUCCESS): State.RECOVERY,
    (State.EXECUTION, Event.FAILURE): State.RECOVERY,
    (State.EXECUTION, Event.EXHAUSTED): State.DROPPED,
    (State.RECOVERY, Event.CORRECTED): State.EXECUTION,
    (State.RECOVERY, Event.ALTERNATIVE): State.EXECUTION,
    (State.RECOVERY, Event.GIVE_UP): State.RESPONSE,
    (State.RECOVERY, Event.MALFORMED): State.RECOVERY,
    (State.RECOVERY, Event.EXHAUSTED): State.DROPPED,
    (State.RESPONSE, Event.ANSWERED): State.CONTINUATION,
    (State.CONTINUATION, Event.FOLLOW_UP): State.QUERY,
    (State.CONTINUATION, Event.CLARIFICATION): State.QUERY,
    (State.CONTINUATION, Event.END): State.DONE,
}


class Conversation:
    """One run of the machine. `path` keeps what happened, for tests and for whoever wonders."""

    def __init__(self, scene: Scene, session: Session, teacher: Teacher) -> None:
        self.scene, self.session, self.teacher = scene, session, teacher
        self.path: list[tuple[State, Event]] = []
        self._malformed: list[str] = []  # reasons, since the last usable reply
        self._reply = Reply("")
        self._handlers: dict[State, Callable[[], Awaitable[Event]]] = {
            State.QUERY: self._query,
            State.TURN: self._turn,
            State.EXECUTION: self._execute,
            State.RECOVERY: self._recover,
            State.RESPONSE: self._respond,
            State.CONTINUATION: self._continue,
        }

    async def run(self) -> None:
        """Fill the scene until it is done. Raises Unproven when the teacher gives no usable reply or calls too much."""
        state = State.QUERY
        self.scene.turn = 0
        while state not in (State.DONE, State.DROPPED):
            event = await self._handlers[state]()
            self.path.append((state, event))
            state = TRANSITIONS[state, event]
        if state == State.DROPPED:
            raise Unproven(Reason.TEACHER, self._malformed[-1] if self._malformed else f"more than {_CALLS} calls")

    async def _query(self) -> Event:
        try:
            text = await self.teacher.query(self.scene)
        except MalformedReply as error:
            return self._again(error)
        self._malformed.clear()
        self.scene.messages.append({"role": "user", "content": text})
        return Event.WRITTEN

    def _again(self, error: MalformedReply) -> Event:
        self._malformed.append(str(error))
        return Event.EXHAUSTED if len(self._malformed) > _REGENERATIONS else Event.MALFORMED

    async def _turn(self) -> Event:
        try:
            self._reply = await self.teacher.act(self.scene)
        except MalformedReply as error:
            return self._again(error)
        self._malformed.clear()
        return Event.CALLS if self._reply.calls else Event.TEXT

    async def _recover(self) -> Event:
        failed = {attempt.call.name for attempt in self.scene.attempts if not attempt.result.ok}
        event = await self._turn()
        if event not in (Event.CALLS, Event.TEXT):
            return event
        if event == Event.TEXT:
            return Event.GIVE_UP
        named = {call.name for call in self._reply.calls if isinstance(call, Call)}
        return Event.CORRECTED if named & failed else Event.ALTERNATIVE

    async def _execute(self) -> Event:
        first = len(self.scene.attempts)
        calls = [call for call in self._reply.calls if isinstance(call, Call)]
        if first + len(calls) > _CALLS:
            return Event.EXHAUSTED
        calls = [replace(call, id=f"call_{first + place}") for place, call in enumerate(calls)]
        self.scene.messages.append({"role": "assistant", "content": self._reply.text, "tool_calls": _asked(calls)})
        for call in calls:
            result = await self.session.execute(call)
            self.scene.attempts.append(Attempt(call, result, self.scene.turn))
            self.scene.messages.append(
                {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result.text()}
            )
        done = [attempt.result.ok for attempt in self.scene.attempts[first:]]
        return Event.SUCCESS if all(done) else Event.PARTIAL_SUCCESS if any(done) else Event.FAILURE

    async def _respond(self) -> Event:
        self.scene.messages.append({"role": "assistant", "content": self._reply.text})
        return Event.ANSWERED

    async def _continue(self) -> Event:
        if self.scene.turn + 1 == len(self.scene.asks):
            return Event.END
        vague = self.scene.ask.vague
        self.scene.turn += 1
        return Event.CLARIFICATION if vague else Event.FOLLOW_UP


def _asked(calls: list[Call]) -> list[dict[str, object]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
