from functools import partial

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

verdict_request = partial(
    VerdictRequest,
    question(),
    read=lambda response: read_word(response.parts.answer, YES_OR_NO),
    criterion="so",
)
PREDICTIONS = [
    prediction(question_id=f"t/{n}", sample=sample) for n in range(3) for sample in range(2)
]
JUDGEMENTS = [  # two of each prediction
    Judgement.of(row, judge="j", criterion=criterion, verdict=True, response="")
    for row in PREDICTIONS
    for criterion in ("right", "short")
]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 0, 3, 2, 1, 4], [1, 4]])
def test_judgements_are_grouped_in_the_order_of_the_predictions(order: list[int]) -> None:
    groups = group_judgements([PREDICTIONS[n] for n in order], JUDGEMENTS)
    assert groups == [JUDGEMENTS[2 * n : 2 * n + 2] for n in order]


def test_a_prediction_without_judgements_has_an_empty_group() -> None:
    second_group = JUDGEMENTS[2:4]
    assert group_judgements(PREDICTIONS[:2], second_group) == [[], second_group]


class ScriptedJudge:
    """Gives its responses in order, whatever the requests, and records the requests."""

    name = "judge"

    def __init__(self, *responses, signature="judge"):
        self.responses = [
            Response(text=response) if isinstance(response, str) else response
            for response in responses
        ]
        self.requests, self.signature = [], signature

    def response(self, requests):
        self.requests += requests
        return [self.responses.pop(0) for _ in requests]


def test_only_unreadable_verdicts_of_several_are_requested_once_more():
    verdict_requests = [
        verdict_request(prediction(question_id=f"t/{n}"), prompt=Prompt.of(str(n)))
        for n in range(5)
    ]
    judge = ScriptedJudge("yes", "Hm.", "", "no", "Hm.", "no", "yes", "Hm.")
    judgements = ask_for_verdicts(verdict_requests, judge, "Print yes or no.")
    final = final_judgements([row for rows in judgements for row in rows])
    assert [row.question_id for row in final] == ["t/0", "t/1", "t/2", "t/3", "t/4"]
    assert [row.verdict for row in final] == [True, False, True, False, None]
    # The first reply is kept beside a better one.
    assert [len(rows) for rows in judgements] == [1, 2, 2, 1, 1]


def judgements_by(judge):
    request = verdict_request(prediction(sample=2), prompt=Prompt.of("Is it so?"))
    (rows,) = ask_for_verdicts([request], judge, "Print yes or no.")
    return rows


@pytest.mark.parametrize(
    ("responses", "n_requests", "verdict"),
    [
        pytest.param(["yes"], 1, True, id="a readable reply is not requested again"),
        pytest.param(["Hm.", "no"], 2, False, id="an unreadable reply is requested again"),
        pytest.param(["I have no idea."] * MAX_TRIES, MAX_TRIES, None, id="no guess in the end"),
        pytest.param(["", "yes"], 2, True, id="an empty reply is requested again"),
        *(
            pytest.param(
                [response] * MAX_TRIES, MAX_TRIES, None, id=f"it contradicts itself: {response}"
            )
            for response in ("Yes. No.", "Yes and no.", "yes or no", "Yes, but no.", "既是又否")
        ),
    ],
)
def test_a_verdict_is_requested_until_it_can_be_read(responses, n_requests, verdict):
    judge = ScriptedJudge(*responses)
    (row,) = final_judgements(judgements_by(judge))
    assert (row.verdict, len(judge.requests)) == (verdict, n_requests)
    assert {request.sample for request in judge.requests} == {2}
    assert len({request.prompt.sha256 for request in judge.requests}) == n_requests


def test_the_second_request_quotes_the_beginning_of_the_first_reply():
    judge = ScriptedJudge("Hm." * 5000, "yes")
    judgements_by(judge)
    first, second = (request.prompt.turns[0].parts for request in judge.requests)
    assert second[: len(first)] == first
    assert second[-1].startswith('\n\nYou replied:\n"""\nHm.Hm.')
    assert second[-1].endswith('"""\nPrint yes or no.')
    assert second[-1].count("Hm.") == 2000 // 3  # whole ones in the 2,000 characters quoted


def test_the_first_reply_is_kept_for_metrics_whose_authors_request_once():
    rows = judgements_by(ScriptedJudge("yes, maybe", "no"))
    assert [(row.criterion, row.response, row.verdict) for row in rows] == [
        ("so", "no", False),
        (f"so{FIRST_RESPONSE_SUFFIX}", "yes, maybe", None),
    ]
    assert [row.response for row in first_judgements(rows)] == ["yes, maybe"]
    assert [row.criterion for row in first_judgements(rows)] == ["so"]
    assert len({row.prompt_sha256 for row in rows}) == 2


def test_a_failed_request_is_not_repeated():
    judge = ScriptedJudge(Response(error="503"))
    assert [(row.verdict, row.error) for row in judgements_by(judge)] == [(None, "503")]
    assert len(judge.requests) == 1


def test_an_error_of_the_second_request_is_the_final_judgement():
    rows = judgements_by(ScriptedJudge("Hm.", Response(error="503")))
    assert [(row.verdict, row.error) for row in final_judgements(rows)] == [(None, "503")]


def test_a_judge_with_recorded_replies_gets_no_second_request():
    judge = ScriptedJudge("Hm.", signature=f"{RECORDED_PREFIX}responses.jsonl")
    assert [row.verdict for row in judgements_by(judge)] == [None]
    assert len(judge.requests) == 1


def test_of_several_responses_the_first_one_with_the_fewest_gaps_is_kept():
    call = JudgeCall(Request(prompt=Prompt.of("1? 2?")), lambda response: response.text.count("?"))
    judge = ScriptedJudge("1: ? 2: ?", "1: yes 2: ?", "1: no 2: ?")
    (judged_call,) = call_judge([call], judge, "Both.", tries=3)
    _, first_response = judged_call.first
    assert judged_call.response.text == "1: yes 2: ?"
    assert first_response.text == "1: ? 2: ?"


def test_without_requests_the_judge_is_not_called():
    judge = ScriptedJudge()
    assert call_judge([], judge, "") == []
    assert judge.requests == []
