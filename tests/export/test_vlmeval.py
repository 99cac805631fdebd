import csv
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import bench_assets as bench
from bench_assets.cli.main import app
from bench_assets.external_results.reading import read_external_results
from bench_assets.external_results.vlmevalkit import read_sheet
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import MODEL, export_job, measure, questions, write_export

write_vlmeval = partial(write_export, "vlmeval")
VLMEVALKIT_FILES = Path(__file__).parents[1] / "external_results" / "data" / "TinyVLM"


def read_rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


@pytest.mark.parametrize(
    ("reference", "file_index"),
    [
        pytest.param("TinyVLM_MMBench_DEV.xlsx", 0, id="responses"),
        pytest.param("TinyVLM_MMBench_DEV_exact_matching_result.xlsx", 1, id="points"),
    ],
)
def test_the_columns_are_those_of_a_file_that_vlmevalkit_wrote(home, reference, file_index):
    files = write_vlmeval(export_job(home, home / "out"))
    first_row, *_ = read_rows(files[file_index])
    reference_row = next(read_sheet(VLMEVALKIT_FILES / reference))
    assert [name for name in first_row if name != "question_id"] == list(reference_row.cells)


def test_questions_without_a_response_and_their_metrics_are_left_out(home):
    job = export_job(home, home / "out")
    responses, points = write_vlmeval(job)
    assert responses == home / "out/run__step-0150/run__step-0150_A-quiz.tsv"
    assert [row["question_id"] for row in read_rows(responses)] == ["quiz/0", "quiz/1", "quiz/3"]
    assert [row["hit"] for row in read_rows(points)] == ["1.0", "0.0", "0.0"]
    assert job.collection.left_out == [f"metrics of quiz of {MODEL}: 1 questions have no response"]


def test_options_are_read_back_as_vlmevalkit_loads_them(home):
    _, points = write_vlmeval(export_job(home, home / "out"))
    frame = pd.read_csv(points, sep="\t")
    assert frame["A"].tolist() == [questions("own")[0].options[0]] * 3


def test_another_edition_is_another_data_set(tmp_path):
    measure(TableFiles(folder=str(tmp_path / "tables")), questions("mini"))
    responses, *_ = write_vlmeval(export_job(tmp_path, tmp_path / "out"))
    assert responses.name == "run__step-0150_A-quiz-mini.tsv"


@pytest.fixture
def squares(tmp_path, monkeypatch):
    """A benchmark of six questions in a home of its own."""
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    rows = [
        {"id": number, "question": f"Where is square {number}?", "options": ["left", "right"],
         "answer": "AB"[number % 2], "category": ["near", "far"][number // 3]}
        for number in range(6)
    ]  # fmt: skip
    return bench.Benchmark(rows, name="squares")


def export_squares(model, out):
    command = ["export", "vlmeval", "--suite", "squares", "--model", model, "--out", str(out)]
    return CliRunner().invoke(app, command)


def test_an_imported_export_has_the_same_points_and_metrics(squares, tmp_path):
    responses = ["left", "right", "both of them", "neither of them", "none", "up"]

    def respond(images, prompt):
        return responses[int(prompt.removeprefix("Where is square ")[0])]

    run = bench.evaluate(squares, model=respond, name="mine")
    assert export_squares("mine", tmp_path / "out").exit_code == 0
    (file,) = (tmp_path / "out").glob("mine/*-own.tsv")
    (imported,) = read_external_results(file)

    points = dict(zip(run.samples.question_id, run.samples.score, strict=True))
    assert {row.sample_id: row.points for row in imported.samples} == points

    accuracy = run.metrics[run.metrics.metric == "accuracy"]
    values = dict(zip(accuracy.category, accuracy.value, strict=True))
    assert {row.category: row.value for row in imported.metrics} == values


def test_several_draws_cannot_be_exported(squares, tmp_path):
    bench.evaluate(squares, model=lambda images, prompt: "left", name="several", n=2)
    result = export_squares("several", tmp_path / "out")
    assert result.exit_code == 1
    assert "VLMEvalKit has one response to a question" in " ".join(result.output.split())
