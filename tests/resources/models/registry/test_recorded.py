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
    compare_ids,
    group_by_model,
    read_responses,
)
from tests.cases import read_cases
from tests.fakes.rows import question

A_LINE = '{"question_id": "t/1", "text": "x"}'


def write_responses(folder: Path, text: str) -> Path:
    file = folder / "responses.jsonl"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


def recorded(**fields: Any) -> RecordedResponse:
    defaults = {"where": "responses.jsonl, line 1", "question_id": "t/1", "text": "x"}
    return RecordedResponse(**(defaults | fields))


def request_for(question_id: str, sample: int = 0) -> Request:
    posed = question(question_id=question_id)
    return Request(prompt=Prompt.of("?"), question=posed, sample=sample)


def test_lines_are_read_with_their_optional_fields(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "question_id": "t/2",
        "text": "左",
        "model": "m",
        "condition": "no_context",
        "sample": 1,
        "judge_response": "right",
    }
    file = write_responses(tmp_path, f"{A_LINE}\r\n\n{json.dumps(fields, ensure_ascii=False)}")
    assert read_responses(file) == [
        RecordedResponse(where=f"{file}, line 1", question_id="t/1", text="x"),
        RecordedResponse(where=f"{file}, line 3", **fields),
    ]


def test_a_recorded_judge_has_the_responses_of_its_condition() -> None:
    lines = [
        recorded(judge_response="right"),
        recorded(condition="no_context", judge_response="wrong"),
    ]
    for condition, expected in (("main", "right"), ("no_context", "wrong")):
        judge = RecordedJudge("j", lines, Path("f"), condition=condition)
        assert [reply.text for reply in judge.response([request_for("t/1")])] == [expected]


@pytest.mark.parametrize(
    ("text", "expected_message"), read_cases(__file__, "refused_responses.jsonl")
)
def test_a_file_that_cannot_be_used_is_named_by_line(tmp_path, text, expected_message):
    with pytest.raises(SourceError, match=f"responses.jsonl.*{expected_message}"):
        read_responses(write_responses(tmp_path, text))


def test_a_file_must_answer_at_least_one_of_the_questions() -> None:
    model = EvaluatedModel("m", [recorded(question_id="t/9")], Path("r.jsonl"))
    with pytest.raises(
        ModelError, match=r"m: r.jsonl has no response to any of 2.* it has one to 't/9'"
    ):
        model.response([request_for("t/1"), request_for("t/2")])
    _, recorded_response = model.response([request_for("t/1"), request_for("t/9")])
    assert recorded_response.text == "x"


def test_the_report_names_missing_unknown_and_surplus_responses() -> None:
    questions = [question(question_id=f"t/{n}") for n in (1, 2, 3, 4)]
    responses = [
        recorded(question_id="t/2"),
        recorded(question_id="t/1", sample=0),
        recorded(question_id="t/1", sample=1),
        recorded(question_id="t/9"),
    ]
    one_sample = compare_ids(questions, responses)
    assert one_sample.n_used == 2
    assert (one_sample.missing, one_sample.unknown) == (("t/3", "t/4"), ("t/9",))
    assert one_sample.surplus == ("t/1",)
    two_samples = compare_ids(questions, responses, samples=2)
    assert two_samples.missing == ("t/2", "t/3", "t/4")  # only t/1 has both
    assert two_samples.n_used == 3  # two of t/1, one of t/2
    assert two_samples.surplus == ()


def test_responses_without_a_model_are_grouped_under_the_given_name() -> None:
    of_b, without_model = recorded(model="b"), recorded()
    another_of_b = recorded(model="b", sample=1)
    grouped = group_by_model([of_b, without_model, another_of_b], nameless="me")
    assert grouped == {"b": [of_b, another_of_b], "me": [without_model]}


def test_a_recorded_model_answers_by_question_sample_and_condition() -> None:
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
    without_context = RecordedModel("m", responses, Path("r.jsonl"), condition="no_context")
    (blind_response,) = without_context.response([request_for("t/1")])
    assert blind_response.text == "blind"


def test_the_signature_of_a_recorded_model_names_its_file() -> None:
    assert RecordedModel("m", [], Path("r.jsonl")).signature == "recorded|r.jsonl"


def test_a_recorded_judge_answers_with_the_judge_response_of_the_line() -> None:
    responses = [recorded(judge_response="right"), recorded(question_id="t/2")]
    judge = RecordedJudge("recorded", responses, Path("r.jsonl"))
    first, second = judge.response([request_for("t/1"), request_for("t/2")])
    assert first.text == "right"
    assert second.error == "no recorded response in r.jsonl"


def test_a_recorded_model_refuses_requests_without_a_question() -> None:
    with pytest.raises(ModelError, match="need question ids"):
        RecordedModel("m", [recorded()], Path("r.jsonl")).response([Request(prompt=Prompt.of("?"))])
