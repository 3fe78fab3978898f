"""The site: `uv run --group docs sphinx-build -EW --keep-going --quiet docs site`.

Pages of settings and commands are filled in while they are read, from the files of `conf/` and the commands themselves;
the reference of the packages comes from their docstrings.
"""

import os
import subprocess
import sys
from typing import Any

import typer
from typer.testing import CliRunner

from experiments.options import Setting, chosen, options, run_settings
from proverl.envs.cli import app as proverl

project = "proverl"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
highlight_language = "bash"
html_theme = "furo"
html_title = "proverl"
html_show_copyright = html_show_sphinx = html_copy_source = html_show_sourcelink = False
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # README begins below the page that includes it
default_role = "py:obj"  # docstrings write `names` in single backquotes
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
maximum_signature_line_length = 100


def setup(app: Any) -> None:
    """Fill in what is read from elsewhere."""
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _escape)


def _escape(app: Any, kind: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
    """Docstrings here are plain text: of what Sphinx would read otherwise, |G| is written in them."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def _fill(app: Any, page: str, source: list[str]) -> None:
    if page == "settings":
        source[0] += "\n".join(_settings())
    if page == "commands":
        source[0] += "\n".join(_commands())


def _settings() -> list[str]:
    lines = ["## No group", *_table(run_settings())]
    for group, found in options().items():
        lines += [f"## {group}", ""]
        for option in found:
            default = ", taken by default" if option.name in chosen().get(group, ()) else ""
            lines += [f"### {group}={option.name}{default}", "", option.about, "", *_table(option.settings)]
    return lines


def _table(settings: tuple[Setting, ...]) -> list[str]:
    rows = [f"| `{one.key}` | `{_cell(one.shown)}` | {_cell(one.about)} |" for one in settings]
    return ["", "| setting | value | |", "|---|---|---|", *rows, ""] if rows else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _commands() -> list[str]:
    lines = []
    for module in ("experiments.run", "experiments.evaluate", "experiments.compare", "experiments.rerun"):
        command = [sys.executable, "-m", module, "--help"]
        environment = os.environ | {"COLUMNS": "90", "NO_COLOR": "1"}
        said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        lines += _shown(f"python -m {module}", said)
    lines += _shown("proverl", _help())
    for name in sorted(typer.main.get_command(proverl).list_commands(None)):
        lines += _shown(f"proverl {name}", _help(name))
    return lines


def _help(*words: str) -> str:
    runner = CliRunner(env={"TERMINAL_WIDTH": "90", "NO_COLOR": "1"})
    return runner.invoke(proverl, [*words, "--help"], prog_name="proverl").stdout


def _shown(title: str, said: str) -> list[str]:
    return [f"## {title}", "", "```text", *(line.rstrip() for line in said.strip().splitlines()), "```", ""]
