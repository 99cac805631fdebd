"""People's labels beside a judge's verdicts, by pencil."""

from dataclasses import replace

import pytest

from bench_assets.audit.judges.human_agreement import HumanLabel, pair_with_labels, read_labels
from bench_assets.core.judging.verdict_requests import FIRST_RESPONSE_SUFFIX
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement
from bench_assets.suites.codis.task import TASK
from tests.audit.judged import queries
from tests.rows import prediction

ASKED = {one.question_id: one for one in queries(6)}
SAID = [prediction(question_id=name, model="m") for name in ASKED]


def verdict(number, says, criterion="correct"):
    return Judgement.of(
        SAID[number], judge="j", criterion=criterion, verdict=says, response="right"
    )


def labels(number, *votes):
    return [
        HumanLabel(question_id=SAID[number].question_id, correct=vote, annotator=str(who))
        for who, vote in enumerate(votes)
    ]


@pytest.mark.parametrize(
    ("heard", "votes", "pairs"),
    [
        pytest.param([verdict(0, True)], labels(0, True), [(True, True)], id="one person"),
        pytest.param(
            [verdict(0, True)], labels(0, False, False, True), [(False, True)], id="a majority"
        ),
        pytest.param([verdict(0, True)], labels(0, True, False), [], id="people are divided"),
        pytest.param([verdict(0, None)], labels(0, True), [], id="the judge is unreadable"),
        pytest.param([verdict(1, True)], labels(0, True), [], id="nobody labelled what it judged"),
        pytest.param(
            [verdict(0, None, f"correct{FIRST_RESPONSE_SUFFIX}"), verdict(0, False)],
            labels(0, True),
            [(True, False)],
            id="what it said before it was asked again does not count",
        ),
        pytest.param(
            [verdict(0, True), verdict(0, False, "correct, thoughts included")],
            labels(0, True),
            [(True, True)],
            id="nor what it says of thoughts",
        ),
    ],
)
def test_what_people_say_stands_beside_what_the_judge_says(heard, votes, pairs):
    assert pair_with_labels(TASK, ASKED, SAID, heard, votes) == pairs


def test_a_response_that_never_came_is_left_out():
    lost = [replace(SAID[0], error="no response"), *SAID[1:]]
    assert pair_with_labels(TASK, ASKED, lost, [verdict(0, True)], labels(0, True)) == []


def test_labels_of_other_tools_may_say_more(tmp_path):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"question_id": "q", "correct": true, "tie_break": false, "comment": "?"}')
    assert read_labels(file) == [HumanLabel(question_id="q", correct=True)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"question_id": "q", "correct": "yes"}', "labels.jsonl, line 2"),
        ('{"question_id": "p", "correct": true}', "the same question_id, model, annotator"),
    ],
)
def test_a_line_that_is_no_label_is_named(tmp_path, line, why):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"question_id": "p", "correct": true}\n' + line)
    with pytest.raises(SourceError, match=why):
        read_labels(file)
