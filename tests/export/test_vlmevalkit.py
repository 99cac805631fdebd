"""VLMEvalKit's files, read as it reads them: it is not to be had from PyPI."""

import ast
import base64
from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from PIL import Image

from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.export.formats import FORMATS
from bench_assets.export.vlmevalkit import format_rows
from bench_assets.external_results.reading import read_external_results
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import KEY, MODEL, NASTY, leaving, measure, questions

WRITE = FORMATS["vlmevalkit"].write
FOLDER = MODEL.replace("/", "%2F")


def load(file):
    return pd.read_csv(file, sep="\t")


def listed(cell):
    """A cell as ``toliststr`` reads it, which runs what stands in brackets."""
    return ast.literal_eval(cell) if cell.startswith("[") and cell.endswith("]") else [cell]


def test_questions_have_their_options_images_and_answer(shown):
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / "out/quiz-mini.tsv")
    assert frame["index"].tolist() == [1, 2, 3, 4]
    assert frame["question"][3] == f"What is 3? {NASTY}"
    assert (frame["A"][0], frame["B"][0], frame["answer"][0]) == (NASTY, "- minus", "A")
    assert (frame["hint"][0], frame["category"][0]) == ("@context", "kind")
    assert [len(listed(cell)) for cell in frame["image"]] == [1, 2, 2, 2]
    assert [len(listed(cell)) for cell in frame["image_path"]] == [1, 2, 2, 2]
    with Image.open(BytesIO(base64.b64decode(listed(frame["image"][1])[1]))) as image:
        assert image.size == (20, 20)


def test_a_question_without_a_response_is_left_out_and_the_indices_stay(shown):
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / f"out/{FOLDER}/{FOLDER}_quiz-mini.tsv")
    assert frame["index"].tolist() == [1, 2, 4]
    assert KEY not in frame["prediction"][1]


def test_a_response_to_a_question_without_points_has_none(shown):
    tables, key = TableFiles(folder=str(shown / "tables")), ["quiz", "scores"]
    right, *others = tables.read(key, Score, MODEL)
    tables.write(key, [replace(right, points=0.0, max_points=0.0), *others], Score, MODEL)
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / f"out/{FOLDER}/{FOLDER}_quiz-mini.tsv")
    assert frame["points"].isna().tolist() == [True, False, False]
    assert frame["points"][1:].tolist() == [0.0, 0.0]


def test_a_question_whose_image_is_lost_is_left_out_and_said(shown):
    (file,) = [path for path in (shown / "images").rglob("*") if path.is_file()]
    file.write_bytes(b"other")
    leaves = leaving(shown, shown / "out")
    WRITE(leaves)
    assert load(shown / "out/quiz-mini.tsv").empty
    assert [line.partition(":")[0] for line in leaves.gathered.left_out[:-1]] == [
        f"quiz/{number}" for number in range(4)
    ]


def test_an_answer_that_looks_like_code_is_a_text_in_a_list(shown):
    tables = TableFiles(folder=str(shown / "tables"))
    asked = [
        replace(one, kind="text", options=(), answer=("[print('run')]",))
        for one in questions("mini")
    ]
    tables.write(["quiz", "questions"], asked, Question)
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / "out/quiz-mini.tsv")
    assert listed(frame["answer"][0]) == ["[print('run')]"]
    assert frame["question"][0] == f"@context\nWhat is 0? {NASTY}"


def test_rankings_are_left_out_and_said(home):
    tables = TableFiles(folder=str(home / "tables"))
    asked = [replace(one, kind="ranking") for one in questions("mini")]
    tables.write(["quiz", "questions"], asked, Question)
    tables.write(["quiz", "predictions"], [], Prediction, MODEL)
    leaves = leaving(home, home / "out")
    assert WRITE(leaves) == []
    assert "quiz-mini: VLMEvalKit does not support rankings" in leaves.gathered.left_out


@pytest.fixture(params=[MODEL, "my_model_7b", "läufe, [neu] #1/step=2"])
def back(request, tmp_path):
    """What our importer reads of an export, and what was exported; all questions are answered."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    measure(tables, questions("mini"), request.param)
    key = ["quiz", "metrics"]
    rows = [
        replace(row, n_failed=0, value=1 / 3) for row in tables.read(key, Metric, request.param)
    ]
    rows += [replace(row, metric="pairs", value=0.25) for row in rows[:1]]
    tables.write(key, rows, Metric, request.param)
    leaves = leaving(tmp_path, tmp_path / "out")
    _, responses, _ = WRITE(leaves)
    (one,) = leaves.gathered.evaluations()
    (found,) = read_external_results(responses)
    return found, one


def test_an_export_comes_back_through_our_importer_field_by_field(back):
    found, one = back
    assert (found.model, found.task) == (one.model, "quiz-mini")
    assert [(m.name, m.category, m.value) for m in found.metrics] == [
        *(("accuracy", "all", 1 / 3), ("pairs", "all", 0.25), ("accuracy", "kind", 1 / 3)),
    ]
    asked = {question.question_id: question for question in one.exam.questions}
    said = {row.question_id: row for row in one.predictions if not row.error}
    points = {row.question_id: row.points for row in one.scores}
    assert [sample.sample_id for sample in found.samples] == list(said)
    for sample in found.samples:
        question = asked[sample.sample_id]
        assert f"Hint: {question.context}\n{question.text}\nA. " in sample.prompt
        assert (sample.options, sample.target) == (question.options, question.answer)
        assert sample.category == question.category
        assert sample.response == said[sample.sample_id].text
        assert sample.points == points[sample.sample_id]


def test_metrics_of_a_model_without_all_responses_stay_and_it_is_said(shown):
    leaves = leaving(shown, shown / "out")
    assert [path.suffix for path in WRITE(leaves)] == [".tsv", ".tsv"]
    assert leaves.gathered.left_out == [f"metrics of quiz of {MODEL}: 1 questions have no response"]


def test_our_importer_takes_what_vlmevalkit_scored_before_our_points(shown):
    _, responses = WRITE(leaving(shown, shown / "out"))
    frame = load(responses).assign(hit=[0, 0, 1])
    frame.to_csv(responses.with_name(f"{responses.stem}_gpt-4o_result.tsv"), sep="\t", index=False)
    (found,) = read_external_results(responses)
    assert [sample.points for sample in found.samples] == [0, 0, 1]


def test_a_table_with_a_row_for_each_category_is_read_as_hallusionbench_writes_it(shown):
    _, responses = WRITE(leaving(shown, shown / "out"))
    table = "split,aAcc,fAcc,qAcc\nOverall,67.0,40.0,50.0\nVD,70.0,45.0,50.5\n2,1.0,2.0,3.0\n"
    responses.with_name(f"{responses.stem}_score.csv").write_text(table)
    (found,) = read_external_results(responses)
    assert [(m.name, m.category, m.value) for m in found.metrics[:4]] == [
        *(("aAcc", "all", 67.0), ("fAcc", "all", 40.0), ("qAcc", "all", 50.0)),
        ("aAcc", "VD", 70.0),
    ]
    assert [(m.category, m.value) for m in found.metrics[6:]] == [
        ("2", 1.0),
        ("2", 2.0),
        ("2", 3.0),
    ]


def test_a_category_in_csv_is_no_formula_and_a_question_in_tsv_stays_as_it_is():
    row = {"split": "=1+1", "all": -0.5}
    assert b"".join(format_rows(list(row), [row], ",")).endswith(b'\n"\'=1+1",-0.5\n')
    assert b"".join(format_rows(list(row), [row], "\t")).endswith(b'\n"=1+1"\t-0.5\n')
