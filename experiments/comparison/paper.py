"""The paper's own figures (`paper.yaml`), to stand beside ours."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from omegaconf import OmegaConf
from pydantic import TypeAdapter

Values = dict[str, float]


@dataclass(frozen=True)
class Paper:
    """Figures by model, variant and name; percent, but for `components`, which are means of the reward's parts."""

    source: str
    ablated: str
    models: dict[str, str]
    overlays: dict[str, str]
    scores: dict[str, str]
    titles: dict[str, str]
    variants: dict[str, dict[str, Values]]
    components: dict[str, dict[str, Values]]

    def variant(self, experiment: str) -> str:
        """What an overlay is in the paper; one that it has not is itself."""
        return self.overlays.get(experiment, experiment)

    def beside(self, model: str) -> str:
        """The paper's model whose figures stand beside a run's: the same one, or that of the ablations."""
        return model if model in self.variants else self.ablated

    def difference(self, model: str, variant: str, figure: str) -> float | None:
        """A variant minus the whole method, in points, for the paper's model `model`; None where it reports none.

        None also for the whole method itself: what ours differ in from it, the paper has not.
        """
        if variant == "full":
            return None
        found, full = (self.variants[model].get(name, {}).get(figure) for name in (variant, "full"))
        return None if found is None or full is None else found - full


@cache
def paper() -> Paper:
    """The file's content."""
    return TypeAdapter(Paper).validate_python(
        OmegaConf.to_container(OmegaConf.load(Path(__file__).with_name("paper.yaml")))
    )
