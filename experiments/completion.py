"""Completion in bash: of runs and evaluations, their groups, options, keys and values; and of `proverl`.

    eval "$(uv run python -m experiments.run -sc install=bash)"

Hydra's own knows `python FILE.py` alone, and composes the config at every key; this one knows
`python -m experiments.run`, also behind `uv run`, and reads the files of `conf/`.
"""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from experiments.options import CONF, Setting, chosen, options, run_settings

_FLAGS = ("--cfg", "--help", "--multirun")
_SCRIPT = r"""
_proverl_complete() {
  local line=${COMP_LINE:0:COMP_POINT} word rest at
  local a_run=' -m +experiments\.(run|evaluate) ' a_command='(^|[ /])proverl +(.*)$'
  COMPREPLY=()
  if [[ $line =~ $a_run ]]; then
    word=${line##* }
    mapfile -t COMPREPLY < <(cd ROOT && PYTHON -m experiments.completion "$word")
    # bash takes what stands before the last = for a word of its own
    [[ $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*=}"}"}")
    [[ ${COMPREPLY[*]} == *[=.] ]] && compopt -o nospace
  elif [[ $line =~ $a_command ]]; then
    rest=${BASH_REMATCH[2]}
    at=($rest.)
    mapfile -t COMPREPLY < <(COMP_WORDS="proverl $rest" COMP_CWORD=${#at[@]} _PROVERL_COMPLETE=complete_bash PROVERL)
  elif [[ ${COMP_WORDS[0]} == uv ]] && declare -F _uv >/dev/null; then
    _uv "$@"
  fi
}
complete -o default -F _proverl_complete uv python python3 proverl
"""


def script() -> str:
    """What bash evaluates to complete with this environment's Python, wherever it is typed."""
    places = {"ROOT": CONF.parent, "PYTHON": sys.executable, "PROVERL": Path(sys.executable).with_name("proverl")}
    text = _SCRIPT
    for name, path in places.items():
        text = text.replace(f" {name}", f" {shlex.quote(str(path))}")
    return text


def candidates(word: str) -> list[str]:
    """What the last word of a command may become, one more level of dots at a time."""
    if word.startswith("-"):
        found = iter(_FLAGS)
    elif "=" in word:
        found = _values(word.partition("=")[0])
    else:
        found = _keys(word.count("."))
    return sorted({one for one in found if one.startswith(word)})


def _settings() -> Iterator[Setting]:
    """Every setting, those of the options that a run has by default first."""
    yield from run_settings()
    every = [
        (option.name not in chosen().get(group, ()), option) for group, found in options().items() for option in found
    ]
    for _, option in sorted(every, key=lambda one: one[0]):
        if option.group != "experiment":
            yield from option.settings


def _keys(dots: int) -> Iterator[str]:
    if not dots:
        yield from (f"{group}=" for group in options())
    for setting in _settings():
        parts = setting.key.split(".")
        yield f"{setting.key}=" if len(parts) == dots + 1 else f"{'.'.join(parts[: dots + 1])}."


def _values(key: str) -> Iterator[str]:
    for option in options().get(key, ()):
        yield f"{key}=[{option.name}]" if key == "evals" else f"{key}={option.name}"
    for setting in _settings():
        if setting.key == key:
            yield from (
                [f"{key}=true", f"{key}=false"] if isinstance(setting.value, bool) else [f"{key}={setting.shown}"]
            )


if __name__ == "__main__":
    print("\n".join(candidates(sys.argv[1])))
