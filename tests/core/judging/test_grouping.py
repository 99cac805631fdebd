import pytest

from bench_assets.core.judging.grouping import group_judgements
from bench_assets.core.schema.rows import Judgement
from tests.rows import prediction

RESPONSES = [
    prediction(question_id=f"t/{n}", sample=sample) for n in range(3) for sample in range(2)
]
VERDICTS = [
    Judgement.of(row, judge="j", criterion=criterion, verdict=True, response="")
    for row in RESPONSES
    for criterion in ("right", "short")
]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 0, 3, 2, 1, 4], [1, 4]])
def test_verdicts_are_grouped_in_the_order_of_the_responses(order: list[int]) -> None:
    groups = group_judgements([RESPONSES[n] for n in order], VERDICTS)
    assert groups == [VERDICTS[2 * n : 2 * n + 2] for n in order]


def test_a_response_without_verdicts_has_an_empty_group() -> None:
    assert group_judgements(RESPONSES[:2], VERDICTS[2:4]) == [[], VERDICTS[2:4]]
