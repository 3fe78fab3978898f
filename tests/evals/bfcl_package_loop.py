"""The package's own inference loop and evaluation over given replies: JSON in on standard input, JSON out at a path.

In: {"prompting", "scripts": {entry id: replies}}; a reply is a text, or a list of [name, arguments as JSON text].
Out: {entry id: {"result", "valid", "told": texts of the results of calls}}.
"""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

# lists a hundred models, whose clients it imports
listed = ModuleType("bfcl_eval.constants.model_config")
listed.MODEL_CONFIG_MAPPING = {}
sys.modules[listed.__name__] = listed

from bfcl_eval.eval_checker.eval_runner import _evaluate_single_multi_turn_entry  # noqa: E402
from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler  # noqa: E402
from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry  # noqa: E402


class Scripted(OpenAICompletionsHandler):
    """Says the replies in order, and nothing after the last."""

    def __init__(self, prompting, replies):
        super().__init__("scripted", 0, "scripted", not prompting)
        self.replies = list(replies)

    def _build_client_kwargs(self):
        return {"api_key": "none", "base_url": "http://127.0.0.1:9"}

    def _query(self, inference_data):
        said = self.replies.pop(0) if self.replies else ""
        calls = [] if isinstance(said, str) else said
        functions = [SimpleNamespace(name=name, arguments=arguments) for name, arguments in calls]
        message = SimpleNamespace(
            content=said if isinstance(said, str) else "",
            tool_calls=[SimpleNamespace(id=str(n), function=one) for n, one in enumerate(functions)] or None,
        )
        usage = SimpleNamespace(prompt_tokens=0, completion_tokens=0)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)], usage=usage), 0.0

    _query_FC = _query_prompting = _query


def told(metadata):
    """The results of calls in the order in which they came."""
    turns = [turn for turn in metadata["inference_log"] if isinstance(turn, dict)]
    steps = [step for turn in turns for name, step in turn.items() if name.startswith("step_")]
    return [line["content"] for step in steps for line in step if line["role"] == "tool"]


def main():
    asked = json.load(sys.stdin)
    done = {}
    for category in sorted({name.rsplit("_", 1)[0] for name in asked["scripts"]}):
        entries = load_dataset_entry(category)
        for entry, answer in zip(entries, load_ground_truth_entry(category), strict=True):
            name = entry["id"]
            if name not in asked["scripts"]:
                continue
            handler = Scripted(asked["prompting"], asked["scripts"][name])
            result, metadata = handler.inference(entry, False, True)
            verdict = _evaluate_single_multi_turn_entry(
                handler, name, result, answer["ground_truth"], entry, "scripted", category
            )
            done[name] = {"result": result, "valid": verdict["valid"], "told": told(metadata)}
    Path(sys.argv[1]).write_text(json.dumps(done))


main()
