"""Evaluate a policy on benchmarks, without training.

    uv run python -m experiments.evaluate                                               # the tiny model, held-out tasks
    uv run python -m experiments.evaluate model=qwen3_4b profile=h100x8 'evals=[bfcl,tau2]'
    uv run python -m experiments.evaluate 'evals=[bfcl]' policy=endpoint policy.base_url=URL policy.model=NAME
    uv run python -m experiments.evaluate 'evals=[bfcl]' policy=oracle                  # or silent: full mark and floor

It is a run whose only stages are the evaluation and what that needs: every other setting of a run can be given too. A
killed command goes on where it was when it is typed again.
"""

import runpy
import signal
import sys

from experiments.usage import answered


def main() -> None:
    """Name the stages, then run."""
    if answer := answered(sys.argv[1:], evaluate=True):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` has enough of it
        print(answer)
        return
    if not any(argument.startswith("stages=") for argument in sys.argv[1:]):
        sys.argv.append(f"stages=[{','.join(_stages(sys.argv[1:]))}]")
    runpy.run_module("experiments.run", run_name="__main__")


def _stages(argv: list[str]) -> list[str]:
    from experiments.compose import check
    from experiments.config import ConfigError

    try:
        jobs = check([*argv, "stages=[evals]"])
    except ConfigError:
        return ["evals"]  # told by the run, in its own words
    if not any(job.evals.benchmarks for job in jobs):
        print("evals names no benchmark: choose some, e.g. 'evals=[heldout,bfcl]'.", file=sys.stderr)
        sys.exit(2)
    heldout = any("heldout" in job.evals.benchmarks for job in jobs)
    return ["synth", "evals"] if heldout else ["evals"]


if __name__ == "__main__":
    main()
