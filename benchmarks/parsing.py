"""What it takes to read an answer out of a response, by its length."""

from pathlib import Path
from random import Random
from time import process_time

from bench_assets.evaluation import pipeline
from bench_assets.suites.blink.task import TASK
from benchmarks.figures import Figure
from tests.fakes.rows import prediction, question

_OPTIONS = ("the red mug on the left", "the blue bowl on the right", "the plate", "none of them")
_SENTENCES = (
    "Let me look at the image step by step.",
    "The first object (A) is closer to the camera than the second one.",
    "Option B mentions the bowl; however, its shadow falls the other way.",
    "It is not C, because the plate is behind the table.",
    "The textures are similar: fine grain, dark lines, and a smooth border.",
    "Wait, let me check the corner again: there are 3 objects, of which 2 are round.",
)


def measure(_: Path) -> list[Figure]:
    """Read responses that think aloud before they answer."""
    short, long, longest = (_milliseconds(length) for length in (20, 2000, 20_000))
    return [
        Figure(what="(17) scorer 20 characters, CPU", value=short, most=0.7, unit="ms"),
        Figure(what="(17) scorer 2,000 characters, CPU", value=long, most=8, unit="ms"),
        Figure(what="(17) ten times as many: of linear", value=longest / long / 10, most=1.5),
    ]


def _milliseconds(length: int) -> float:
    """CPU for each of some responses, the shortest of three runs."""
    n = max(3, 40_000 // length // 10)
    asked = [question(question_id=str(k), kind="choice", options=_OPTIONS) for k in range(n)]
    times = []
    for run in range(3):  # a text that was read before is remembered
        said = [
            prediction(question_id=str(k), text=_response(length, n * run + k)) for k in range(n)
        ]
        judged = pipeline.judge(TASK, asked, said, None)
        started = process_time()
        pipeline.score(TASK, asked, said, judged)
        times.append(process_time() - started)
    return min(times) / n * 1000


def _response(length: int, seed: int) -> str:
    rng, said = Random(seed), f"{seed}."
    while len(said) < length:
        said += f" {rng.choice(_SENTENCES)}"
    return f"{said} Therefore, the answer is (B)."
