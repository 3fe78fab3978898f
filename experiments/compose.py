"""Check a command line before Hydra runs it: compose every job that it stands for and type it.

Hydra reports a mistake in its own words, over several lines, and in a sweep only when the job's turn comes. Here the
whole sweep is composed first, and every mistake becomes one sentence: the key or value, and what would be right.
"""

import inspect
from argparse import Namespace
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from difflib import get_close_matches
from io import StringIO
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from hydra.utils import get_class
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from experiments.config import Config, ConfigError, keys_of, typed, unknown_key

CONF = Path(__file__).parents[1] / "conf"


def check(argv: Sequence[str]) -> list[Config]:
    """Return the typed config of every job of a command line (none for `--help`, `--cfg` and the like).

    Raises ConfigError with one sentence per problem.
    """
    arguments = _parsed(argv)
    if arguments.help or arguments.hydra_help or arguments.cfg or arguments.info or arguments.shell_completion:
        return []
    jobs = _expand(arguments.overrides) if arguments.multirun else [arguments.overrides]
    return [typed(composed(overrides)) for overrides in jobs]


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
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return compose("config", list(overrides))
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise ConfigError(_sentence(error, overrides)) from None


def groups() -> dict[str, list[str]]:
    """The config groups and the names of their options."""
    return {
        folder.name: sorted(file.stem for file in folder.glob("*.yaml"))
        for folder in sorted(CONF.iterdir())
        if folder.is_dir()
    }


def _expand(overrides: Sequence[str]) -> list[list[str]]:
    try:
        parsed = OverridesParser.create().parse_overrides(list(overrides))
        batches = BasicSweeper.split_arguments(parsed, None)
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
    options = groups().get(group, [])
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
