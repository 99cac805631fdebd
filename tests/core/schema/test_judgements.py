"""How a judge's response becomes a judgement."""

import pytest

from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.rows import Judgement
from bench_assets.core.tables.arrow import to_rows, to_table
from tests.rows import prediction

ASKED = Prompt.of("Is it right?")


@pytest.mark.parametrize(
    ("response", "verdict", "value"),
    [
        pytest.param(Response(text="yes"), True, "", id="one of two verdicts"),
        pytest.param(Response(text="2"), False, "unclear", id="one of more than two"),
        pytest.param(Response(text="hm"), None, "", id="none that can be read"),
    ],
)
def test_a_response_becomes_a_judgement_of_what_was_judged(response, verdict, value):
    said = prediction(question_id="q", model="m", condition="c", sample=2)
    row = Judgement.from_response(
        said, response, prompt=ASKED, judge="j", criterion="right", verdict=verdict, value=value
    )
    assert (row.question_id, row.model, row.condition, row.sample) == ("q", "m", "c", 2)
    assert (row.judge, row.criterion, row.response) == ("j", "right", response.text)
    assert (row.verdict, row.value, row.error) == (verdict, value, "")
    assert row.prompt_sha256 == ASKED.sha256


def test_without_a_response_there_is_no_verdict_whatever_was_read():
    row = Judgement.from_response(
        prediction(),
        Response(error="503"),
        prompt=ASKED,
        judge="j",
        criterion="right",
        verdict=False,
        value="incorrect",
    )
    assert (row.verdict, row.value, row.error) == (None, "", "503")


def test_tables_of_judgements_with_two_verdicts_are_read_as_they_are():
    row = Judgement.of(prediction(), judge="j", criterion="c", verdict=False, response="no")
    older = to_table([row], Judgement).drop_columns(["value"])
    assert to_rows(older, Judgement) == [row]
