"""The recipes of docs/cluster.md, as they stand there."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest
import yaml

from experiments.compose import check

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cluster.md").read_text()
SCRIPT, MANIFEST = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1] for kind in ("bash", "yaml"))
SECONDS = 600  # for what takes a busy machine minutes
LINES = PAGE.replace("\\\n", " ").splitlines()


def test_every_command_of_a_run_composes():
    commands = [line.partition("-m experiments.run ")[2] for line in LINES if "-m experiments.run " in line]
    assert len(commands) == 4
    for command in commands:
        assert check(shlex.split(command, comments=True))


def test_every_start_of_ray_is_one_that_ray_knows():
    from ray.scripts.scripts import start

    starts = re.findall(r"ray start (--[^`&\n]*)", "\n".join(LINES))
    assert len(starts) == 3
    for options in starts:
        options = options.replace("...", "").replace("$RAY_ADDRESS", "10.0.0.1:6379")
        start.make_context("start", shlex.split(options))


def test_the_job_of_kuberay_asks_for_what_the_profile_trains_on():
    job = yaml.safe_load(MANIFEST)
    (run,) = check(job["spec"]["entrypoint"].split()[3:])
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    training = [group for group in groups if group["rayStartParams"]["num-gpus"] != "0"]
    assert sum(group.get("replicas", 1) for group in training) == run.profile.nodes
    for group in training:
        (pod,) = group["template"]["spec"]["containers"]
        gpus = {int(group["rayStartParams"]["num-gpus"]), pod["resources"]["limits"]["nvidia.com/gpu"]}
        assert gpus == {run.profile.gpus_per_node}
    assert cluster["rayVersion"] == version("ray")
    assert groups[-1]["labels"] == {"proverl": "episodes"}  # KubeRay refuses them among rayStartParams


LIGHT_RAY = """
from proverl.trainer.cluster import light_ray
light_ray()  # else a busy machine is too slow for it
from ray.scripts.scripts import main
main()"""
STUBS = {
    "srun": 'while [[ $1 == --* ]]; do shift; done; exec "$@"',
    "scontrol": "printf 'one\\ntwo\\n'",
    "hostname": 'exec {python} -c "import ray; print(ray.util.get_node_ip_address())"',
    "nvidia-smi": "exit 1",
    "shared/proverl/.venv/bin/ray": "exec {python} -c '" + LIGHT_RAY + """' "$@\"""",
    "shared/proverl/.venv/bin/python": '[[ $1 == -m ]] && set -- "$@" plan=true; exec {python} "$@"',
}


@pytest.mark.verl
def test_the_slurm_script_starts_two_nodes_and_the_run_finds_both(tmp_path, short):
    for name, text in STUBS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/bash\n" + text.format(python=sys.executable))
        path.chmod(0o755)
    for name in ("experiments", "conf"):
        (tmp_path / "shared" / "proverl" / name).symlink_to(ROOT / name)
    script = tmp_path / "job.sh"
    script.write_text(SCRIPT.replace("/shared/", f"{tmp_path}/shared/").replace("6379", str(free_port())))
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "RAY_TMPDIR": short,
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_gcs_server_request_timeout_seconds": str(SECONDS),
        "HF_HUB_OFFLINE": "1",
        "SLURM_JOB_NODELIST": "one,two",
        "SLURM_NNODES": "2",
    }
    with (tmp_path / "printed").open("w+") as printed:
        job = subprocess.Popen(
            ["bash", str(script)], env=environment, stdout=printed, stderr=printed, start_new_session=True
        )
        try:
            code = job.wait(SECONDS)
        finally:
            end(job.pid, short)
        text = Path(printed.name).read_text()
    assert code == 2, text  # the nodes are there, their GPUs and weights are not
    needs = [line for line in text.splitlines() if line.startswith("Needs:")]
    assert any("needs 8 GPUs a node and nvidia-smi shows 0" in line for line in needs), text
    assert not any("Ray" in line for line in needs), needs


@pytest.fixture
def short():
    """A folder for Ray, whose paths it keeps short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield folder


def free_port():
    """Outside the ports that Ray gives to its workers."""
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]


def end(group, folder):
    """What Slurm does at a job's end: no process of it stays."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(folder in part for part in process.cmdline()):
                process.kill()
