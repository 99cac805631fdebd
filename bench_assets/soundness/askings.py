"""Who was asked without pictures: models that cannot see, and conditions that show none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bench_assets.core.rows import Prediction
from bench_assets.soundness.evidence import Evidence, Results
from bench_assets.task import CANNOT_BE_READ

_ASKED = 5  # questions of a condition whose prompts are looked at
_BLIND = "text_only"
"""What stands in the decoding of a model that cannot see, see ``TransformersSpec.text_only``."""
_BASELINES = frozenset({"random", "most_frequent", "constant"})

Seeing: TypeAlias = Literal["sees", "cannot see", "baseline"]


@dataclass(frozen=True, kw_only=True)
class Asking:
    """One model under one condition without pictures."""

    model: str
    condition: str
    predictions: Sequence[Prediction]

    @property
    def shown(self) -> str:
        """The model, and how it was asked."""
        return self.model if self.condition == "main" else f"{self.model} ({self.condition})"


def how_seeing(evidence: Evidence, models: Sequence[str]) -> dict[str, Seeing]:
    """Model -> whether it looks at pictures, as its replies to the paper's condition tell."""
    return {model: _seeing(evidence, model) for model in models}


def askings_without(
    evidence: Evidence, main: Results, known: Mapping[str, Seeing]
) -> Iterator[Asking]:
    """Find who was asked without pictures; baselines, which ask nobody, are left out."""
    for model in main.models:
        if known[model] == "cannot see":
            yield Asking(model=model, condition="main", predictions=evidence.predictions(model))
    for name in evidence.task.conditions:
        if name != "main" and _shows_nothing(evidence, name):
            for model in evidence.results(name).models:
                if _seeing(evidence, model, name) != "baseline":
                    said = evidence.predictions(model, name)
                    yield Asking(model=model, condition=name, predictions=said)


def _shows_nothing(evidence: Evidence, condition: str) -> bool:
    """Whether the prompts of a condition have no pictures, of questions that have some."""
    asking = evidence.task.conditions[condition]
    if asking.own_questions:  # captions, texts in pictures: they tell what the pictures show
        return False
    some = [one for one in evidence.questions if one.images][:_ASKED]
    try:
        return bool(some) and not any(asking.prompt(one).images for one in some)
    except CANNOT_BE_READ:
        return False


def _seeing(evidence: Evidence, model: str, condition: str = "main") -> Seeing:
    said = evidence.columns("predictions", model, ("decoding",), condition)["decoding"]
    marks = {*said[0].replace("|", ",").split(",")} if said else set()
    return "baseline" if marks & _BASELINES else "cannot see" if _BLIND in marks else "sees"
