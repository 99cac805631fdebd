"""The samples in the report: what stands in its data, of tables made by hand."""

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

OF_M = f"samples-{slug('quiz main')}-{slug('m')}"
QUESTIONS = f"samples-{slug('quiz/questions')}"


@pytest.fixture
def report(tmp_path: Path) -> QuizReport:
    return QuizReport(tmp_path)


def test_a_response_stands_with_how_it_was_read_judged_and_scored(report: QuizReport) -> None:
    report.ask(question(question_id="quiz/1", task="quiz"))
    response = prediction(
        question_id="quiz/1",
        text="(A)",
        raw_text="<think>hm</think>(A)",
        finish_reason="length",
        completion_tokens=7,
        decoding="sha256:0c,float32|t=0,max=40",
    )
    report.say(response, points=0.0, answer=("A",), note="nothing but a letter")
    verdict = Judgement.of(response, judge="j", criterion="correct", verdict=False, response="no")
    report.tables.write(["quiz", "judgements"], [verdict], Judgement, "m")
    report.make()
    assert report.data(f"{OF_M}-points") == {"letters": "W", "shares": [], "unread": []}
    assert report.data(f"{OF_M}-responses-0") == [
        [
            {
                **{"text": "(A)", "raw": "<think>hm</think>(A)", "end": "length", "tokens": 7},
                "sent_with": "t=0,max=40",
                **{"points": 0.0, "most": 1.0, "answer": ["A"], "why": "nothing but a letter"},
                "verdicts": [
                    {"judge": "j", "criterion": "correct", "verdict": False, "response": "no"}
                ],
            }
        ]
    ]


def test_the_part_that_was_read_is_counted_as_the_page_counts(tmp_path: Path) -> None:
    """An emoji is two of JavaScript's characters, and one of Python's: 1 + 1 + 14 before the B."""
    task = replace(TASK, answer_form=lambda q: AnswerForm("choice", q.options))
    report = QuizReport(tmp_path, task)
    report.ask(
        *(question(question_id=f"quiz/{n}", task="quiz", options=("x", "y")) for n in (1, 2))
    )
    responses = (
        prediction(question_id=f"quiz/{n}", text=f"{text}The answer is B.")
        for n, text in ((1, "\N{GRINNING FACE} "), (2, "A? "))
    )
    report.say(*responses, answer=("B",), note="statement", scorer="exact")
    report.make()
    (first,), (second,) = report.data(f"{OF_M}-responses-0")
    assert first["span"] == [17, 18]
    assert second["span"] == [17, 18]


def test_a_long_text_is_cut_in_its_chunk_and_whole_in_a_file_of_its_own(report: QuizReport) -> None:
    report.ask(question(question_id="quiz/1", task="quiz"))
    long = "ab" * LONGEST
    report.say(prediction(question_id="quiz/1", text=long, raw_text=long), note=long)
    report.make()
    ((row,),) = report.data(f"{OF_M}-responses-0")
    assert row["text"] == [long[:LONGEST], 2 * LONGEST, "whole-0-0-text"]
    assert row["why"] == [long[:LONGEST], 2 * LONGEST, "whole-0-0-why"]
    assert "raw" not in row, "the response as it came is the same"
    assert report.data(f"{OF_M}-whole-0-0-text") == long
    report.make()
    assert f"{OF_M}-whole-0-0-why" in report.files(), "it stays when nothing changed"


def listed(*runs: dict[str, Any]) -> Any:
    """What the page gets of runs of questions."""
    found = SampleList()
    for columns in runs:
        found.add(columns)
    script = data_script("list", found.data())
    return json.loads(script.removeprefix(b'Bench.put("list",').removesuffix(b");\n"))


