"""Requests for verdicts, and for unreadable ones again."""

from collections import Counter

import pytest

from bench_assets.core.judging.verdict_requests import (
    FIRST_RESPONSE_SUFFIX,
    MAX_TRIES,
    RECORDED_PREFIX,
    JudgeCall,
    VerdictRequest,
    ask_for_verdicts,
    call_judge,
    final_judgements,
    first_judgements,
    group_judgements,
)
from bench_assets.core.judging.verdicts import YES_OR_NO, read_word
from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.rows import Judgement
from tests.fakes.rows import prediction, question

RESPONSES = {"0": ["yes"], "1": ["Hm.", "no"], "2": ["", "yes"], "3": ["no"], "4": ["Hm."] * 9}


class Judge:
    """Says what stands above, by what is asked and for how many times."""

    name = signature = "judge"

    def __init__(self):
        self.asked = Counter[str]()

    def response(self, requests):
        found = []
        for request in requests:
            about = request.prompt.turns[0].parts[0]
            found.append(Response(text=RESPONSES[about][self.asked[about]]))
            self.asked[about] += 1
        return found


def verdict(response):
    return read_word(response.parts.answer, YES_OR_NO)


def test_an_unreadable_verdict_is_requested_once_more():
    verdict_requests = [
        VerdictRequest(question(), prediction(question_id=f"t/{n}"), Prompt.of(n), verdict, "so")
        for n in RESPONSES
    ]
    verdicts = ask_for_verdicts(verdict_requests, Judge(), "Print yes or no.")
    assert [rows[0].question_id for rows in verdicts] == [f"t/{n}" for n in RESPONSES]
    assert [rows[0].verdict for rows in verdicts] == [True, False, True, False, None]
    assert [len(rows) for rows in verdicts] == [1, 2, 2, 1, 1]  # of equals the first stays


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


class ScriptedJudge:
    """Says one thing after the other, whatever it is asked, and keeps what it was asked."""

    name = "judge"

    def __init__(self, *responses, signature="judge"):
        self.left, self.asked, self.signature = list(responses), [], signature

    def response(self, requests):
        self.asked += requests
        return [
            one if isinstance(one, Response) else Response(text=one)
            for one in (self.left.pop(0) for _ in requests)
        ]


def judged(judge):
    verdict_requests = [
        VerdictRequest(question(), prediction(sample=2), Prompt.of("Is it so?"), verdict, "so")
    ]
    (rows,) = ask_for_verdicts(verdict_requests, judge, "Print yes or no.")
    return rows


@pytest.mark.parametrize(
    ("responses", "n_requests", "verdict"),
    [
        pytest.param(["yes"], 1, True, id="what can be read is not asked again"),
        pytest.param(["Hm.", "no"], 2, False, id="what cannot is"),
        pytest.param(
            ["I have no idea."] * MAX_TRIES, MAX_TRIES, None, id="and in the end not guessed"
        ),
        pytest.param(["", "yes"], 2, True, id="an empty response is asked again"),
        *(
            pytest.param(
                [response] * MAX_TRIES, MAX_TRIES, None, id=f"it contradicts itself: {response}"
            )
            for response in (
                "Yes. No.",
                "Yes and no.",
                "yes or no",
                "Yes, but also no.",
                "既是又否",
            )
        ),
    ],
)
def test_a_verdict_is_requested_until_it_can_be_read(responses, n_requests, verdict):
    judge = ScriptedJudge(*responses)
    (row,) = final_judgements(judged(judge))
    assert (row.verdict, len(judge.asked)) == (verdict, n_requests)
    assert {request.sample for request in judge.asked} == {2}
    assert len({request.prompt.sha256 for request in judge.asked}) == n_requests


def test_the_complaint_quotes_the_beginning_of_the_response():
    judge = ScriptedJudge("Hm." * 5000, "yes")
    judged(judge)
    first, second = (request.prompt.turns[0].parts for request in judge.asked)
    assert second[: len(first)] == first
    assert second[-1].startswith('\n\nYou replied:\n"""\nHm.Hm.')
    assert second[-1].endswith('"""\nPrint yes or no.')
    assert len(second[-1]) < 2100


def test_what_came_at_first_is_kept_for_readings_whose_authors_ask_once():
    rows = judged(ScriptedJudge("yes, maybe", "no"))
    assert [(row.criterion, row.response, row.verdict) for row in rows] == [
        ("so", "no", False),
        (f"so{FIRST_RESPONSE_SUFFIX}", "yes, maybe", None),
    ]
    assert [row.response for row in first_judgements(rows)] == ["yes, maybe"]
    assert [row.criterion for row in first_judgements(rows)] == ["so"]
    assert len({row.prompt_sha256 for row in rows}) == 2


def test_without_a_response_nothing_is_requested_again():
    judge = ScriptedJudge(Response(error="503"))
    assert [(row.verdict, row.error) for row in judged(judge)] == [(None, "503")]
    assert len(judge.asked) == 1
    again = judged(ScriptedJudge("Hm.", Response(error="503")))
    assert [(row.verdict, row.error) for row in final_judgements(again)] == [(None, "503")]


def test_a_judge_whose_words_are_recorded_has_no_others():
    judge = ScriptedJudge("Hm.", signature=f"{RECORDED_PREFIX}responses.jsonl")
    assert [row.verdict for row in judged(judge)] == [None]
    assert len(judge.asked) == 1


def test_of_several_responses_the_one_with_the_fewest_gaps_is_kept():
    call = JudgeCall(Request(prompt=Prompt.of("1? 2?")), lambda response: response.text.count("?"))
    (judged_call,) = call_judge(
        [call], ScriptedJudge("1: ? 2: ?", "1: yes 2: ?", "1: no 2: ?"), "Both."
    )
    assert judged_call.response.text == "1: yes 2: ?"
    assert judged_call.first[1].text == "1: ? 2: ?"


def test_without_requests_the_judge_is_not_called():
    judge = ScriptedJudge()
    assert call_judge([], judge, "") == []
    assert judge.asked == []
