"""The stages of a job: what each depends on, what is cached, and computing the rest."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic_core import to_jsonable_python

from experiments.cache import Entry, StageCache, code_digest, digest, file_digest
from experiments.config import Config, ConfigError, dotted, plain
from experiments.progress import Report, Screen
from experiments.requirements import ALL_CODE
from proverl.core import Json
from proverl.envs import server_module
from proverl.reward import OwnReward, RewardConfig


@dataclass(frozen=True)
class Inputs:
    """What a stage works with: the config, the folders of earlier outputs by name, and a way to say how far it is."""

    config: Config
    outputs: Mapping[str, Path]
    report: Report


@dataclass(frozen=True)
class Rows:
    """The JSON-lines file that a training stage appends to; its `unit` runs up to `total` of them.

    `counter` is the metric under which MLflow keeps the steps of this stage: each counts from 1.
    """

    file: str
    unit: str
    total: Callable[[Config], int]
    counter: str = "step"


@dataclass(frozen=True)
class Stage:
    """One output of a run.

    `depends` names the groups and values that the output depends on, `code` the packages, `reads` the earlier outputs,
    `also_reads` those that only some configs need, `files` the user's; together they make the key that it is cached
    under. `work` fills the folder that it is given; with `resumes` it goes on with what a killed run left there.
    `items` is how many it works through (tasks, attempts, rollouts, demonstrations; tokens for the warm-up), `seconds`
    predicts how long so many take; `needs` names what this machine lacks for it, a sentence each.
    """

    name: str  # as written in `stages`
    output: str  # its folder's name; a stage may have several outputs
    title: str
    depends: tuple[str, ...]
    code: tuple[str, ...]
    work: Callable[[Inputs, Path], None]
    items: Callable[[Config], int]
    seconds: Callable[[Config, int], float]
    reads: tuple[str, ...] = ()
    also_reads: Callable[[Config], tuple[str, ...]] = lambda config: ()
    files: Callable[[Config], tuple[str, ...]] = lambda config: ()
    resumes: bool = False
    rows: Rows | None = None
    optional: bool = False  # left out, not refused, when what it reads is neither asked for nor cached
    needs: Callable[[Config], list[str]] = lambda config: []

    def inputs(self, config: Config) -> tuple[str, ...]:
        """The earlier outputs that it reads with this config."""
        return self.reads + self.also_reads(config)

    def predicted(self, config: Config) -> dict[str, Json]:
        """What it works through and the seconds that this should take."""
        items = self.items(config)
        return {"items": items, "seconds": self.seconds(config, items)}


Watch = Callable[[Stage, Path, Report], AbstractContextManager[object]]


def entries(config: Config, stages: Sequence[Stage], cache: StageCache) -> dict[str, Entry]:
    """The cache entry of every stage's output, computed or not."""
    found: dict[str, Entry] = {}
    for stage in stages:
        found[stage.output] = cache.entry(stage.output, dependencies(config, stage, found))
    return found


def dependencies(config: Config, stage: Stage, earlier: Mapping[str, Entry]) -> dict[str, Json]:
    """What a stage's key is the hash of."""
    return {
        "config": {name: _setting(config, name) for name in stage.depends},
        "code": code_digest((*stage.code, *_users_code(config, stage))),
        "files": {name: file_digest(Path(name)) for name in stage.files(config)},
        "inputs": {name: earlier[name].key for name in stage.inputs(config)},
    }


def _setting(config: Config, name: str) -> Json:
    group, _, benchmark = name.partition(".")
    if not benchmark:
        return to_jsonable_python(getattr(config, name))
    found = config.evals.benchmarks[benchmark]
    # what is not there has no version; it is named before anything starts
    return {"settings": found.as_config(), "version": "" if found.needs() else found.version}


def _users_code(config: Config, stage: Stage) -> set[str]:
    servers = server_packages(config.envs.servers) if "envs" in stage.depends else set()
    return servers | (reward_packages(config.reward) if "reward" in stage.depends else set())


def server_packages(names: Sequence[str]) -> set[str]:
    """The packages that these servers are in; a run on a user's own server depends on that user's code."""
    return {server_module(name).split(".")[0] for name in names} - {"proverl"}


