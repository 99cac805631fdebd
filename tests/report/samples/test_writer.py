import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.schema.rows import Judgement, Question
from bench_assets.report.samples import writer
from bench_assets.report.samples.questions import CHUNK, SampleList
from bench_assets.report.samples.responses import LONGEST
from bench_assets.report.site.folder import data_script, slug
from tests.fakes.codis_release import image
from tests.fakes.quiz import TASK
from tests.fakes.rows import prediction, question
from tests.report.quiz_report import QuizReport

MODEL_DATA = f"samples-{slug('quiz main')}-{slug('m')}"
QUESTIONS = f"samples-{slug('quiz/questions')}"


@pytest.fixture
def report(tmp_path: Path) -> QuizReport:
    return QuizReport(tmp_path)


def test_a_response_is_written_with_its_answer_verdicts_and_points(report: QuizReport) -> None:
    report.write_questions(question(question_id="quiz/1", task="quiz"))
    response = prediction(
        question_id="quiz/1",
        text="(A)",
        raw_text="<think>hm</think>(A)",
        finish_reason="length",
        completion_tokens=7,
        decoding="sha256:0c,float32|t=0,max=40",
    )
    report.write_responses(response, points=0.0, answer=("A",), note="nothing but a letter")
    verdict = Judgement.of(response, judge="j", criterion="correct", verdict=False, response="no")
    report.tables.write(["quiz", "judgements"], [verdict], Judgement, "m")
    report.build()
    assert report.read_data(f"{MODEL_DATA}-points") == {"letters": "W", "shares": [], "unread": []}
    ((sample,),) = report.read_data(f"{MODEL_DATA}-responses-0")
    assert sample == {
        "text": "(A)",
        "raw": "<think>hm</think>(A)",
        "end": "length",
        "tokens": 7,
        "sent_with": "t=0,max=40",
        "points": 0.0,
        "most": 1.0,
        "answer": ["A"],
        "why": "nothing but a letter",
        "verdicts": [{"judge": "j", "criterion": "correct", "verdict": False, "response": "no"}],
    }


def test_the_span_of_the_evidence_counts_characters_as_javascript_does(tmp_path: Path) -> None:
    """An emoji is two of JavaScript's characters: 3 + 14 stand before the B of each response."""
    task = replace(TASK, answer_form=lambda q: AnswerForm("choice", q.options))
    report = QuizReport(tmp_path, task)
    report.write_questions(
        *(question(question_id=f"quiz/{n}", task="quiz", options=("x", "y")) for n in (1, 2))
    )
    with_emoji = prediction(question_id="quiz/1", text="\N{GRINNING FACE} The answer is B.")
    without_emoji = prediction(question_id="quiz/2", text="A? The answer is B.")
    report.write_responses(
        with_emoji, without_emoji, answer=("B",), note="statement", scorer="exact"
    )
    report.build()
    (first,), (second,) = report.read_data(f"{MODEL_DATA}-responses-0")
    assert first["span"] == [17, 18]
    assert second["span"] == [17, 18]


def test_a_long_text_is_cut_in_its_chunk_and_whole_in_another_file(report: QuizReport) -> None:
    report.write_questions(question(question_id="quiz/1", task="quiz"))
    long = "ab" * LONGEST
    report.write_responses(prediction(question_id="quiz/1", text=long, raw_text=long), note=long)
    report.build()
    ((row,),) = report.read_data(f"{MODEL_DATA}-responses-0")
    assert row["text"] == [long[:LONGEST], 2 * LONGEST, "whole-0-0-text"]
    assert row["why"] == [long[:LONGEST], 2 * LONGEST, "whole-0-0-why"]
    assert "raw" not in row, "the raw text equals the text"
    assert report.read_data(f"{MODEL_DATA}-whole-0-0-text") == long


def test_an_unchanged_long_text_keeps_its_file(report: QuizReport) -> None:
    report.write_questions(question(question_id="quiz/1", task="quiz"))
    report.write_responses(prediction(question_id="quiz/1"), note="ab" * LONGEST)
    report.build()
    report.build()
    assert f"{MODEL_DATA}-whole-0-0-why" in report.data_files()


FIELDS = tuple(Question.__dataclass_fields__)


def sample_list_data(*tables: dict[str, list[Any]]) -> Any:
    """The data of a list of samples to which the questions are added table by table."""
    sample_list = SampleList()
    for columns in tables:
        sample_list.add(columns)
    script = data_script("list", sample_list.data())
    return json.loads(script.removeprefix(b'Bench.put("list",').removesuffix(b");\n"))


