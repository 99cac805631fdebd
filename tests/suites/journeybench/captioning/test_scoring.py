import math
from dataclasses import replace

import pytest

from bench_assets.core.metrics.captions import CaptionPair, corpus_bleu, score_captions
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.journeybench.captioning.scoring import per_caption_cider
from bench_assets.suites.journeybench.captioning.task import TASK
from tests.fakes.rows import prediction, question

REFERENCES = [("A red cat sits here.", "The cat is red."), ("Two owls fly!", "Owls in the sky")]


def measure(*captions, references=REFERENCES, scorer=""):
    """Metrics of captions by name; None is a request without a response."""
    questions = [question(question_id=f"q/{i}", answer=texts) for i, texts in enumerate(references)]
    predictions = [
        prediction(question_id=f"q/{i}", text=text or "", error="" if text is not None else "down")
        for i, text in enumerate(captions)
    ]
    scores = pipeline.score(TASK, questions, predictions, [], scorer)
    rows = pipeline.summarise(TASK, questions, predictions, scores)
    assert {row.category for row in rows} == {"all"}
    return {row.metric: row for row in rows}


def test_metrics_are_those_of_the_corpus():
    captions = ["A red dog sits here", "owls fly in the sky"]
    pairs = [CaptionPair(*pair) for pair in zip(captions, REFERENCES, strict=True)]
    corpus = score_captions(pairs)
    *_, bleu_4 = corpus_bleu(corpus)
    metrics = measure(*captions)
    assert metrics["cider"].value == pytest.approx(corpus.cider.mean())
    assert metrics["rouge_l"].value == pytest.approx(corpus.rouge_l.mean())
    assert metrics["bleu_4"].value == pytest.approx(bleu_4)
    assert metrics["bleu"].value == pytest.approx(corpus_bleu(corpus).mean())


@pytest.mark.parametrize(
    ("scorer", "n_right"),
    [
        pytest.param("", 5, id="lower case, without punctuation"),
        # "A" and "here." are other words than "a" and "here".
        pytest.param("official", 3, id="officially split at blanks"),
    ],
)
def test_scorers_split_captions_into_words(scorer, n_right):
    brevity = math.exp(1 - 8 / 6)  # 6 words; the closest references have 5 and 3
    metric = measure("a red cat sits here", "x", scorer=scorer)["bleu_1"]
    assert metric.value == pytest.approx(n_right / 6 * brevity)


def test_without_a_caption_nothing_is_measured():
    metric = measure(None, None)["rouge_l"]
    assert math.isnan(metric.value)
    assert (metric.n_scored, metric.n_unscored) == (0, 2)


def test_intervals_end_at_the_highest_value_of_a_measure():
    captions = ["a red cat sits", "two owls fly south", "much snow falls today"]
    metrics = measure(*captions, references=[(caption,) for caption in captions])
    assert (metrics["rouge_l"].value, metrics["rouge_l"].high) == pytest.approx((1, 1))
    assert (metrics["cider"].value, metrics["cider"].high) == pytest.approx((10, 10))


def test_a_caption_without_points_is_in_no_corpus():
    first, second = (
        question(question_id=f"q/{i}", answer=texts) for i, texts in enumerate(REFERENCES)
    )
    predictions = [prediction(question_id="q/0", text="A red cat")]
    (score,) = pipeline.score(TASK, [first], predictions, [])
    unscored = replace(score, question_id="q/1", points=None)
    corpus = score_captions([CaptionPair("A red cat", REFERENCES[0])])
    pairs = [ScoredQuestion(first, score), ScoredQuestion(second, unscored)]
    assert per_caption_cider(pairs) == corpus.cider.tolist()


def test_an_empty_response_is_a_wrong_caption():
    metric = measure("A red cat sits here", "")["rouge_l"]
    assert (metric.value, metric.n_scored) == (pytest.approx(0.5), 2)
