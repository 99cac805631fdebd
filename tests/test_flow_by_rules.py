"""Rules that judge each response by itself see a block of responses at a time."""

import pytest

from bench_assets.core.schema.rows import Judgement
from bench_assets.core.tables.large_tables import BLOCK_ROWS, column
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByRules
from tests.flowing import task
from tests.rows import prediction, question


@pytest.mark.parametrize(
    ("each", "n", "seen"),
    [
        pytest.param(True, BLOCK_ROWS + 3, [BLOCK_ROWS, 3], id="each by itself"),
        pytest.param(False, BLOCK_ROWS + 3, [BLOCK_ROWS + 3], id="all together"),
        pytest.param(True, 3, [3], id="few"),
    ],
)
def test_every_response_is_judged_once_and_in_order(each, n, seen):
    sizes = []

    def rules(answered):
        sizes.append(len(answered))
        return [
            Judgement.of(said, judge="rules", criterion="c", verdict=True, response="")
            for _, said in answered
        ]

    responses = [prediction(sample=number) for number in range(n)]
    judged = {"judges": {"rules": ByRules(rules, each=each)}}
    found = pipeline.judge(task(**judged), [question()], responses, None)
    assert sizes == seen
    assert list(column(found, "sample")) == list(range(n))