@pytest.fixture
def three_questions() -> dict[str, list[Any]]:
    """Columns of three questions, with two images and two levels among them."""
    rows = [
        question(question_id=f"q/{n}", images=images, category="c", text=" a\n b " + "x" * 500)
        for n, images in enumerate([("d1", "d2"), ("d2",), ()])
    ]
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in FIELDS}
    columns["labels"] = [
        [("level", "1"), ("story", "0" * 90)],
        [("level", "1"), ("story", "1" * 90)],
        [("level", "2")],
    ]
    return columns


def test_the_list_has_each_image_and_each_value_once(three_questions) -> None:
    data = sample_list_data(three_questions)
    assert data["images"] == ["d1", "d2"]
    assert data["shown"] == [[0, 1], [1], []]
    assert data["categories"] == {"values": ["c"], "codes": [0, 0, 0]}
    assert data["texts"] == ["a b " + "x" * 155 + "…"] * 3  # 160 characters
    # Stories have values of more than 60 characters, which are no filter.
    assert data["labels"] == {"level": {"values": ["1", "2"], "codes": [0, 0, 1]}}


def test_the_list_is_the_same_if_questions_are_added_one_by_one(three_questions) -> None:
    tables = [
        {name: [values[index]] for name, values in three_questions.items()} for index in range(3)
    ]
    assert sample_list_data(*tables) == sample_list_data(three_questions)


def test_a_damaged_image_is_a_message_until_it_is_stored_again(report: QuizReport) -> None:
    digests = [report.images.put(image(n), f"{n}.png").sha256 for n in (1, 2)]
    Path(report.images.place.address(digests[1])).write_bytes(b"no image")
    report.write_questions(question(question_id="quiz/1", task="quiz", images=digests))

    report.build()
    paths, problem = report.read_data(f"{QUESTIONS}-questions")["images"]
    assert [(report.folder / path).exists() for path in paths] == [True, True]
    assert "is not the one that was stored" in problem

    report.images.put(image(2), "2.png")
    report.build()
    _, (full, _) = report.read_data(f"{QUESTIONS}-questions")["images"]
    assert (report.folder / full).read_bytes() == image(2)


def test_images_of_a_restricted_suite_are_left_out(report: QuizReport) -> None:
    digest = report.images.put(image(1), "1.png").sha256
    report.write_questions(question(question_id="quiz/1", task="quiz", images=(digest,)))
    report.build(without_images=("quiz",))
    assert report.read_data(f"{QUESTIONS}-questions")["images"] == ["left out of this report"]
    assert not list(report.folder.rglob("*.webp"))


def test_an_unreadable_table_is_a_problem_of_its_model_alone(report: QuizReport) -> None:
    report.write_questions(question(question_id="quiz/1", task="quiz"))
    for model in ("m", "other"):
        report.write_responses(prediction(question_id="quiz/1", model=model))
    report.tables.path(["quiz", "predictions"], "m").write_bytes(b"PAR1 no table PAR1")
    report.build()
    broken, readable = report.read_data(f"samples-{slug('quiz')}")["conditions"][0]["models"]
    assert "materialize it again" in broken["problem"]
    assert "problem" not in readable
    assert f"samples-{slug('quiz main')}-{slug('other')}-points" in report.data_files()


def test_questions_in_several_runs_keep_their_numbers(report, monkeypatch):
    """Three runs of questions; predictions are in reverse order, with one of no question."""
    monkeypatch.setattr(writer, "RUN", CHUNK)
    n = 2 * CHUNK + 1
    ids = [f"q/{row}" for row in range(n)]
    report.write_questions(*(question(question_id=key, task="quiz", text=f"{key}?") for key in ids))
    predictions = [prediction(question_id=key, model="m", text=f"of {key}") for key in ids]
    predictions[-1] = replace(predictions[-1], text="x" * (LONGEST + 1))
    predictions.append(prediction(question_id="of another table", model="m"))
    points = [float(row == CHUNK) for row in range(n + 1)]
    report.write_scored_responses(predictions[::-1], points[::-1], [()] * (n + 1))

    report.build()

    letters = report.read_data(f"{MODEL_DATA}-points")["letters"]
    assert letters == "w" * CHUNK + "r" + "w" * CHUNK
    for row in (0, CHUNK - 1, CHUNK, n - 2):
        chunk, position = divmod(row, CHUNK)
        (sample,) = report.read_data(f"{MODEL_DATA}-responses-{chunk}")[position]
        assert sample["text"] == f"of q/{row}"
        question_texts = report.read_data(f"{QUESTIONS}-texts-{chunk}")
        assert question_texts[position]["text"] == f"q/{row}?"
    assert report.read_data(f"{MODEL_DATA}-whole-{n - 1}-0-text") == "x" * (LONGEST + 1)
    assert report.read_data(f"{QUESTIONS}-questions")["ids"] == ids
