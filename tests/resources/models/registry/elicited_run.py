"""Asks twelve questions for likelihoods: ``python -m`` this module, URL FILE."""

import sys
from pathlib import Path

from bench_assets.core.schema.elicitation import Elicitation
from bench_assets.core.schema.rows import Prediction
from bench_assets.evaluation import pipeline
from bench_resources.models.registry.elicited_model import ElicitedModel
from tests.fakes.quiz import TASK
from tests.fakes.rows import question
from tests.fakes.server_engines import remembering

TWELVE = [
    question(
        question_id=f"q/{n}", kind="choice", text=f"Number {n}?", options=("x", "y"), answer=("A",)
    )
    for n in range(12)
]


def predict(url: str, file: Path) -> list[Prediction]:
    """Ask, two at a time."""
    model = remembering(url, file, concurrency=2)
    elicited = ElicitedModel(model, "m", Elicitation("likelihood"))
    return pipeline.predict(TASK, TWELVE, elicited)


if __name__ == "__main__":
    predict(sys.argv[1], Path(sys.argv[2]))
