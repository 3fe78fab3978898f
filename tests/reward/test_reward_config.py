"""Bad settings are refused with the field, the value and what would be right."""

import dataclasses

import pytest

from proverl.reward import RewardConfig


def test_defaults_are_the_papers():
    assert dataclasses.astuple(RewardConfig()) == (0.5, 0.5, 0.15, 0.2, 0.1, 0.5, 0.5, False)


@pytest.mark.parametrize("name", ["validity", "coverage", "efficiency", "name", "arg", "alpha", "beta"])
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "0.5", None, True])
def test_bad_numbers_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^reward.{name} is .*; it must be a finite number of at least 0$"):
        RewardConfig(**{name: value})


def test_paper_exact_is_a_switch():
    with pytest.raises(ValueError, match="reward.paper_exact is 'yes'; it must be true or false"):
        RewardConfig(paper_exact="yes")
