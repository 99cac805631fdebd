"""What it takes to score captions: through the task's own scorers and measures, as one corpus."""

from pathlib import Path
from random import Random
from time import process_time

from bench_assets.core.metrics.captions import CaptionPair, score_captions
from bench_assets.evaluation import pipeline
from bench_assets.suites.journeybench.captioning.task import TASK
from benchmarks.figures import Figure
from tests.fakes.rows import prediction, question

N = 5000
_WORDS = [f"{a}{b}" for a in ("cat", "owl", "car", "sky", "hat", "cake") for b in "abcdefghij"]


def measure(_: Path) -> list[Figure]:
    """Score 5,000 captions, five references each, by the metric alone and as the task does."""
    rng = Random(0)
    corpus = [
        CaptionPair(_sentence(rng), tuple(_sentence(rng) for _ in range(5))) for _ in range(N)
    ]
    questions = [question(question_id=str(n), answer=c.references) for n, c in enumerate(corpus)]
    responses = [prediction(question_id=str(n), text=c.candidate) for n, c in enumerate(corpus)]
    started = process_time()
    score_captions(corpus)
    alone = process_time() - started
    started = process_time()
    pipeline.summarise(TASK, questions, responses, pipeline.score(TASK, questions, responses, []))
    whole = process_time() - started
    return [
        Figure(what=f"{N:,} captions, the metric alone, CPU", value=alone, unit="s"),
        Figure(what=f"{N:,} captions, scorers and measures, CPU", value=whole, most=2.5, unit="s"),
    ]


def _sentence(rng: Random) -> str:
    words = (rng.choice((*_WORDS, *["a", "the", "on"] * 8)) for _ in range(rng.randint(9, 16)))
    return f"{' '.join(words)}.".capitalize()
