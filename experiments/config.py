"""The typed config: one frozen dataclass per Hydra group, most of them owned by the package that they configure.

`typed` turns what Hydra composed into these and reports, in one sentence each, every key that does not exist and every
value that does not fit, before anything expensive starts. Value rules stand in the dataclasses (`__post_init__`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal, get_args, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ConfigDict, GetPydanticSchema, InstanceOf, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass
from pydantic_core import CoreSchema, ErrorDetails, core_schema, to_jsonable_python

from proverl.agent.limits import Limits
from proverl.evals.benchmark import benchmark, known_settings
from proverl.evals.config import EvalsConfig, PolicyConfig, ProbeConfig
from proverl.reward import OwnReward, RewardConfig, reward_from
from proverl.synth.config import SynthConfig
from proverl.synth.teachers.config import TeacherConfig
from proverl.trainer.config import ModelConfig, TrainerConfig
from proverl.trainer.sft_config import SFTConfig

StageName = Literal["synth", "warmstart", "sft", "probe", "grpo", "evals", "report"]


class RunError(Exception):
    """A run can't start or go on; the message is for the user: one sentence per problem, with what would be right."""


class ConfigError(RunError):
    """What the user asked for can't be run as it is written."""


@dataclass(frozen=True)
class EnvsConfig:
    """The world of an episode: which servers, and how much an episode may use."""

    servers: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class TrackingConfig:
    """Where a run is recorded."""

    uri: str  # an MLflow tracking URI: sqlite:///..., http://...
    experiment: str  # MLflow's name for a group of runs
    episodes: int  # how many evaluated episodes are written out for reading, before and after
    rollouts: int  # how many episodes of each training step become MLflow traces

    def __post_init__(self) -> None:
        for name in ("episodes", "rollouts"):
            if getattr(self, name) < 0:
                raise ValueError(f"tracking.{name} is {getattr(self, name)}; it is at least 0")
        if not self.uri:
            raise ValueError("tracking.uri is empty; write sqlite:///PATH or http://HOST:PORT")
        if self.uri.startswith("file:"):
            raise ValueError(
                f"tracking.uri is {self.uri!r}, which MLflow refuses; write sqlite:///PATH or http://HOST:PORT"
            )


