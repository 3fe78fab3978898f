"""Read a command line before Hydra runs it: write out the sweep that an overlay names, compose every job and type it.

Hydra reports a mistake in its own words, over several lines, and in a sweep only when the job's turn comes. Here the
whole sweep is composed first, and every mistake becomes one sentence: the key or value, and what would be right.

An overlay whose `hydra.sweeper.params` name values is a sweep. Hydra lets it sweep anything but the group that chose
it, so `experiment=ablation` is replaced here by the overlays that it names; each stands behind the other overlays of
the command, as in `experiment=[main,ablation]`. What the command sets itself wins.
"""

import inspect
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from difflib import get_close_matches
from io import StringIO
from typing import Any

from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from experiments.config import Config, ConfigError, keys_of, typed, unknown_key
from experiments.options import CONF, groups


@dataclass(frozen=True)
class Job:
    """One job of a command: what chooses it, and what that composes to."""

    overrides: tuple[str, ...]
    composed: DictConfig
    config: Config


@dataclass(frozen=True)
class Command:
    """A command line: its jobs, and its words for Hydra, with the sweep of an overlay written out."""

    argv: list[str]
    jobs: tuple[Job, ...] = ()  # none for `--help`, `--cfg` and the like
    sweep: str = ""  # its name, or nothing for a single job
    swept: tuple[str, ...] = ()  # the keys that have several values
    searches: bool = False  # its jobs are chosen on the way; here are the two with the lowest and the highest values


def check(argv: Sequence[str]) -> list[Config]:
    """Return the typed config of every job of a command line. Raises ConfigError with one sentence per problem."""
    return [job.config for job in read(argv).jobs]


def read(argv: Sequence[str]) -> Command:
    """Read a command line. Raises ConfigError with one sentence per problem."""
    argv = flags_first(argv)
    arguments = _parsed(argv)
    if arguments.help or arguments.hydra_help or arguments.cfg or arguments.info or arguments.shell_completion:
        return Command(argv)
    if not arguments.multirun:
        return Command(argv, (_job(arguments.overrides),))
    if told := _searches(arguments.overrides):
        return Command(argv, *told, searches=True)
    names, overrides = _written_out(arguments.overrides)
    swept = tuple(one.get_key_element() for one in _override(overrides) if one.is_sweep_override())
    jobs = tuple(_job(job) for job in _expand(overrides))
    _refuse_doubles(jobs)
    options = [argument for argument in argv if argument not in arguments.overrides]
    return Command([*options, *overrides], jobs, "+".join(names or swept) or "single", swept)


def _refuse_doubles(jobs: Iterable[Job]) -> None:
    seen = set()
    for job in jobs:
        if (text := OmegaConf.to_yaml(job.composed)) in seen:
            raise ConfigError(f"Two jobs of the sweep are the same: {' '.join(job.overrides)}.")
        seen.add(text)


def _job(overrides: Sequence[str]) -> Job:
    whole = _composed(overrides)
    keys = {one.get_key_element() for one in _override(overrides)}
    if left := [key for key in _params(whole) if key not in keys - {"experiment"}]:
        what = f"a {'search' if _searched(whole) else 'sweep'} of {', '.join(left)}"
        raise ConfigError(
            f"experiment={whole.experiment} is {what}: add -m to the command, and don't write it in a row with other "
            "overlays."
        )
    alone = _without_hydra(whole)
    if "experiment" not in alone:
        raise ConfigError(f"experiment chooses nothing: it has {', '.join(groups()['experiment'])}.")
    return Job(tuple(overrides), alone, typed(alone))


def _searches(overrides: Sequence[str]) -> tuple[tuple[Job, ...], str, tuple[str, ...]] | None:
    """Jobs, name and keys of a search (experiments/search.py); None if the command is none."""
    parsed = _override(overrides)
    whole = _composed([one.input_line or "" for one in parsed if not one.is_sweep_override()])
    if not _searched(whole):
        return None
    from experiments.search import corners, free, settings_of

    if swept := [one.get_key_element() for one in parsed if one.is_sweep_override()]:
        raise ConfigError(f"{swept[0]} has several values, but a search is one: type it once for each.")
    settings = settings_of(_sweeper(whole))
    keys = tuple(free(settings, overrides))
    if not keys:
        raise ConfigError("Nothing is left to search: the command sets every value of hydra.sweeper.space.")
    jobs = tuple(_job([*overrides, *corner]) for corner in corners(settings, overrides))
    if "heldout" not in jobs[0].config.evals.benchmarks or not {"grpo", "evals"} <= set(jobs[0].config.stages):
        raise ConfigError("A search trains and asks for held-out success: stages needs grpo and evals, evals heldout.")
    return jobs, str(whole.experiment), keys


