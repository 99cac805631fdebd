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


def test_a_response_becomes_a_judgement_and_without_one_there_is_no_verdict():
    judged = prediction(question_id="q", model="m", condition="c", sample=2)
    prompt = Prompt.of("Is it right?")
    row, failed = (
        Judgement.from_response(
            judged,
            response,
            prompt=prompt,
            judge="j",
            criterion="right",
            verdict=False,
            value="unclear",
        )
        for response in (Response(text="2"), Response(error="503"))
    )
    assert (row.question_id, row.model, row.condition, row.sample) == ("q", "m", "c", 2)
    assert (row.judge, row.criterion, row.response) == ("j", "right", "2")
    assert (row.verdict, row.value, row.error) == (False, "unclear", "")
    assert row.prompt_sha256 == prompt.sha256
    assert (failed.verdict, failed.value, failed.error) == (None, "", "503")
