"""The corpus measures of captioning, through the four steps."""

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


def measured(*captions, scorer=""):
    questions = [question(question_id=f"q/{i}", answer=r) for i, r in enumerate(REFERENCES)]
    predictions = [
        prediction(question_id=f"q/{i}", text=text or "", error="" if text is not None else "down")
        for i, text in enumerate(captions)
    ]
    scores = pipeline.score(TASK, questions, predictions, [], scorer)
    rows = pipeline.summarise(TASK, questions, predictions, scores)
    assert {row.category for row in rows} == {"all"}
    return {row.metric: row for row in rows}


def test_measures_are_those_of_the_corpus():
    captions = ["A red dog sits here", "owls fly in the sky"]
    metrics = measured(*captions)
    expected = score_captions(
        [CaptionPair(*pair) for pair in zip(captions, REFERENCES, strict=True)]
    )
    assert metrics["cider"].value == pytest.approx(expected.cider.mean())
    assert metrics["rouge_l"].value == pytest.approx(expected.rouge_l.mean())
    assert metrics["bleu_4"].value == pytest.approx(corpus_bleu(expected)[3])
    assert metrics["bleu"].value == pytest.approx(corpus_bleu(expected).mean())
    assert metrics["cider"].low <= metrics["cider"].value <= metrics["cider"].high


def test_the_official_reading_splits_at_blanks_and_minds_case():
    brevity = math.exp(1 - 8 / 6)  # the closest references have 5 and 3 words
    captions = ("a red cat sits here", "x")
    assert measured(*captions)["bleu_1"].value == pytest.approx(5 / 6 * brevity)
    # "A" and "here." are other words than "a" and "here".
    found = measured(*captions, scorer="official")["bleu_1"].value
    assert found == pytest.approx(3 / 6 * brevity)


def test_without_a_caption_nothing_is_measured():
    metric = measured(None, None)["rouge_l"]
    assert math.isnan(metric.value)
    assert (metric.n_scored, metric.n_unscored) == (0, 2)


def test_the_intervals_of_captions_end_where_the_measures_do():
    written = [("a red cat sits",), ("two owls fly south",), ("much snow falls today",)]
    questions = [question(question_id=f"q/{i}", answer=one) for i, one in enumerate(written)]
    predictions = [prediction(question_id=f"q/{i}", text=one) for i, (one,) in enumerate(written)]
    rows = pipeline.summarise(
        TASK, questions, predictions, pipeline.score(TASK, questions, predictions, [])
    )
    values = {row.metric: (row.value, row.high) for row in rows}
    assert values["rouge_l"] == (pytest.approx(1), pytest.approx(1))
    assert values["cider"] == (pytest.approx(10), pytest.approx(10))


def test_a_caption_without_points_is_in_no_corpus():
    questions = [
        question(question_id=f"q/{i}", answer=reference) for i, reference in enumerate(REFERENCES)
    ]
    predictions = [
        prediction(question_id="q/0", text="A red cat"),
        prediction(question_id="q/1", text="", error="down"),
    ]
    scored = [
        ScoredQuestion(question, score)
        for question, score in zip(
            questions, pipeline.score(TASK, questions, predictions, []), strict=False
        )
    ]
    unscored = ScoredQuestion(
        questions[1], replace(scored[0].score, question_id="q/1", points=None)
    )
    alone = score_captions([CaptionPair("A red cat", REFERENCES[0])])
    assert per_caption_cider([scored[0], unscored]) == alone.cider.tolist()


def test_an_empty_response_is_a_wrong_caption():
    metric = measured("A red cat sits here", "")["rouge_l"]
    assert (metric.value, metric.n_scored) == (pytest.approx(0.5), 2)
