"""What rows say of themselves, by hand."""

from dataclasses import replace

import pytest

from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.rows import Judgement
from tests.fakes.rows import metric, prediction, question, standing


@pytest.mark.parametrize(
    ("fields", "cluster"),
    [
        pytest.param({"group_id": "g", "images": ("a",)}, "g", id="its group first"),
        pytest.param({"images": ("a", "b")}, "a b", id="else all its images"),
        pytest.param({}, "t/1", id="else it is one of its own"),
    ],
)
def test_what_a_question_depends_on(fields, cluster):
    assert question(**fields).cluster == cluster


def test_a_row_that_is_older_than_the_column_has_the_digest_of_its_signature():
    row = metric("m", 1.0, signature="t|v1|main|data:d")
    assert (row.questions, replace(row, data="e").questions) == ("d", "e")


@pytest.mark.parametrize(
    ("place", "stale", "shown"),
    [
        ("", "", "here"),
        ("s3", "", "here, of another source (s3)"),
        ("", "the judge is another", "here (stale: the judge is another)"),
    ],
)
def test_a_line_says_why_it_should_not_be_compared(place, stale, shown):
    line = standing(metric("m", 1.0), source="here", place=place, stale=stale)
    assert line.shown_source == shown


# How a judge's response becomes a judgement.


JUDGE_PROMPT = Prompt.of("Is it right?")


@pytest.mark.parametrize(
    ("response", "verdict", "value"),
    [
        pytest.param(Response(text="yes"), True, "", id="one of two verdicts"),
        pytest.param(Response(text="2"), False, "unclear", id="one of more than two"),
        pytest.param(Response(text="hm"), None, "", id="none that can be read"),
    ],
)
def test_a_response_becomes_a_judgement_of_what_was_judged(response, verdict, value):
    predicted = prediction(question_id="q", model="m", condition="c", sample=2)
    row = Judgement.from_response(
        predicted,
        response,
        prompt=JUDGE_PROMPT,
        judge="j",
        criterion="right",
        verdict=verdict,
        value=value,
    )
    assert (row.question_id, row.model, row.condition, row.sample) == ("q", "m", "c", 2)
    assert (row.judge, row.criterion, row.response) == ("j", "right", response.text)
    assert (row.verdict, row.value, row.error) == (verdict, value, "")
    assert row.prompt_sha256 == JUDGE_PROMPT.sha256


def test_without_a_response_there_is_no_verdict_whatever_was_read():
    row = Judgement.from_response(
        prediction(),
        Response(error="503"),
        prompt=JUDGE_PROMPT,
        judge="j",
        criterion="right",
        verdict=False,
        value="incorrect",
    )
    assert (row.verdict, row.value, row.error) == (None, "", "503")
