"""The executables of one entry, run by the package, and its checker."""

from copy import deepcopy
from itertools import count
from typing import Any

from proverl.core import Json
from proverl.evals.benchmark import Score
from proverl.evals.bfcl import package
from proverl.evals.bfcl.calls import REFUSED, decoded, refusal
from proverl.evals.bfcl.entries import UNPASSABLE, Entry

_NUMBERS = count()


def _fresh_name() -> str:
    """A model name: the package keeps every world under it for good, in variables that it writes into code."""
    return f"proverl{next(_NUMBERS)}"


class World:
    """One entry being played, step by step."""

    def __init__(self, entry: Entry, prompting: bool) -> None:
        self._entry, self._prompting, self._model = entry, prompting, _fresh_name()

    def turns(self) -> list[dict[str, Any]]:
        """Of every turn the messages that open it, and the tools where they are new; with prompting messages only."""
        functions, added = self._entry.functions()
        turns = []
        for number, messages in enumerate(deepcopy(self._entry.raw["question"])):
            new = added.get(str(number), [])
            if new:
                messages = [{"role": "user", "content": self._announcement(new)}]
            if self._prompting and number == 0:
                messages = package.decoding.system_prompt_pre_processing_chat_model(messages, functions, self._entry.id)
            functions = functions + new
            shown = number == 0 or (new and not self._prompting)
            tools = _tools([] if self._prompting else functions) if shown else None
            turns.append({"messages": messages, "tools": tools})
        return turns

    def _announcement(self, new: list[dict[str, Any]]) -> str:
        if self._prompting:
            return package.prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING.format(functions=new)
        return package.prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC

    def step(self, written: Json) -> list[str] | None:
        """Run the calls of a step; the messages that tell their results, or None when there is no call to run."""
        calls = decoded(written, self._prompting)
        if not calls:
            return None
        refusals = [refusal(call, self._entry.names) for call in calls]
        results, _ = package.execution.execute_multi_turn_func_call(
            [REFUSED if refused else call for call, refused in zip(calls, refusals, strict=True)],
            self._entry.raw["initial_config"],
            self._entry.classes,
            self._model,
            self._entry.id,
            self._entry.long_context,
        )
        told = [f"Error during execution: {why}" if why else text for text, why in zip(results, refusals, strict=True)]
        if self._prompting:
            response = {"model_responses_decoded": calls}
            return [package.decoding.format_execution_results_prompting({}, told, response)]
        return told


def _tools(functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Functions as the package hands them to endpoints of OpenAI's kind."""
    style = package.ModelStyle.OPENAI_COMPLETIONS
    return [tool["function"] for tool in package.decoding.convert_to_tool(functions, package.GORILLA_TO_OPENAPI, style)]


def score(entry: Entry, answer: Any) -> Score:
    """The package's verdict on an answer, and what it does not look at."""
    turns = answer["result"] if isinstance(answer["result"], list) else []
    steps = [[decoded(step, answer["prompting"]) for step in turn] if isinstance(turn, list) else [] for turn in turns]
    calls = [[step for step in turn if step] for turn in steps]
    wrong = _fault(entry, answer["result"], calls, answer["ended"])
    figures = {"accuracy": float(not wrong)}
    if entry.id not in UNPASSABLE:
        figures["accuracy_passable"] = figures["accuracy"]
    said = [*calls, *([] for _ in entry.expected)]  # turns that were not reached have no call
    idle = [sum(map(len, turn)) for turn, expected in zip(said, entry.expected, strict=False) if not expected]
    if idle:
        figures["restraint"] = sum(not number for number in idle) / len(idle)
        figures["spurious_calls"] = float(sum(idle))
    every = [call for turn in calls for step in turn for call in step]
    figures["calls"] = float(len(every))
    figures["unknown_calls"] = float(sum(call.partition("(")[0].strip() not in entry.names for call in every))
    figures["forced_quit"] = float(any(len(turn) > package.prompts.MAXIMUM_STEP_LIMIT for turn in calls))
    return Score(figures, wrong)


def _fault(entry: Entry, turns: Any, calls: list[list[list[str]]], ended: str) -> str:
    """What is wrong with the calls of every turn and step; empty when nothing is."""
    if not isinstance(turns, list):
        return f"inference_error: {str(turns)[:200]}"
    if ended:
        return f"ended in turn {len(turns) - 1}: {ended}"
    if len(turns) != len(entry.expected):
        return f"force_terminated: {len(turns)} of {len(entry.expected)} turns"
    names = entry.names
    safe = [[[REFUSED if refusal(call, names) else call for call in step] for step in turn] for turn in calls]
    verdict = package.checker.multi_turn_checker(safe, entry.expected, entry.raw, entry.category, _fresh_name())
    if verdict["valid"]:
        return ""
    told = f"{verdict['error_type'].removeprefix('multi_turn:')}: {verdict['error_message']}"
    return told if "turn " in told else f"{told} (turn {len(verdict['execution_result']) - 1})"
