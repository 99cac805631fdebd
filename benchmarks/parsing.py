"""CPU milliseconds to read the answer from a response, by the response's length."""

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
    """Score responses that reason before the answer."""
    short, long, longest = (_milliseconds_per_response(length) for length in (20, 2000, 20_000))
    growth = longest / long / 10
    return [
        Figure("response of 20 characters: CPU", short, at_most=0.7, unit="ms"),
        Figure("response of 2,000 characters: CPU", long, at_most=8, unit="ms"),
        Figure("response of 20,000: CPU, linear growth = 1", growth, at_most=1.5),
    ]


def _milliseconds_per_response(length: int) -> float:
    """CPU milliseconds for a response of at least some characters, the least of three runs."""
    n = max(3, 40_000 // length // 10)
    questions = [
        question(question_id=str(number), kind="choice", options=_OPTIONS) for number in range(n)
    ]
    cpu_seconds = []
    for run in range(3):
        predictions = [  # with new texts in each run, as the parser caches texts
            prediction(question_id=str(number), text=_draw_response(length, n * run + number))
            for number in range(n)
        ]
        judgements = pipeline.judge(TASK, questions, predictions, None)
        started = process_time()
        pipeline.score(TASK, questions, predictions, judgements)
        cpu_seconds.append(process_time() - started)
    return min(cpu_seconds) / n * 1000


def _draw_response(length: int, seed: int) -> str:
    """Draw sentences up to a length or a little more, and add an answer."""
    rng, text = Random(seed), f"{seed}."
    while len(text) < length:
        text += f" {rng.choice(_SENTENCES)}"
    return f"{text} Therefore, the answer is (B)."
