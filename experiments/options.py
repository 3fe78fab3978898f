"""What there is to choose and to set, read from the files of `conf/` with their comments.

`--help`, completion and the reference of settings in the docs are made of this, so a setting is explained once: in its
YAML file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CONF = Path(__file__).parents[1] / "conf"

_PACKAGE = re.compile(r"# @package (\S+)")
_LINE = re.compile(r"(?P<indent> *)(?P<key>\w+):.*?(?: # (?P<about>.*))?$")
_FIRST = re.compile(r"\. |, e\.g\. ")  # what ends a first sentence


@dataclass(frozen=True)
class Setting:
    """One value: its dotted key as typed on the command line, the value in the file, and its comment."""

    key: str
    value: Any
    about: str

    @property
    def shown(self) -> str:
        """The value as it would be typed."""
        if isinstance(self.value, str):
            return self.value or '""'
        return yaml.safe_dump(self.value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()


@dataclass(frozen=True)
class Option:
    """One file of a group. `about` is its leading comment."""

    group: str
    name: str
    about: str
    settings: tuple[Setting, ...]

    @property
    def summary(self) -> str:
        """The first sentence of the comment, or else what the file begins with."""
        if self.about:
            return _FIRST.split(self.about)[0].rstrip(".")
        first = next(one for one in self.settings if one.about or not one.key.endswith(".name"))
        said = f"{first.key.rpartition('.')[2]}: {first.shown}"
        told = first.key.endswith(".name") or first.value == "" or len(said) > _WIDEST
        return _FIRST.split(first.about)[0] if told else said


_WIDEST = 60  # characters of a summary that is no sentence


@cache
def groups() -> dict[str, tuple[str, ...]]:
    """The names of each group's options, by name of the group, in alphabetical order."""
    return {
        folder.name: tuple(sorted(file.stem for file in folder.glob("*.yaml")))
        for folder in sorted(CONF.iterdir())
        if folder.is_dir() and folder.name != "hydra"
    }


@cache
def options() -> dict[str, tuple[Option, ...]]:
    """The options of each group, in the order of `groups`."""
    return {
        group: tuple(_option(group, CONF / group / f"{name}.yaml") for name in names)
        for group, names in groups().items()
    }


@cache
def chosen() -> dict[str, tuple[str, ...]]:
    """The options that a run has when none is named, by group; of `evals` there may be several."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in yaml.safe_load((CONF / "config.yaml").read_text())["defaults"]:
        if isinstance(entry, Mapping):
            for group, names in entry.items():
                found[group] = (names,) if isinstance(names, str) else tuple(names)
    return found


def run_settings() -> tuple[Setting, ...]:
    """Settings of no group."""
    return _option("", CONF / "run.yaml").settings


def _option(group: str, file: Path) -> Option:
    text = file.read_text()
    package = _PACKAGE.search(text)
    prefix = "" if package and package[1] == "_global_" else f"{package[1] if package else group}."
    leading: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if not _PACKAGE.match(line):
            leading.append(line.removeprefix("#").strip())
    values = {key: value for key, value in (yaml.safe_load(text) or {}).items() if key != "defaults"}
    comments = dict(_comments(text))
    settings = tuple(
        Setting(f"{prefix.lstrip('.')}{key}", value, comments.get(key, "")) for key, value in _leaves(values)
    )
    return Option(group, file.stem, " ".join(leading), settings)


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _comments(text: str) -> Iterator[tuple[str, str]]:
    """The comment behind each key, by its dotted name."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found:
            indent = len(found["indent"])
            above = [(depth, key) for depth, key in above if depth < indent] + [(indent, found["key"])]
            yield ".".join(key for _, key in above), found["about"] or ""