@dataclass(frozen=True)
class ProfileConfig:
    """The machine: what a run may use there, and what it is expected to cost."""

    name: str
    nodes: int
    gpus_per_node: int  # 0 trains on the CPU
    tensor_parallel: int  # GPUs that share one copy of the model while it samples
    startup_seconds: float  # from the command to the first training step
    step_seconds: float  # of one GRPO step; 0 reckons it
    sft_task_seconds: float  # of one demonstration in one epoch of supervised fine-tuning
    eval_task_seconds: float  # of one evaluated task
    synth_task_seconds: float  # of one synthesised task
    synth_processes: int  # that make tasks side by side
    ray: str  # address of a running Ray that makes them instead, and trains if there are GPUs; or empty
    warmstart_tokens_per_second: float
    price_per_hour: float  # of all its machines, in US dollars
    watts: float  # that all its machines draw at work, assumed; energy is reckoned with it, not measured
    gpu_memory_gib: float = 80  # of one GPU, as are the next two; an H100's, where a profile does not say
    gpu_tflops: float = 989  # dense bfloat16 peak, 10^12 operations a second
    gpu_bandwidth: float = 3.35  # of its memory, 10^12 bytes a second

    def __post_init__(self) -> None:
        for name, least in (("nodes", 1), ("gpus_per_node", 0), ("tensor_parallel", 1), ("synth_processes", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"profile.{name} is {getattr(self, name)}; it is at least {least}")
        if self.synth_processes > _MOST_PROCESSES:
            raise ValueError(f"profile.synth_processes is {self.synth_processes}; it is at most {_MOST_PROCESSES}")
        for item in fields(self):
            value, divides = getattr(self, item.name), item.name.startswith("gpu_") and self.gpus_per_node > 0
            if item.type is float and not (value > 0 or (value == 0 and not divides)):
                bound = "above 0 where there are GPUs, as in profile=h100x8" if divides else "at least 0"
                raise ValueError(f"profile.{item.name} is {value:g}; it is {bound}")
        if not self.warmstart_tokens_per_second:
            raise ValueError("profile.warmstart_tokens_per_second is 0; it is above 0")


_MOST_PROCESSES = 4096  # more than one machine has cores


def _reward_schema(source: Any, handler: Any) -> CoreSchema:
    """Check settings of the built-in reward as any group's; `_target_` among them names a user's class instead.

    A recorded config names it `target`.
    """

    def check(value: Any, usual: Any) -> Any:
        if isinstance(value, Mapping) and {"_target_", "target"} & value.keys():
            return reward_from(value)
        return value if isinstance(value, OwnReward) else usual(value)

    written = core_schema.plain_serializer_function_ser_schema(asdict)
    return core_schema.no_info_wrap_validator_function(check, handler(RewardConfig), serialization=written)


def _evals_schema(source: Any, handler: Any) -> CoreSchema:
    """Every key but those of EvalsConfig is a benchmark's name, with its settings."""

    def check(value: Any, usual: Any) -> Any:
        if not isinstance(value, Mapping):
            return usual(value)
        own = {key: value[key] for key in ("holdout_servers",) if key in value}
        benchmarks = {
            str(name): benchmark(str(name), settings if isinstance(settings, Mapping) else {})
            for name, settings in value.items()
            if name not in own
        }
        return usual(EvalsConfig(benchmarks, tuple(own.get("holdout_servers") or ())))

    return core_schema.no_info_wrap_validator_function(check, handler(InstanceOf[EvalsConfig]))


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class Config:
    """One run. `seed` and the groups decide its result; `plan`, `runs_dir` and `tracking` do not."""

    experiment: str  # the overlay's name
    seed: int
    stages: tuple[StageName, ...]
    plan: bool  # print what would run, and stop
    runs_dir: str
    model: ModelConfig
    envs: EnvsConfig
    synth: SynthConfig
    teacher: TeacherConfig
    reward: Annotated[RewardConfig | OwnReward, GetPydanticSchema(_reward_schema)]
    sft: SFTConfig
    trainer: TrainerConfig
    evals: Annotated[EvalsConfig, GetPydanticSchema(_evals_schema)]
    policy: PolicyConfig
    probe: ProbeConfig
    tracking: TrackingConfig
    profile: ProfileConfig

    def __post_init__(self) -> None:
        trained = [stage for stage in self.stages if stage in ("sft", "grpo")]
        if trained and self.policy.kind != "model":
            raise ValueError(f"policy is {self.policy.kind} but stages has {trained[0]}: what is trained is the model")
        for name, one in self.evals.benchmarks.items():
            if name == "heldout" and one.trials > 1 and self.policy.kind == "model" and not self.policy.temperature:
                raise ValueError(
                    f"evals.heldout.trials is {one.trials} but policy.temperature is 0, so all trials would be equal"
                )
        if not self.runs_dir:
            raise ValueError("runs_dir is empty; name a folder, e.g. runs")
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed is {self.seed}; it is at least 0 and less than {2**31}")


def typed(composed: DictConfig) -> Config:
    """Check a composed config and return it typed. Raises ConfigError with one sentence per problem."""
    try:
        values = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"The config can't be resolved: {str(error).splitlines()[0]}.") from None
    assert isinstance(values, dict)
    values.pop("hydra", None)
    if told := list(_booleans(values, Config)):
        raise ConfigError("\n".join(_at_their_source(told, composed)))
    try:
        return TypeAdapter(Config).validate_python(values)
    except ValidationError as error:
        known = list(keys_of(Config))
        told = [_sentence(problem, known) for problem in error.errors()]
    raise ConfigError("\n".join(_at_their_source(told, composed)))


def _at_their_source(told: Iterable[str], composed: DictConfig) -> Iterable[str]:
    """Sentences that name the key that was written, where others only repeat its value; one for each key."""
    written = OmegaConf.to_container(composed)
    found: dict[str, str] = {}
    for sentence in told:
        key = sentence.partition(" ")[0].rstrip(":")
        while source := _repeated(written, key):
            sentence, key = sentence.replace(key, source, 1), source
        found.setdefault(key, sentence)
    return found.values()


