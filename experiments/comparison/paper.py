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

    def difference(self, model: str, variant: str, reference: str, figure: str) -> float | None:
        """A variant minus the reference, in points, for the paper's model `model`; None where it reports none.

        None also for the reference itself: what ours differ in from it, the paper has not.
        """
        if variant == reference:
            return None
        found, other = (self.variants[model].get(name, {}).get(figure) for name in (variant, reference))
        return None if found is None or other is None else found - other


@cache
def paper() -> Paper:
    """The file's content."""
    return TypeAdapter(Paper).validate_python(
        OmegaConf.to_container(OmegaConf.load(Path(__file__).with_name("paper.yaml")))
    )
