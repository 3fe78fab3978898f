"""What `--help` prints: the commands that people type, and what there is to choose, read from `conf/`."""

import shutil
import textwrap
from collections.abc import Iterable, Sequence

from experiments.completion import script
from experiments.options import Setting, chosen, options, run_settings

_RUN = "uv run python -m experiments.run"
_EVALUATE = "uv run python -m experiments.evaluate"
_RUN_COMMANDS = {
    _RUN: "the tiny model on this machine's CPU",
    f"{_RUN} reward.beta=0": "an ablation: any value, by its dotted name",
    f"{_RUN} -m reward.beta=0,0.5 seed=0,1": "a sweep: every combination; what jobs share is made once",
    f"{_RUN} model=qwen3_4b experiment=main plan=true": "what it would do, need and cost; then it stops",
    "uv run python -m experiments.compare": "the runs so far, in one table",
}
_EVALUATE_COMMANDS = {
    _EVALUATE: "the tiny model on held-out tasks",
    f"{_EVALUATE} model.path=FOLDER": "a trained model: the folder `model` of a training stage",
    f"{_EVALUATE} 'evals=[bfcl]' policy=oracle": "what a benchmark gives for everything right; silent: for nothing",
    f"{_EVALUATE} 'evals=[bfcl]' policy=endpoint policy.base_url=URL policy.model=NAME": "a model behind a server",
    "uv run proverl score FOLDER --against OTHER": "stored answers, scored again and compared",
}
_OF_EVALUATE = ("evals", "policy", "model", "profile", "envs", "synth", "tracking")
_WAYS = {
    "GROUP=OPTION": "take another file of a group; * marks what is taken unless you say otherwise",
    "GROUP.KEY=VALUE": "set one value of it; lists in quotes: 'evals=[heldout,bfcl]'",
    "plan=true": "print what would be done, what is cached, what it costs and what is missing; then stop",
    "-m KEY=A,B": "one job for each value; with hydra/launcher=ray side by side",
    "--help GROUP": "the settings of a group, with what they mean",
    "--cfg job": "every value as this command would have it",
    "-sc install=bash": 'completion: eval "$(uv run python -m experiments.run -sc install=bash)"',
}
_OUTPUT = (
    "Everything is left in runs/ (runs_dir): stages/ has what stages made, under the hash of what it depends on; "
    "jobs/ a folder for each job with its figures; mlflow.db the record. Between runs all of it may be deleted: what "
    "is asked for again is then made again. A killed command goes on where it was when it is typed again."
)


def answered(argv: Sequence[str], evaluate: bool = False) -> str:
    """What a command line asks for instead of a run: help, of all or of groups, or completion. "" for a run."""
    if argv and argv[-1] == "install=bash":
        return script()
    if not {"-h", "--help"} & set(argv):
        return ""
    words = [word for word in argv if not word.startswith("-") and "=" not in word]
    if unknown := [word for word in words if word not in options()]:
        return f"{unknown[0]} is no group; groups are {', '.join(options())}."
    if words:
        return "\n".join(line for group in words for line in _settings_of(group)).rstrip()
    about, commands = _EVALUATE_ABOUT if evaluate else _RUN_ABOUT
    parts = [
        about,
        _table(commands, above=True),
        "How to say what you want:",
        _table(_WAYS),
        "Groups and their options:",
    ]
    parts += [_group(group) for group in (_OF_EVALUATE if evaluate else dict.fromkeys(["experiment", *options()]))]
    parts += ["Settings of no group:", _listed(run_settings()), _filled(_OUTPUT, "")]
    return "\n\n".join(parts)


_RUN_ABOUT = (
    "Run an experiment: synthesise tasks, train on them, evaluate before and after, record it all.",
    _RUN_COMMANDS,
)
_EVALUATE_ABOUT = ("Evaluate a policy on benchmarks, without training.", _EVALUATE_COMMANDS)


def _group(group: str) -> str:
    taken = chosen().get(group, ())
    rows = {f"{'*' if one.name in taken else ' '} {one.name}": one.summary for one in options()[group]}
    return f"{group}={'[A,B]' if group == 'evals' else ''}\n{_table(rows)}"


def _settings_of(group: str) -> Iterable[str]:
    for option in options()[group]:
        yield f"{group}={option.name}{'  (taken by default)' if option.name in chosen().get(group, ()) else ''}"
        if option.about:
            yield _filled(option.about, "  ")
        yield f"{_listed(option.settings)}\n"


def _listed(settings: Iterable[Setting]) -> str:
    return _table({f"{one.key}={one.shown}": one.about for one in settings})


def _table(rows: dict[str, str], above: bool = False) -> str:
    """Two columns, or each explanation below what it explains."""
    widest = 4 if above else min(_COLUMN, max(map(len, rows)) + 2)
    return "\n".join(_row(name, about, widest) for name, about in rows.items())


_COLUMN = 40


def _row(name: str, about: str, widest: int) -> str:
    if len(name) + 2 <= widest:
        return _filled(about, " " * (widest + 2), f"  {name:<{widest}}").rstrip()
    return f"  {name}" + (f"\n{_filled(about, ' ' * (widest + 2))}" if about else "")


def _filled(text: str, indent: str, first: str | None = None) -> str:
    width = max(60, min(120, shutil.get_terminal_size().columns))
    return textwrap.fill(
        text,
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or (first or "")
