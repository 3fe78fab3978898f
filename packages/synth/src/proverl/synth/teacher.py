"""The scripted teacher: writes what the user says, in varied plain English, from the servers' phrasings. No model."""

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from proverl.core import Tool
from proverl.envs import load_server
from proverl.synth.chain import Argument, ChainStep
from proverl.synth.schema import plain
from proverl.synth.values import say

PERSONAS: dict[str, tuple[str, ...]] = {
    "plain": ("{P}.", "Please {p}.", "{P}, please."),
    "polite": ("Could you {p}?", "Would you please {p}?", "I'd like you to {p}, please.", "Can you {p} for me?"),
    "brisk": ("{P}.", "I need you to {p}.", "Quick one: {p}."),
    "chatty": ("Hi! Could you {p}?", "Hey, can you {p}?", "Hello, I'd love it if you could {p}."),
}
_OPENERS = (
    "Now {p}.",
    "Next, {p}.",
    "Thanks. Now {p}.",
    "Great, {p}.",
    "Then {p}.",
    "After that, please {p}.",
    "Also, {p}.",
)
_JOINS = (", then ", " and then ", ", and after that ", "; then ")

UNRELATED = (
    "What's the capital of Australia?",
    "Who wrote Pride and Prejudice?",
    "Can you tell me a joke about penguins?",
    "What is 17 times 23?",
    "How do I get a red wine stain out of a shirt?",
    "Explain in one sentence why the sky is blue.",
    "What's a good name for a ginger cat?",
    "How long should I boil an egg?",
    "Which planet has the most moons?",
    "Write me a two-line poem about autumn.",
    "What does 'ubiquitous' mean?",
    "Who won the battle of Hastings?",
    "Is a tomato a fruit or a vegetable?",
    "How many bones does an adult human have?",
    "Give me a word that rhymes with orange.",
    "What's the difference between a llama and an alpaca?",
)


def ask(steps: Sequence[ChainStep], persona: str, first: bool, rng: Random) -> str:
    """One user turn that asks for these steps in order."""
    parts = [phrase(step, rng) for step in steps]
    text = parts[0]
    for part in parts[1:]:
        text += rng.choice(_JOINS) + part
    frame = rng.choice(PERSONAS[persona] if first or rng.random() < 0.4 else _OPENERS)
    return frame.replace("{P}", text[:1].upper() + text[1:]).replace("{p}", text)


def phrase(step: ChainStep, rng: Random) -> str:
    """A step's phrase with every slot said."""
    properties = step.tool.parameters["properties"]

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        return _say(step.tool, properties[name], step.arguments[name], rng)

    return re.sub(r"\{(\w+)\}", fill, step.phrase).strip()


def _say(tool: Tool, schema: dict[str, Any], argument: Argument, rng: Random) -> str:
    entity = argument.entity
    if entity is None or argument.said == "value":
        free_text = entity is None and "examples" in plain(schema) and plain(schema).get("type") == "string"
        return say(argument.value, quoted=free_text and " " in str(argument.value))
    noun = load_server(tool.server).nouns.get(entity.split(".")[-1], "one")
    if argument.said == "same":
        return f"the same {noun}" if rng.random() < 0.3 else say(argument.value, quoted=False)
    return (
        f"the first {noun}"
        if argument.said == "first"
        else rng.choice((f"that {noun}", f"that {noun}", f"this {noun}"))
    )
