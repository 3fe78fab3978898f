"""Which user turn asks for which steps of a chain, and what each leaves out (paper, Synthesis 3 and 4)."""

import re
from collections.abc import Sequence
from random import Random

from proverl.envs import load_server, phrase_slots
from proverl.synth.chains.chain import Chain, ChainStep
from proverl.synth.config import SynthConfig
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.scene import Ask, Information, Vague


def draw_information(config: SynthConfig, rng: Random) -> Information:
    """How much the conversation's query tells at once."""
    return rng.choices(list(Information), config.information)[0]


def plan(chain: Chain, information: Information, unrelated: str, config: SynthConfig, rng: Random) -> list[Ask]:
    """Split a chain into user turns; their number decays from the least (paper, Synthesis 3).

    A request of little information, something refused that is given up and an `unrelated` question are turns of their
    own. Raises Unproven when the chain has no step that can be asked for with so little.
    """
    abandoned = [index for index, step in enumerate(chain.steps) if step.refused and step.refused.kind == "give_up"]
    extra = (information != Information.COMPLETE) + len(abandoned) + bool(unrelated)
    low, high = config.user_turns
    count = low
    while count < high and rng.random() < config.turn_decay:
        count += 1
    groups = _groups(chain.steps, max(count - extra, 1), abandoned, rng)
    asks = [ask for group in groups for ask in _asks(group)]
    if information != Information.COMPLETE:
        asks = _leave_out(chain, asks, information, rng)
    if unrelated:
        allowed = [place for place in range(len(asks) + 1) if place == 0 or not asks[place - 1].vague]
        asks.insert(rng.choice(allowed), Ask(unrelated=unrelated))
    if len(asks) > high:
        raise Unproven(Reason.LIMITS, f"{len(asks)} user turns, over synth.user_turns")
    return asks


def _groups(steps: Sequence[ChainStep], count: int, cuts: Sequence[int], rng: Random) -> list[Sequence[ChainStep]]:
    """Consecutive groups, cut at the given places and at others."""
    fixed = {cut for cut in cuts if cut > 0}
    free = [place for place in range(1, len(steps)) if place not in fixed]
    more = min(max(count - 1 - len(fixed), 0), len(free))
    places = sorted(fixed | set(rng.sample(free, more)))
    return [steps[start:end] for start, end in zip([0, *places], [*places, len(steps)], strict=True)]


def _asks(group: Sequence[ChainStep]) -> list[Ask]:
    refused = group[0].refused
    ask = Ask(steps=tuple(group))
    return [Ask(refused=refused), ask] if refused and refused.kind == "give_up" else [ask]


def _leave_out(chain: Chain, asks: list[Ask], information: Information, rng: Random) -> list[Ask]:
    """Put a vague turn before one that it can stand for."""
    brief = load_server(chain.server).brief
    options = [
        (place, vague)
        for place, ask in enumerate(asks)
        if ask.steps and not ask.steps[0].again and not ask.steps[0].refused
        for phrase in brief[ask.steps[0].tool.name]
        if (vague := _vague(ask.steps[0], phrase, information))
    ]
    if not options:
        raise Unproven(Reason.UNSAYABLE, f"no {information} query")
    place, vague = rng.choice(options)
    return [*asks[:place], Ask(vague=vague), *asks[place:]]


def _vague(step: ChainStep, phrase: str, information: Information) -> Vague | None:
    """The brief phrase as a request of this step with so little information, if it is one."""
    known = step.arguments.keys()
    phrase = re.sub(r"\[(.*?)\]", lambda part: part[1] if phrase_slots(part[1]) <= known else "", phrase)
    said = phrase_slots(phrase)
    if information == Information.MINIMAL:
        return None if said else Vague(step, phrase, information)
    missing = set(step.arguments) - said
    if len(missing) != 1 or not said <= step.arguments.keys():
        return None
    (withheld,) = missing
    argument = step.arguments[withheld]
    if withheld not in step.tool.required or argument.origin or argument.derived or isinstance(argument.value, list):
        return None
    return Vague(step, phrase, information, withheld)
