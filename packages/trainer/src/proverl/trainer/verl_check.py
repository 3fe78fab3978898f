"""Whether verl takes what a user overrides, said before anything starts.

    python -m proverl.trainer.verl_check < QUESTION      # JSON in, a JSON list of sentences out

verl is asked in a process of its own: importing it takes 10 s of a core and ties torch to one thread. So it is asked
only where there are overrides; the rest of the config is ours, and tests hold it against verl. What verl finds out only
with the model or on a GPU is not looked at.
"""

import json
import math
import subprocess
import sys
import traceback
from collections.abc import Mapping
from difflib import get_close_matches
from textwrap import shorten
from typing import Any, get_type_hints

from omegaconf import DictConfig, OmegaConf

from proverl.trainer.verl_config import override, settings_of, validate

_LONGEST = 300  # characters told of what verl says
_NAMES: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a group of settings",
}


def verl_problems(config: DictConfig, overrides: Mapping[str, Any], place: str) -> list[str]:
    """One sentence for each of the user's overrides that verl would fail at; `place` is the key they stand under.

    `config` is what they are applied to: verl's config of GRPO or of SFT.
    """
    from proverl.trainer.train import environment

    if not overrides:
        return []
    question = json.dumps([OmegaConf.to_container(config), overrides, place])
    command = [sys.executable, "-m", "proverl.trainer.verl_check"]
    asked = subprocess.run(command, input=question, capture_output=True, text=True, env=environment(gpu=False))
    if asked.returncode:
        said = asked.stderr.strip().splitlines() or [f"code {asked.returncode}"]
        return [f"{place} can't be checked, since verl can't be asked ({said[-1]})"]
    told: list[str] = json.loads(asked.stdout.splitlines()[-1])
    return told


def problems(config: DictConfig, overrides: Mapping[str, Any], place: str) -> list[str]:
    """The same, in a process that may import verl."""
    settings = settings_of(config, overrides)
    told = [text for key, value in settings.items() if (text := _problem(config, key, value, place))]
    if told:
        return told
    refusal = _refusal(_with(config, settings, place))
    if not refusal:
        return []
    others = {key: {name: settings[name] for name in settings if name != key} for key in settings}
    guilty = [key for key, rest in others.items() if not _refusal(_with(config, rest, place))]
    blamed = ", ".join(f"{key} to {settings[key]!r}" for key in guilty or settings)
    return [f"{place} sets {blamed}, which verl refuses: {refusal}"]


def _problem(config: DictConfig, key: str, value: Any, place: str) -> str:
    """What is wrong with one setting by itself: its name or its type."""
    try:
        override(config.copy(), key, value, place)
        right = _right_type(config, key.removeprefix("+").split("."), value)
    except ValueError as error:
        return str(error) if str(error).startswith(place) else f"{place}: {error}"
    return f"{place} sets {key} to {value!r}; it must be {right}" if right else ""


def _with(config: DictConfig, settings: Mapping[str, Any], place: str) -> DictConfig:
    changed = config.copy()
    for key, value in settings.items():
        override(changed, key, value, place)
    return changed


def _right_type(config: DictConfig, path: list[str], value: Any) -> str:
    """What a value must be, or "" when it is: by the field of verl's dataclass, else by the value that it replaces.

    Raises ValueError for a field that the dataclass lacks.
    """
    from hydra.utils import get_class

    if isinstance(value, float) and math.isnan(value):
        return _NAMES[float]
    now = OmegaConf.to_container(config, resolve=True)
    group: Any = {}
    for name in path:
        group, now = now, now.get(name) if isinstance(now, dict) else None
    by_value = "" if now is None or _is(type(now), value) else _NAMES[type(now)]
    if not (isinstance(group, dict) and "_target_" in group):
        return by_value
    kind = get_class(group["_target_"])
    hints = get_type_hints(kind)
    if path[-1] not in hints and path[-1] not in group:
        near = get_close_matches(path[-1], hints, n=1)
        raise ValueError(
            f"{'.'.join(path)} is no setting of verl's {kind.__name__}" + (f"; did you mean {near[0]}?" if near else "")
        )
    hint = hints.get(path[-1], Any)
    if isinstance(now, dict) or not _is(hint, now):  # a group, or verl's own default is of another type than it says
        return by_value
    return "" if _is(hint, value) else _NAMES.get(hint, str(hint).replace("typing.", ""))


def _is(hint: Any, value: Any) -> bool:
    """Whether a value of YAML is of a type: numbers are no texts, true is no number, lists are tuples."""
    from pydantic import TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    try:
        TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
    except ValidationError:
        return False
    except PydanticUserError:  # a type that only verl knows
        return True
    return True


def _refusal(config: DictConfig) -> str:
    """What verl says against a config, in one line, or ""."""
    try:
        if "actor_rollout_ref" in config:
            _try_grpo(config)
        else:
            _try_sft(config)
    except Exception as error:  # whatever verl and what it calls raise
        return _said(error)
    return ""


def _try_grpo(config: DictConfig) -> None:
    """Make of the config what verl's workers make of it, without a model."""
    import torch
    from verl.trainer.ppo import core_algos
    from verl.trainer.ppo.v1 import get_trainer_cls
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.engine import EngineRegistry
    from verl.workers.rollout.replica import RolloutReplicaRegistry

    validate(config)
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    rollout = omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
    algorithm = omega_conf_to_dataclass(config.algorithm)
    get_trainer_cls(config.trainer.v1.trainer_mode)
    core_algos.get_policy_loss_fn(actor.policy_loss.loss_mode)
    core_algos.get_adv_estimator_fn(algorithm.adv_estimator)
    core_algos.get_kl_controller(algorithm.kl_ctrl)
    for kind in (actor.kl_loss_type, algorithm.kl_penalty):
        core_algos.kl_penalty(torch.zeros(1), torch.zeros(1), kind)
    _is_one_of("rollout.name", rollout.name, RolloutReplicaRegistry._registry)
    if actor.strategy != "megatron":
        _is_one_of("actor.strategy", actor.strategy, EngineRegistry._engines["language_model"])
        _try_engine(actor.engine, actor.optim)


def _try_sft(config: DictConfig) -> None:
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.engine import EngineRegistry

    parts = [omega_conf_to_dataclass(config[name]) for name in ("engine", "optim", "checkpoint", "profiler")]
    _is_one_of("engine.strategy", config.engine.strategy, EngineRegistry._engines["language_model"])
    _try_engine(*parts[:2])


def _try_engine(engine: Any, optim: Any) -> None:
    import torch
    from verl.utils.torch_dtypes import PrecisionType
    from verl.workers.config.optimizer import build_optimizer

    build_optimizer([torch.nn.Parameter(torch.zeros(1))], optim)
    for dtype in (engine.mixed_precision or {}).values():
        PrecisionType.to_dtype(dtype)


def _is_one_of(name: str, value: str, known: Mapping[str, Any]) -> None:
    if value not in known:
        raise ValueError(f"{name} is one of {', '.join(known)}")


def _said(error: BaseException) -> str:
    while error.__cause__ is not None:  # Hydra wraps what verl's classes raise
        error = error.__cause__
    text = str(error).strip() or traceback.extract_tb(error.__traceback__)[-1].line or type(error).__name__
    return shorten(text, _LONGEST)


if __name__ == "__main__":
    base, changes, where = json.load(sys.stdin)
    import verl  # noqa: F401  (runs `compat`, which must come before verl's modules ask for their device)

    print("\n" + json.dumps(problems(OmegaConf.create(base), changes, where)))