def _written_out(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of the overlays that are sweeps, and the overrides with what they sweep written out."""
    given = {one.get_key_element(): one for one in _override(overrides)}
    fixed = [one.input_line for one in given.values() if one.input_line and not one.is_sweep_override()]
    params = _params(_composed(fixed))
    if not params:
        return [], list(overrides)
    chosen = given["experiment"].value() if "experiment" in given else []
    overlays = [str(name) for name in (chosen if isinstance(chosen, list) else [chosen])]
    sweeps = [name for name in overlays if _params(_composed([f"experiment={name}"]))]
    found = dict(zip(given, (str(one.input_line) for one in given.values()), strict=True))
    if "experiment" in params:
        base = [name for name in overlays if name not in sweeps]
        found["experiment"] = f"experiment={_stacked(base, str(params.pop('experiment')))}"
    return sweeps, [*found.values(), *(f"{key}={value}" for key, value in params.items() if key not in found)]


def _stacked(base: Sequence[str], names: str) -> str:
    """Overlays, a comma between two, each on top of those of the command; `default` adds nothing to any."""
    each = [[*base, name] if name != "default" else [*base] or [name] for name in names.split(",")]
    return ",".join(f"[{','.join(one)}]" if len(one) > 1 else one[0] for one in each)


def _params(whole: DictConfig) -> dict[str, Any]:
    """The values that an overlay sweeps, by key, or between which it searches."""
    return dict(_sweeper(whole).get("space" if _searched(whole) else "params") or {})


def _searched(whole: DictConfig) -> bool:
    return str(_sweeper(whole)["_target_"]).endswith(".RewardSearch")


def _sweeper(whole: DictConfig) -> dict[str, Any]:
    settings: Any = OmegaConf.to_container(whole.hydra.sweeper)
    return dict(settings)


def job_name(composed: DictConfig) -> str:
    """The folder of a job under `runs/jobs`: what it is, and the hash of everything that decides its result."""
    from experiments.pipeline import job_key  # it hashes the code: not before the command is known to be right

    groups = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    values: Any = OmegaConf.to_container(groups, resolve=True)
    kind = values["policy"]["kind"]
    who = values["model"]["name"] if kind == "model" else kind
    return f"{values['experiment']}-{who}-s{values['seed']}-{job_key(values)}"


def flags_first(argv: Sequence[str]) -> list[str]:
    """The same command with `-m` in front, where Hydra's parser wants it."""
    flags = [argument for argument in argv if argument in ("-m", "--multirun")]
    return [*flags[:1], *(argument for argument in argv if argument not in flags)]


def _parsed(argv: Sequence[str]) -> Namespace:
    with redirect_stderr(StringIO()) as said:
        try:
            return get_args_parser().parse_args(flags_first(argv))
        except SystemExit as error:
            if not error.code:  # what --version prints
                raise
    reason = said.getvalue().strip().rpartition("error: ")[2].rstrip(".")
    raise ConfigError(
        f"The command can't be read: {reason}; overrides are key=value, all in one row behind the options."
    )


def composed(overrides: Sequence[str]) -> DictConfig:
    """Compose one job's config. Raises ConfigError with one sentence."""
    return _without_hydra(_composed(overrides))


@contextmanager
def _out_of_the_job() -> Iterator[None]:
    """Inside a job Hydra is in use already, and would refuse."""
    kept, GlobalHydra.instance().hydra = GlobalHydra.instance().hydra, None
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = kept


def _composed(overrides: Sequence[str]) -> DictConfig:
    try:
        with _out_of_the_job(), initialize_config_dir(str(CONF), version_base="1.3"):
            return compose("config", list(overrides), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise ConfigError(_sentence(error, overrides)) from None


def _without_hydra(whole: DictConfig) -> DictConfig:
    with open_dict(whole):
        del whole["hydra"]
    return whole


def _override(overrides: Sequence[str]) -> list[Override]:
    try:
        return OverridesParser.create().parse_overrides(list(overrides))
    except HydraException as error:
        raise ConfigError(_sentence(error, overrides)) from None


def _expand(overrides: Sequence[str]) -> list[list[str]]:
    try:
        batches = BasicSweeper.split_arguments(_override(overrides), None)
    except HydraException as error:
        raise ConfigError(_sentence(error, overrides)) from None
    return [job for batch in batches for job in batch]


def _sentence(error: Exception, overrides: Sequence[str]) -> str:
    text = str(error)
    if isinstance(error, OverrideParseException):
        return f"{error.override!r} can't be read: write key=value, as in reward.beta=0."
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _unknown_option(error.missing_cfg_file)
    if "requires --multirun" in text or "Ambiguous value" in text:
        return "Several values with commas are a sweep: add -m to the command, or write one list in brackets."
    if isinstance(error, ConfigCompositionException) and "Could not override" in text:
        return _bad_override(text, overrides)
    for override in overrides:
        group, _, value = override.partition("=")
        if group in groups() and value in ("", "null"):
            return f"{override} chooses nothing: {group} has {', '.join(groups()[group])}."
    cause = error.__cause__ or error
    said = str(cause).splitlines()[0].rstrip(".")
    return f"The config can't be composed with {' '.join(overrides)}: {said}."


def _unknown_option(missing: str) -> str:
    group, _, name = missing.rpartition("/")
    options = groups().get(group, ())
    near = get_close_matches(name, options, 1)
    hint = f"did you mean {near[0]}? It has" if near else "it has"
    return f"{group} has no option {name!r}; {hint} {', '.join(options)}." if options else f"conf/{missing} is missing."


def _bad_override(text: str, overrides: Sequence[str]) -> str:
    key = text.split("'")[1].split("@")[0]
    if any(override.startswith(f"{key}=") for override in overrides):
        if hint := _not_chosen(key, overrides):
            return hint
        if key in keys_of(Config):  # a group of values that are the user's own
            return f"{key} takes names of your choice, which Hydra wants with a plus: '+{key}={{NAME: VALUE}}'."
        return _unknown(key, overrides)
    return f"{text.splitlines()[0].rstrip('.')}."


def _not_chosen(key: str, overrides: Sequence[str]) -> str:
    """What to choose first, for a setting of a benchmark or of an endpoint that the command does not choose."""
    group, name, *_ = *key.split("."), ""
    if group not in ("evals", "policy"):
        return ""
    chosen = composed([override for override in overrides if not override.startswith(f"{key}=")])
    if group == "evals" and name in groups()["evals"] and name not in chosen.evals:
        return f"{key}: {name} is not chosen: add 'evals=[{name}]', or 'evals=[heldout,{name}]'."
    if group == "policy" and key in keys_of(Config) and chosen.policy.kind != "endpoint":
        return f"{key}: only an endpoint has that: add policy=endpoint."
    return ""


def _unknown(key: str, overrides: Sequence[str]) -> str:
    """The sentence for a key that does not exist; a reward of the user's own has keys of its own."""
    rest = composed([override for override in overrides if not override.startswith(f"{key}=")])
    target = rest.reward.get("_target_")
    if target is None or not key.startswith("reward."):
        return unknown_key(key, [*keys_of(Config), *groups()])
    takes = _settings_of(str(target))
    if key.removeprefix("reward.") in takes:
        return f"{key} is not in the file of reward {target}: write it there, or +{key}=VALUE here."
    return unknown_key(key, [f"reward.{name}" for name in dict.fromkeys([*rest.reward, *takes]) if name != "_target_"])


def _settings_of(target: str) -> Iterable[str]:
    """What a user's class is made with; nothing for one that can't be found, which is said elsewhere."""
    try:
        return list(inspect.signature(get_class(target)).parameters)
    except Exception:  # whatever the import of a user's module raises
        return []
