"""Responses that were made elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError, SourceError
from bench_resources.models.registry.recorded import (
    EvaluatedModel,
    RecordedJudge,
    RecordedModel,
    RecordedResponse,
    group_by_model,
    read_responses,
    report,
)
from tests.cases import read_cases
from tests.fakes.rows import question

A_LINE = '{"question_id": "t/1", "text": "x"}'


def written(folder: Path, text: str) -> Path:
    file = folder / "responses.jsonl"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


def recorded(**fields: Any) -> RecordedResponse:
    defaults = {"where": "responses.jsonl, line 1", "question_id": "t/1", "text": "x"}
    return RecordedResponse(**(defaults | fields))


def request_for(question_id: str, sample: int = 0) -> Request:
    posed = question(question_id=question_id)
    return Request(prompt=Prompt.of("?"), question=posed, sample=sample)


def test_a_line_has_two_fields_or_more(tmp_path: Path) -> None:
    whole = {
        "question_id": "t/2",
        "text": "左",
        "model": "m",
        "condition": "no_context",
        "sample": 1,
        "judge_response": "right",
    }
    file = written(tmp_path, f"{A_LINE}\r\n\n{json.dumps(whole, ensure_ascii=False)}")
    assert read_responses(file) == [
        RecordedResponse(where=f"{file}, line 1", question_id="t/1", text="x"),
        RecordedResponse(
            where=f"{file}, line 3",
            question_id="t/2",
            text="左",
            model="m",
            condition="no_context",
            sample=1,
            judge_response="right",
        ),
    ]


@pytest.mark.parametrize(("text", "message"), read_cases(__file__, "refused_responses.jsonl"))
def test_a_file_that_cannot_be_used_is_named_by_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(SourceError, match=f"responses.jsonl.*{message}"):
        read_responses(written(tmp_path, text))


def test_a_file_that_answers_none_of_the_questions_is_no_model() -> None:
    model = EvaluatedModel("m", [recorded(question_id="t/9")], Path("r.jsonl"))
    with pytest.raises(
        ModelError, match=r"m: r.jsonl has no response to any of 2.* it has one to 't/9'"
    ):
        model.response([request_for("t/1"), request_for("t/2")])
    assert model.response([request_for("t/1"), request_for("t/9")])[1].text == "x"
    assert model.response([]) == []


def test_report_counts_and_names() -> None:
    questions = [question(question_id=f"t/{n}") for n in (1, 2, 3, 4)]
    responses = [
        recorded(question_id="t/2"),
        recorded(question_id="t/1", sample=0),
        recorded(question_id="t/1", sample=1),
        recorded(question_id="t/9", where="responses.jsonl, line 4"),
    ]
    fits = report(questions, responses)
    assert fits.n_used == 2
    assert (fits.missing, fits.unknown) == (("t/3", "t/4"), ("t/9",))
    assert fits.surplus == ("t/1",)
    assert fits.first_unknown == "responses.jsonl, line 4"
    of_two = report(questions, responses, samples=2)
    assert (of_two.n_used, of_two.missing) == (3, ("t/2", "t/3", "t/4"))


def test_responses_without_a_model_belong_to_the_nameless() -> None:
    first, second, third = recorded(model="b"), recorded(), recorded(model="b", sample=1)
    assert group_by_model([first, second, third], nameless="me") == {
        "b": [first, third],
        "me": [second],
    }


def test_a_recorded_model_answers_by_question_draw_and_condition() -> None:
    responses = [
        recorded(text="zero"),
        recorded(text="one", sample=1),
        recorded(text="blind", condition="no_context"),
    ]
    requests = [request_for("t/1", sample=1), request_for("t/2"), request_for("t/1")]
    model = RecordedModel("m", responses, Path("r.jsonl"))
    assert [(response.text, response.error) for response in model.response(requests)] == [
        ("one", ""),
        ("", "no recorded response in r.jsonl"),
        ("zero", ""),
    ]
    other = RecordedModel("m", responses, Path("r.jsonl"), condition="no_context")
    assert other.response([request_for("t/1")])[0].text == "blind"
    assert (model.name, model.signature) == ("m", "recorded|r.jsonl")


def test_a_recorded_judge_says_what_stands_beside_the_response() -> None:
    responses = [recorded(judge_response="right"), recorded(question_id="t/2")]
    judge = RecordedJudge("recorded", responses, Path("r.jsonl"))
    first, second = judge.response([request_for("t/1"), request_for("t/2")])
    assert first.text == "right"
    assert second.error == "no recorded response in r.jsonl"


def test_recorded_responses_do_not_answer_what_has_no_name() -> None:
    with pytest.raises(ModelError, match="need question ids"):
        RecordedModel("m", [recorded()], Path("r.jsonl")).response([Request(prompt=Prompt.of("?"))])
