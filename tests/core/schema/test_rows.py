from dataclasses import replace

import pytest

from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.rows import Judgement
from tests.fakes.rows import metric, prediction, question, standing


@pytest.mark.parametrize(
    ("fields", "cluster"),
    [
        pytest.param({"group_id": "g", "images": ("a",)}, "g", id="its group"),
        pytest.param({"images": ("a", "b")}, "a b", id="without a group, all its images"),
        pytest.param({}, "t/1", id="without both, its id"),
    ],
)
def test_the_cluster_of_a_question_is_its_group_its_images_or_its_id(fields, cluster):
    assert question(**fields).cluster == cluster


def test_the_digest_of_the_questions_is_a_column_or_for_older_rows_in_the_signature():
    older_row = metric("m", 1.0, signature="t|v1|main|data:d")
    assert older_row.questions == "d"
    assert replace(older_row, data="e").questions == "e"


@pytest.mark.parametrize(
    ("place", "stale", "shown_source"),
    [
        ("", "", "here"),
        ("s3", "", "here, of another source (s3)"),
        ("", "the judge is another", "here (stale: the judge is another)"),
    ],
)
def test_the_source_says_why_a_standing_should_not_be_compared(place, stale, shown_source):
    row = standing(metric("m", 1.0), source="here", place=place, stale=stale)
    assert row.shown_source == shown_source


PROMPT = Prompt.of("Is it right?")


def judgement_from(response: Response) -> Judgement:
    return Judgement.from_response(
        prediction(question_id="q", model="m", condition="c", sample=2),
        response,
        prompt=PROMPT,
        judge="j",
        criterion="right",
        verdict=False,
        value="unclear",
    )


def test_a_judgement_has_the_prediction_and_the_verdict():
    row = judgement_from(Response(text="2"))
    assert (row.question_id, row.model, row.condition, row.sample) == ("q", "m", "c", 2)
    assert (row.judge, row.criterion, row.response) == ("j", "right", "2")
    assert (row.verdict, row.value, row.error) == (False, "unclear", "")
    assert row.prompt_sha256 == PROMPT.sha256


def test_a_failed_response_of_the_judge_is_no_verdict():
    row = judgement_from(Response(error="503"))
    assert (row.verdict, row.value, row.error) == (None, "", "503")
