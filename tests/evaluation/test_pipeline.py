"""The shares and bounds beside a metric."""

from bench_assets.core.schema.rows import format_value, is_hidden, unread_bounds
from bench_assets.evaluation import pipeline
from bench_assets.suites.cogbench.vqa.task import TASK
from tests.rows import prediction, question

TEXTS = ["Answer: A"] * 5 + ["Answer: B"] * 2 + ["B) seems to fit"] + ["What a strange place."] * 2


def measured(texts):
    asked = [
        question(question_id=f"t/{n}", kind="choice", options=("x", "y"), answer=("A",))
        for n in range(len(texts))
    ]
    said = [
        prediction(question_id=one.question_id, text=t) for one, t in zip(asked, texts, strict=True)
    ]
    scores = pipeline.score(TASK, asked, said, [])
    return pipeline.summarise(TASK, asked, said, scores)[0]


def test_a_metric_has_its_shares_and_both_bounds():
    row = measured(TEXTS)
    assert (row.value, row.unread, row.named, row.asked_again) == (0.5, 0.2, 0.1, 0.0)
    assert (row.if_unread_wrong, row.if_unread_right) == (0.5, 0.7)
    assert unread_bounds(row) == (0.5, 0.7)
    assert is_hidden(row)
    assert format_value(row) == "0.500 to 0.700"


def test_without_unread_responses_there_are_no_bounds():
    row = measured(TEXTS[:8])
    assert (row.unread, row.if_unread_wrong, row.if_unread_right) == (0.0, None, None)
    assert unread_bounds(row) is None
    assert format_value(row) == "0.625"


def test_a_tenth_may_be_unread():
    row = measured(TEXTS[:9])
    assert row.unread == 1 / 9
    assert is_hidden(row)
    assert not is_hidden(measured(["Answer: A", *TEXTS[:9]]))
