"""Requests for verdicts, and for unreadable ones again."""

from collections import Counter

import pytest

from bench_assets.core.judging.verdict_requests import (
    VerdictRequest,
    ask_for_verdicts,
    group_judgements,
)
from bench_assets.core.reading.verdicts import YES_OR_NO, read_word
from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.rows import Judgement
from tests.fakes.rows import prediction, question

RESPONSES = {"0": ["yes"], "1": ["Hm.", "no"], "2": ["", "yes"], "3": ["no"], "4": ["Hm."] * 9}


class Judge:
    """Says what stands above, by what is asked and for how many times."""

    name = signature = "judge"

    def __init__(self):
        self.asked = Counter()

    def response(self, requests):
        found = []
        for one in requests:
            about = one.prompt.turns[0].parts[0]
            found.append(Response(text=RESPONSES[about][self.asked[about]]))
            self.asked[about] += 1
        return found


def verdict(response):
    return read_word(response.said.answer, YES_OR_NO)


def test_an_unreadable_verdict_is_requested_once_more():
    verdict_requests = [
        VerdictRequest(question(), prediction(question_id=f"t/{n}"), Prompt.of(n), verdict, "so")
        for n in RESPONSES
    ]
    found = ask_for_verdicts(verdict_requests, Judge(), "Print yes or no.")
    assert [rows[0].question_id for rows in found] == [f"t/{n}" for n in RESPONSES]
    assert [rows[0].verdict for rows in found] == [True, False, True, False, None]
    assert [len(rows) for rows in found] == [1, 2, 2, 1, 1]  # of equals the first stays


GROUPED_RESPONSES = [
    prediction(question_id=f"t/{n}", sample=sample) for n in range(3) for sample in range(2)
]
GROUPED_VERDICTS = [
    Judgement.of(row, judge="j", criterion=criterion, verdict=True, response="")
    for row in GROUPED_RESPONSES
    for criterion in ("right", "short")
]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 0, 3, 2, 1, 4], [1, 4]])
def test_verdicts_are_grouped_in_the_order_of_the_responses(order: list[int]) -> None:
    groups = group_judgements([GROUPED_RESPONSES[n] for n in order], GROUPED_VERDICTS)
    assert groups == [GROUPED_VERDICTS[2 * n : 2 * n + 2] for n in order]


def test_a_response_without_verdicts_has_an_empty_group() -> None:
    assert group_judgements(GROUPED_RESPONSES[:2], GROUPED_VERDICTS[2:4]) == [
        [],
        GROUPED_VERDICTS[2:4],
    ]