def reward_packages(reward: RewardConfig | OwnReward) -> set[str]:
    """The package or module that a user's own reward is in."""
    return {reward.target.split(".")[0]} - {"proverl"} if isinstance(reward, OwnReward) else set()


def wanted(config: Config, stages: Sequence[Stage], found: Mapping[str, Entry]) -> list[Stage]:
    """The stages that the config asks for, in the order in which they run.

    Raises ConfigError when one reads an output that is neither asked for nor cached.
    """
    makers = {stage.output: stage.name for stage in stages}
    coming: dict[str, Stage] = {}
    for stage in stages:
        if stage.name not in config.stages:
            continue
        absent = [name for name in stage.inputs(config) if name not in coming and not found[name].done]
        if not absent:
            coming[stage.output] = stage
        elif not stage.optional:
            maker = makers[absent[0]]
            raise ConfigError(
                f"stages has {stage.name} but not {maker}, and {found[absent[0]].directory.name} is not cached: "
                f"add {maker} to stages."
            )
    return list(coming.values())


def own(config: Config, stages: Sequence[Stage], found: Mapping[str, Entry]) -> dict[str, Entry]:
    """The outputs that are the job's: what it asks for, and what that is made from.

    Others may be cached: a run of SFT alone has no part in a GRPO that another run went on with.
    """
    theirs = {stage.output for stage in wanted(config, stages, found)}
    for stage in reversed(stages):
        if stage.output in theirs:
            theirs.update(stage.inputs(config))
    return {name: entry for name, entry in found.items() if name in theirs}


def lacking(config: Config, stages: Sequence[Stage], cache: StageCache) -> list[str]:
    """What this machine lacks for the stages that are not cached, a sentence each."""
    found = entries(config, stages, cache)
    told = [
        text for stage in wanted(config, stages, found) if not found[stage.output].done for text in stage.needs(config)
    ]
    return list(dict.fromkeys(told))


def compute(
    config: Config,
    stages: Sequence[Stage],
    cache: StageCache,
    screen: Screen,
    watch: Watch = lambda stage, folder, report: nullcontext(),
    job: str = "",
) -> dict[str, Entry]:
    """Compute what the config asks for and the cache lacks; return the job's complete outputs by name.

    `job` is kept in the manifests of what it made, with the profile and what was predicted.

    Raises ConfigError when a stage needs the output of one that is neither asked for nor cached, and RunError when an
    output that is there is damaged.
    """
    found = entries(config, stages, cache)
    for entry in found.values():
        entry.check()
    for stage in wanted(config, stages, found):
        entry = found[stage.output]
        if entry.done:
            screen.say(f"{stage.title}: cached in {entry.directory}")
            continue
        _compute_one(config, stage, found, cache, screen, watch, job)
    return {name: entry for name, entry in own(config, stages, found).items() if entry.done}


def _compute_one(
    config: Config,
    stage: Stage,
    found: Mapping[str, Entry],
    cache: StageCache,
    screen: Screen,
    watch: Watch,
    job: str,
) -> None:
    entry = found[stage.output]
    outputs = {name: found[name].directory for name in stage.inputs(config)}
    with screen.stage(stage.title) as report:

        def work(folder: Path) -> None:
            with watch(stage, folder, report):
                stage.work(Inputs(config, outputs, report), folder)

        cache.compute(
            entry,
            work,
            depends=dependencies(config, stage, found),
            about={"job": job, "profile": asdict(config.profile), "predicted": stage.predicted(config)},
            resumes=stage.resumes,
            waiting=lambda: screen.say(f"{stage.title}: another run is computing it, waiting"),
        )
    screen.say(f"{stage.title}: kept in {entry.directory}")


def job_key(values: Mapping[str, Json]) -> str:
    """The hash that names a job: its config without what changes no result, and the code of its stages."""
    config = {key: value for key, value in values.items() if key not in ("plan", "runs_dir")}
    return digest({"config": config, "code": code_digest(ALL_CODE)})[:8]


def flat(config: Config) -> dict[str, Json]:
    """The config as dotted names and values."""
    return dict(dotted(plain(config)))