def _repeated(written: Any, key: str) -> str:
    """The key whose value this one repeats, or ""."""
    for name in key.split("."):
        written = written.get(name) if isinstance(written, Mapping) else None
    one = re.fullmatch(r"\$\{([\w.]+)\}", written) if isinstance(written, str) else None
    return one[1] if one else ""


def plain(config: Config) -> dict[str, Any]:
    """The config as it would be written in YAML."""
    values: dict[str, Any] = to_jsonable_python(config)
    values["evals"] = {"holdout_servers": list(config.evals.holdout_servers)} | {
        name: one.as_config() for name, one in config.evals.benchmarks.items()
    }
    return values


def dotted(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested groups, each with its dotted name; an empty group is a value."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from dotted(item, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _booleans(values: Mapping[Any, Any], group: type, prefix: str = "") -> Iterable[str]:
    """A sentence for each true or false where a number or a text belongs: pydantic would take true for 1."""
    hints = get_type_hints(group)
    for field in fields(group):
        value, hint = values.get(field.name), hints[field.name]
        if isinstance(value, Mapping) and is_dataclass(hint) and isinstance(hint, type):
            yield from _booleans(value, hint, f"{prefix}{field.name}.")
        elif isinstance(value, bool) and bool not in (hint, *get_args(hint)):
            yield f"{prefix}{field.name} is {str(value).lower()}: it takes neither true nor false."


def keys_of(group: type, prefix: str = "") -> Iterable[str]:
    """Yield the dotted names of all values of a dataclass."""
    hints = get_type_hints(group)
    if group is EvalsConfig:
        yield f"{prefix}holdout_servers"
        yield from (prefix + setting for setting in known_settings())
        return
    for field in fields(group):
        hint = next(iter(get_args(hints[field.name])), hints[field.name])  # of several kinds, the one shipped
        if is_dataclass(hint) and isinstance(hint, type):
            yield from keys_of(hint, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def unknown_key(key: str, known: Iterable[str]) -> str:
    """The sentence for a key that does not exist, with the nearest one that does."""
    known = list(known)
    group = key.rpartition(".")[0]
    siblings = [name for name in known if name.rpartition(".")[0] == group]
    word = key.rpartition(".")[2]
    near = _nearest(word, siblings, 0.6 if len(word) > 3 else 0.7) or _nearest(word, known, 0.8)
    if near:
        return f"{key} is no key of the config; did you mean {near}?"
    inside = ", ".join(name.rpartition(".")[2] for name in siblings)
    return f"{key} is no key of the config" + (f"; {group or 'it'} has {inside}." if siblings else ".")


def _nearest(word: str, names: Iterable[str], least: float) -> str | None:
    by_last = {name.rpartition(".")[2]: name for name in names}
    near = get_close_matches(word, by_last, 1, least)
    return by_last[near[0]] if near else None


def _sentence(problem: ErrorDetails, known: list[str]) -> str:
    # dataclass fields are the leading names of `loc`; what follows are positions in lists and pydantic's own tags
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return unknown_key(place, known)
    if problem["type"].startswith("missing"):
        if isinstance(problem["loc"][-1], int):
            return f"{place.rpartition('.')[0]} is {_shown(problem['input'])}: it has too few values."
        return f"{place} is missing: add it to its file under conf/."
    message = (
        problem["msg"]
        .replace("a valid tuple", "a list, e.g. [a,b]")
        .removeprefix("Value error, ")
        .removeprefix("Assertion failed, ")
        .rstrip(".")
    )
    if problem["type"] in ("value_error", "assertion_error"):
        end = "" if message.endswith("?") else "."
        return f"{place}: {message}{end}" if place and place not in message else f"{message}{end}"
    return f"{place} is {_shown(problem['input'])}: {message.replace('Input should', 'it should', 1)}."


def _shown(value: Any) -> str:
    text = repr(dict(value) if isinstance(value, Mapping) else value)
    return text if len(text) <= 80 else text[:77] + "..."
