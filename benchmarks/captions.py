"""CPU seconds to score captions as one corpus, with and without the task's scorers and measures."""

from pathlib import Path
from random import Random
from time import process_time

from bench_assets.core.metrics.captions import CaptionPair, score_captions
from bench_assets.evaluation import pipeline
from bench_assets.suites.journeybench.captioning.task import TASK
from benchmarks.figures import Figure
from tests.fakes.rows import prediction, question

N_CAPTIONS = 5000
_NOUNS = [f"{a}{b}" for a in ("cat", "owl", "car", "sky", "hat", "cake") for b in "abcdefghij"]
_WORDS = (*_NOUNS, *["a", "the", "on"] * 8)


def measure(_: Path) -> list[Figure]:
    """Score captions with five references each, by the metric alone and by the task."""
    rng = Random(0)
    corpus = [
        CaptionPair(_draw_sentence(rng), tuple(_draw_sentence(rng) for _ in range(5)))
        for _ in range(N_CAPTIONS)
    ]
    questions, responses = [], []
    for number, pair in enumerate(corpus):
        questions.append(question(question_id=str(number), answer=pair.references))
        responses.append(prediction(question_id=str(number), text=pair.candidate))
    started = process_time()
    score_captions(corpus)
    metric_seconds = process_time() - started
    started = process_time()
    pipeline.summarise(TASK, questions, responses, pipeline.score(TASK, questions, responses, []))
    task_seconds = process_time() - started
    title = f"{N_CAPTIONS:,} captions: CPU"
    return [
        Figure(f"{title} of the metric alone", metric_seconds, unit="s"),
        Figure(f"{title} of scorers and measures", task_seconds, at_most=2.5, unit="s"),
    ]


def _draw_sentence(rng: Random) -> str:
    words = (rng.choice(_WORDS) for _ in range(rng.randint(9, 16)))
    return f"{' '.join(words)}.".capitalize()
