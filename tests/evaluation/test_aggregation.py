from math import isnan

import pytest

from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.aggregation import blank_metric, response_parts
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import prediction


def test_a_blank_metric_names_its_subject_and_has_no_value():
    questions = quiz(2)
    row = blank_metric(
        TASK,
        questions,
        "m",
        {"model": "a|b", "n": "2"},
        n_failed=1,
        condition="main~blind",
        leading_parts={"judge": "none"},
    )
    data = digest(questions)[:12]
    assert row.signature == f"quiz|v1|main~blind|judge:none|data:{data}|model:a|b|n:2"
    assert (row.data, row.questions) == (data, data)
    assert (row.task, row.model, row.condition, row.category) == ("quiz", "m", "main", "all")
    assert isnan(row.value)
    assert (row.n_scored, row.n_failed, row.edition) == (0, 1, "mini")


@pytest.mark.parametrize(
    ("decodings", "expected"),
    [
        pytest.param(["m|t=0", "m|t=0"], "m|t=0", id="the same decoding"),
        pytest.param(["m|t=1", "m|t=0"], "m|t=0+m|t=1", id="two decodings"),
        pytest.param(["", ""], "elsewhere", id="imported responses"),
    ],
)
def test_signatures_name_each_decoding(decodings, expected):
    predictions = [prediction(decoding=decoding) for decoding in decodings]
    assert response_parts(predictions) == {"model": expected}


def test_signatures_have_the_number_of_draws():
    draws = [prediction(decoding="m", sample=sample) for sample in range(3)]
    assert response_parts(draws) == {"draws": "3", "model": "m"}
