"""Files of VLMEvalKit: its columns, and our reader finds the same points and numbers in them."""

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
from tests.export.measured_home import MODEL, leaving, measure, questions, write

WRITE = partial(write, "vlmeval")
REAL = Path(__file__).parents[1] / "external_results" / "data" / "TinyVLM"


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened, delimiter="," if file.suffix == ".csv" else "\t"))


@pytest.mark.parametrize(
    ("real", "number"),
    [
        pytest.param("TinyVLM_MMBench_DEV.xlsx", 0, id="responses"),
        pytest.param("TinyVLM_MMBench_DEV_exact_matching_result.xlsx", 1, id="points"),
    ],
)
def test_the_columns_are_those_of_a_file_that_vlmevalkit_wrote(home, real, number):
    written = rows_of(WRITE(leaving(home, home / "out"))[number])
    columns = list(next(read_sheet(REAL / real)).cells)
    assert [name for name in written[0] if name != "question_id"] == columns


def test_a_question_without_a_response_is_left_out_with_the_metrics(home):
    job = leaving(home, home / "out")
    responses, points = WRITE(job)
    assert responses == home / "out/run__step-0150/run__step-0150_A-quiz.tsv"
    assert [row["question_id"] for row in rows_of(responses)] == ["quiz/0", "quiz/1", "quiz/3"]
    assert [row["hit"] for row in rows_of(points)] == ["1.0", "0.0", "0.0"]
    assert job.collection.left_out == [f"metrics of quiz of {MODEL}: 1 questions have no response"]
    frame = pd.read_csv(points, sep="\t")  # as VLMEvalKit loads it
    assert frame["A"].tolist() == [questions("own")[0].options[0]] * 3


def test_another_edition_is_another_data_set(tmp_path):
    measure(TableFiles(folder=str(tmp_path / "tables")), questions("mini"))
    responses, *_ = WRITE(leaving(tmp_path, tmp_path / "out"))
    assert responses.name == "run__step-0150_A-quiz-mini.tsv"


def test_our_reader_finds_the_same_points_and_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    names = ["left", "right", "both of them", "neither of them", "none", "up"]
    rows = [
        {"id": number, "question": f"Where is square {number}?", "options": ["left", "right"],
         "answer": "AB"[number % 2], "category": ["near", "far"][number // 3]}
        for number in range(6)
    ]  # fmt: skip
    suite = bench.Benchmark(rows, name="squares")
    run = bench.evaluate(suite, model=lambda images, prompt: names[int(prompt[16])], name="mine")
    out = tmp_path / "out"
    command = ["export", "vlmeval", "--suite", "squares", "--model", "mine", "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    (responses,) = out.glob("mine/*-own.tsv")
    (found,) = read_external_results(responses)
    assert {row.sample_id: row.points for row in found.samples} == dict(
        zip(run.samples.question_id, run.samples.score, strict=True)
    )
    primary = run.metrics[run.metrics.metric == "accuracy"]
    assert {(row.category, row.value) for row in found.metrics} == set(
        zip(primary.category, primary.value, strict=True)
    )
    several = bench.evaluate("squares", model=lambda i, p: "left", name="several", n=2)
    assert several.model == "several"
    done = CliRunner().invoke(app, [*command[:4], "--model", "several", "--out", str(out)])
    assert done.exit_code == 1
    assert "VLMEvalKit has one response to a question" in " ".join(done.output.split())
