"""Evaluated episodes as one HTML page: a table of scores whose rows open into conversations. No scripts, no network."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template

from proverl.core import CallRecord, Episode, MalformedCall, Task, call_text, printable

PARTS = ("total", "validity", "coverage", "efficiency", "name", "arg")


def page(title: str, lead: str, evaluated: Iterable[tuple[Task, Episode, bool]]) -> str:
    """Return the page for (task, episode, success) triples; `episode.reward` holds the parts."""
    items = [_item(*one) for one in evaluated]
    return template(Path(__file__).with_name("episodes.html.j2")).render(
        title=title, lead=lead, parts=PARTS, items=items
    )


def template(path: Path) -> Template:
    """A page's template: what fills it is escaped and printable."""

    def shown(value: object) -> object:
        return printable(value) if type(value) is str else value  # markup is ours

    loader = FileSystemLoader(path.parent)
    return Environment(loader=loader, autoescape=True, trim_blocks=True, finalize=shown).get_template(path.name)


def _item(task: Task, episode: Episode, success: bool) -> dict[str, Any]:
    return {
        "task": task.id,
        "kind": task.kind.value.replace("_", " "),
        "success": success,
        "reward": dict(_scores(episode)),
        "calls": len(episode.calls),
        "stop": str(episode.stop),
        "error": episode.error,
        "expected": [call_text(step.name, step.arguments) for step in task.ground_truth.steps],
        "messages": list(_messages(episode)),
    }


def _scores(episode: Episode) -> Iterator[tuple[str, str]]:
    abstained = bool(episode.reward.get("abstention"))  # then the reward is 1 or 0 and has no parts
    for part in PARTS:
        yield part, "–" if abstained and part != "total" else f"{episode.reward.get(part, 0.0):.2f}"


def _messages(episode: Episode) -> Iterator[dict[str, Any]]:
    for position, message in enumerate(episode.messages):
        if message["role"] == "tool":
            continue  # shown with its call
        if text := message_text(message.get("content")):
            yield {"role": message["role"], "text": text}
        yield from (_call(record) for record in episode.calls if record.message == position)


def _call(record: CallRecord) -> dict[str, Any]:
    call = record.call
    malformed = isinstance(call, MalformedCall)
    text = f"{call.text}\n({call.reason})" if isinstance(call, MalformedCall) else call_text(call.name, call.arguments)
    return {"calls": text, "ok": record.result.ok and not malformed, "result": _pretty(record.result.text())}


def _pretty(text: str) -> str:
    value = json.loads(text)
    return json.dumps(value, indent=1, ensure_ascii=False) if len(text) > 100 else text


def message_text(content: Any) -> str:
    """The text of a message's content."""
    if isinstance(content, list):  # OpenAI's content parts
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")
