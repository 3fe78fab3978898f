"""The tables of a dataset's card, each beside the paper's figures where it names some."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from proverl.synth.data.figures import Figures
from proverl.synth.data.overlap import Report
from proverl.synth.data.plots import LEAST_ROWS, tools_by_server
from proverl.synth.data.queries import mean, percentile

# the paper's figures (Synthesis 3, 4 and 6)
KINDS = {"multi_turn": 10_895, "clarification": 1_500, "abstention": 1_122}
_ROWS = sum(KINDS.values())
_RATES = {"distractors": "40%", "enums_stripped": "30%", "irrelevant_query": "5%", "missing_function": "11.1%"}
_INFORMATION = {"complete": "60%", "missing": "20%", "minimal": "20%"}
_RECOVERIES = ("corrected", "alternative", "give_up")

Splits = Mapping[str, Figures]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(value) for value in line)} |" for line in lines) + "\n"


def _table_if_any(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return table(head, rows) if rows else ""


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _part(part: int, whole: int) -> str:
    return f"{part:,} ({_share(part, whole)})"


def mix(splits: Splits) -> Iterable[str]:
    """Rows by kind and by main server."""
    yield "## Rows\n"
    head = ["kind", *splits, "paper"]
    rows = [
        [kind, *(_part(f.kinds[kind], f.rows) for f in splits.values()), _part(n, _ROWS)] for kind, n in KINDS.items()
    ]
    yield table(head, [*rows, ["all", *(found.rows for found in splits.values()), _ROWS]])
    origins = sorted({name for found in splits.values() for name in found.origins})
    for name in origins:
        yield f"From {name}: {', '.join(f'{found.origins[name]:,} {split}' for split, found in splits.items())} rows.\n"
    servers = sorted({server for found in splits.values() for server, _ in found.servers})
    head = ["main server", *(f"{split}: {kind}" for split in splits for kind in KINDS)]
    yield table(head, [[name, *(f.servers[name, kind] for f in splits.values() for kind in KINDS)] for name in servers])


def yields(made: Mapping[str, Any]) -> Iterable[str]:
    """How many draws were kept, and why the others were not; `made` is what counts.json says of each split."""
    yield "## Yield\n"
    if not made:
        yield "Not known: there is no counts.json beside the files.\n"
        return
    rows = [["candidates", *(found["candidates"] for found in made.values())]]
    rows += [["kept", *(_part(found["kept"], found["candidates"]) for found in made.values())]]
    if all("seconds" in found for found in made.values()):
        rows += [["seconds", *(f"{found['seconds']:,.0f}" for found in made.values())]]
    yield table(["", *made], rows)
    for split, found in made.items():
        for server, number in found.get("ceded", {}).items():
            yield f"{server} had no more chains: others made {number:,} {split} rows in its place.\n"
    reasons = sum((Counter(found["dropped"]) for found in made.values()), Counter[str]())
    yield _table_if_any(
        ["dropped because", *made],
        [
            [reason, *(_part(found["dropped"].get(reason, 0), found["candidates"]) for found in made.values())]
            for reason, _ in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        ],
    )


def _spread(splits: Splits, name: str, pick: Callable[[Figures], Counter[int]]) -> str:
    values = sorted({value for found in splits.values() for value in pick(found)})
    return table([name, *splits], [[v, *(_part(pick(f)[v], f.rows) for f in splits.values())] for v in values])


def shape(splits: Splits) -> Iterable[str]:
    """Calls, user turns, tools on offer and edges."""
    yield "## Shape\n\nThe paper's chains have 2 to 5 calls, its conversations 2 to 3 user turns.\n"
    yield _spread(splits, "calls expected", lambda found: found.calls)
    yield _spread(splits, "user turns", lambda found: found.turns)
    rows = [
        ["tools on offer", *(f"{mean(f.offered):.1f}, {percentile(f.offered, 1)} at most" for f in splits.values())]
    ]
    for kind, meaning in (("value", "a value from an earlier result"), ("state", "a state an earlier call left")):
        rows.append([f"edges: {meaning}", *(f"{found.edges[kind]:,}" for found in splits.values())])
    yield table(["", *splits], rows)


def _counted(
    splits: Splits, name: str, pick: Callable[[Figures], Counter[str]], paper: Mapping[str, str] | None
) -> str:
    """Rows by a name and their share among those that come from no outside source."""
    names = list(paper or ()) + sorted({key for f in splits.values() for key in pick(f)} - set(paper or ()))
    rows = [[key, *(_part(pick(f)[key], f.own) for f in splits.values())] for key in names]
    return _table_if_any([name, *splits, "paper"], [[*row, (paper or {}).get(str(row[0]), "-")] for row in rows])


def perturbations(splits: Splits) -> Iterable[str]:
    """What makes rows harder, and who wrote them; shares of the rows that come from no outside source."""
    yield "## Information, perturbations, recovery\n"
    yield _informed(splits)
    yield _counted(splits, "perturbation", lambda found: found.perturbed, _RATES)
    yield _counted(splits, "recovery from a refused call", lambda f: f.recoveries, dict.fromkeys(_RECOVERIES, "-"))
    yield _counted(splits, "persona", lambda found: found.personas, None)
    yield _counted(splits, "teacher", lambda found: found.teachers, None)


def _informed(splits: Splits) -> str:
    """Rows by how much the first request tells, among the rows whose chain is asked for whole."""
    rows = [
        [name, *(_part(found.information[name], found.kinds["multi_turn"]) for found in splits.values()), share]
        for name, share in _INFORMATION.items()
    ]
    return table(["information, multi_turn rows", *splits, "paper"], rows)


def values(splits: Splits) -> Iterable[str]:
    """Where argument values come from."""
    yield "## Where argument values come from\n"
    names = sorted({name for found in splits.values() for name in found.values})
    if not names:
        yield "The rows have no noted sources.\n"
        return
    yield table(["source", *splits], [[name, *(found.values[name] for found in splits.values())] for name in names])
    derived = ", ".join(f"{_part(found.derived_rows, found.rows)} of {split}" for split, found in splits.items())
    yield f"Rows with derived values: {derived}.\n"


def tools(splits: Splits) -> Iterable[str]:
    """In how many rows the tools are expected, and which are in few."""
    yield "## Tools\n"
    called = sum((found.called for found in splits.values()), Counter[str]())
    servers = {name: names for name, names in tools_by_server().items() if any(called[tool] for tool in names)}
    least = sorted((called[tool], tool) for names in servers.values() for tool in names)
    few = [f"{tool} ({rows})" for rows, tool in least if rows < LEAST_ROWS]
    yield f"{len(least)} tools of {len(servers)} servers; {len(least) - len(few)} in {LEAST_ROWS} rows or more.\n"
    bounds = (0, 1, 5, LEAST_ROWS, 2 * LEAST_ROWS, 100)
    names = [f"{low} or more" if high is None else f"{low}" if high == low + 1 else f"{low} to {high - 1}"
             for low, high in zip(bounds, [*bounds[1:], None], strict=True)]  # fmt: skip
    places = Counter(sum(rows >= bound for bound in bounds) - 1 for rows, _ in least)
    yield table(["rows in which a tool is expected", "tools"], [[name, places[at]] for at, name in enumerate(names)])
    if few:
        yield f"In fewer than {LEAST_ROWS}: {', '.join(few)}.\n"
    elif least:
        yield f"The least used: {', '.join(f'{tool} ({rows})' for rows, tool in least[:10])}.\n"


def queries(splits: Splits, report: Report) -> Iterable[str]:
    """How varied and how long the users' turns are, beside the benchmarks' texts."""
    yield "## Users' turns\n"
    yield (
        "A skeleton is a text in which every argument value, id, number, date, name and quotation is replaced by a "
        "slot, and a list of slots by one.\n"
    )
    found = [figures.queries for figures in splits.values()]
    rows: list[list[object]] = [
        ["distinct skeletons of whole conversations", *(_part(len(q.wholes), q.rows) for q in found)],
        ["distinct skeletons of first turns", *(_part(len(q.firsts), q.rows) for q in found)],
        ["distinct skeletons of sentences", *(_part(len(q.sentences), q.sentences.total()) for q in found)],
        ["the most frequent one", *(_largest(q.sentences) for q in found)],
    ]
    rows += [[f"distinct-{size}", *(f"{q.distinct(size):.3f}" for q in found)] for size in (1, 2, 3)]
    yield table(["", *splits], rows)
    lengths = {f"{split}, a turn": f.queries.lengths for split, f in splits.items()}
    lengths |= {f"{split}, a conversation": f.queries.conversations for split, f in splits.items()}
    lengths |= {f"{found.reference}, {found.unit}": found.lengths for found in report.found if found.lengths}
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    yield table(
        ["words", "mean", *(f"p{share * 100:.0f}" for share in shares)],
        [[name, f"{mean(c):.1f}", *(percentile(c, share) for share in shares)] for name, c in lengths.items()],
    )


def _largest(sentences: Counter[str]) -> str:
    if not sentences:
        return "-"
    text, rows = min(sentences.items(), key=lambda item: (-item[1], item[0]))
    return f"{_share(rows, sentences.total())}: {text}"