def by_row(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_the_list_has_each_image_and_each_value_once() -> None:
    rows = [
        question(question_id=f"q/{n}", images=images, category="c", text=" a\n b " + "x" * 500)
        for n, images in enumerate([("d1", "d2"), ("d2",), ()])
    ]
    columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in FIELDS}
    columns["labels"] = [[("level", "1"), ("story", str(n) * 90)] for n in range(3)]
    columns["labels"][2] = [("level", "2")]
    found = listed(columns)
    assert listed(*({name: [row] for name, row in one.items()} for one in by_row(columns))) == found
    assert found["images"] == ["d1", "d2"]
    assert found["shown"] == [[0, 1], [1], []]
    assert found["categories"] == {"values": ["c"], "codes": [0, 0, 0]}
    assert found["texts"] == ["a b " + "x" * 155 + "…"] * 3
    assert found["labels"] == {"level": {"values": ["1", "2"], "codes": [0, 0, 1]}}


def test_a_damaged_image_is_a_sentence_in_its_place_until_it_is_whole(report: QuizReport) -> None:
    whole, broken = (report.images.put(image(n), f"{n}.png").sha256 for n in (1, 2))
    report.images.path(broken).write_bytes(b"no image")
    report.ask(question(question_id="quiz/1", task="quiz", images=(whole, broken)))
    report.make()
    shown, problem = report.data(f"{QUESTIONS}-questions")["images"]
    assert [(report.folder / name).exists() for name in shown] == [True, True]
    assert "is not the one that was stored" in problem
    report.images.put(image(2), "2.png")
    report.make()
    _, shown = report.data(f"{QUESTIONS}-questions")["images"]
    assert (report.folder / shown[0]).read_bytes() == image(2)


def test_images_of_a_suite_that_may_not_be_passed_on_stay_out(report: QuizReport) -> None:
    stored = report.images.put(image(1), "1.png").sha256
    report.ask(question(question_id="quiz/1", task="quiz", images=(stored,)))
    report.make(without_images=("quiz",))
    assert report.data(f"{QUESTIONS}-questions")["images"] == ["left out of this report"]
    assert not list(report.folder.rglob("*.webp"))


def test_a_table_that_cannot_be_read_is_a_sentence_and_does_not_end_the_rest(
    report: QuizReport,
) -> None:
    report.ask(question(question_id="quiz/1", task="quiz"))
    for model in ("m", "other"):
        report.say(prediction(question_id="quiz/1", model=model))
    report.tables.path(["quiz", "predictions"], "m").write_bytes(b"PAR1 no table PAR1")
    report.make()
    broken, other = report.data(f"samples-{slug('quiz')}")["conditions"][0]["models"]
    assert "materialize it again" in broken["problem"]
    assert "problem" not in other
    assert OF_M.replace(slug("m"), slug("other")) + "-points" in report.files()


FIELDS = tuple(Question.__dataclass_fields__)


def test_runs_of_questions_are_written_as_all_at_once(
    report: QuizReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RUN", CHUNK)
    n = 2 * CHUNK + 1
    report.ask(*(question(question_id=f"q/{row}", task="quiz", text=f"{row}?") for row in range(n)))
    predictions = [
        prediction(question_id=f"q/{row}", model="m", text=f"of {row}") for row in range(n)
    ]
    predictions[-1] = replace(predictions[-1], text="x" * (LONGEST + 1))
    stray = prediction(question_id="of another table", model="m")
    points = [float(row == CHUNK) for row in range(n + 1)]
    report.say_each([*predictions, stray][::-1], points[::-1], [()] * (n + 1))
    report.make()
    letters = report.data(f"{OF_M}-points")["letters"]
    assert (len(letters), letters.index("r"), letters.count("r")) == (n, CHUNK, 1)
    for row in (0, CHUNK - 1, CHUNK, n - 2):
        chunk = report.data(f"{OF_M}-responses-{row // CHUNK}")
        assert [one["text"] for one in chunk[row % CHUNK]] == [f"of {row}"]
        assert report.data(f"{QUESTIONS}-texts-{row // CHUNK}")[row % CHUNK]["text"] == f"{row}?"
    assert report.data(f"{OF_M}-whole-{n - 1}-0-text") == predictions[-1].text
    assert report.data(f"{QUESTIONS}-questions")["ids"] == [one.question_id for one in predictions]
