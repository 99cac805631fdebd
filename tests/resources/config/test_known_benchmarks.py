"""Metrics of known benchmarks, compared with the published scripts of their authors.

A file of ``known_benchmarks`` has twenty made-up rows with the columns and types of the benchmark's
card, responses to them, and the metrics that the authors' script computes from these.
"""

import csv
import json
import re
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Metric, StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.file_benchmarks.questions import FileQuestions, benchmark_location, build
from bench_assets.file_benchmarks.suite import task_of
from bench_resources.config import known_benchmarks
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.known_benchmarks import add_known
from bench_resources.datasets.hub import parse_release_address
from bench_resources.datasets.source_files import configured_release
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.rows import prediction
from tests.fakes.written_images import saved

KNOWN = known_benchmarks.known_benchmarks()


def png(red: int) -> bytes:
    """An image that differs by its red value."""
    return saved(Image.new("RGB", (40, 20), (red, 0, 7)))


def with_images(cell: Any) -> Any:
    """Replace ``{"png": red}`` in a cell by an image, as ``datasets`` stores it or as bytes."""
    if isinstance(cell, list):
        return [with_images(element) for element in cell]
    if not isinstance(cell, dict) or "png" not in cell:
        return cell
    data = png(cell["png"])
    return data if cell.get("bare") else {"bytes": data, "path": None}


def write_release(folder: Path, files: dict[str, list[dict[str, Any]]]) -> None:
    """Write the Parquet files of a release, or the CSV file of MMVP with its images."""
    for name, rows in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".parquet":
            cells = [{column: with_images(cell) for column, cell in row.items()} for row in rows]
            pq.write_table(pa.Table.from_pylist(cells), file)
        else:
            write_mmvp(file, rows)


def write_mmvp(file: Path, rows: list[dict[str, Any]]) -> None:
    with file.open("w", newline="") as table:
        writer = csv.DictWriter(table, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    images = file.parent / "MMVP Images"
    images.mkdir()
    for row in rows:
        (images / f"{row['Index']}.jpg").write_bytes(png(row["Index"]))


def store_image(image, name):
    data = image if isinstance(image, bytes) else image.read_bytes()
    width, height = Image.open(BytesIO(data)).size
    digest = sha256(data).hexdigest()
    return StoredImage(
        name=name, sha256=digest, format="PNG", width=width, height=height, n_bytes=len(data)
    )


def load_with_known(name, home):
    """Add a known benchmark to a home, and read its settings."""
    add_known(home, [f"{name}/main"])
    return load_settings(home)


class Evaluation(NamedTuple):
    """A known benchmark that was evaluated on made-up responses."""

    file_questions: FileQuestions
    metrics: dict[str, Metric]  # over all categories
    expected_metrics: dict[str, float]  # of the authors' script


def evaluate_known(name, home):
    """Evaluate a known benchmark on the rows and responses of its file of ``known_benchmarks``."""
    file = Path(__file__).with_name("known_benchmarks") / f"{name}.json"
    release = json.loads(file.read_text(encoding="utf-8"))
    responses = release["responses"]
    write_release(home / "release", release["files"])
    settings = load_with_known(name, home)
    benchmark = settings.benchmarks[name]
    address = parse_release_address(str(benchmark.file))
    location = benchmark_location(name, home / "release" / address.below, settings)
    file_questions = build(benchmark, location, store_image)
    questions = file_questions.questions
    task = task_of(name, benchmark, location.section)
    predictions = [
        prediction(question_id=question.question_id, text=text)
        for question, text in zip(questions, responses, strict=True)
    ]
    # MM-Vet's responses are the grades of a judge.
    grader = ScriptedModel("j", lambda request: responses[_row_index(request)])
    judge = grader if name == "mmvet" else None
    verdicts = pipeline.judge(task, questions, predictions, judge) if task.is_judged else []
    scores = pipeline.score(task, questions, predictions, verdicts)
    metrics = pipeline.summarise(task, questions, predictions, scores)
    overall = {metric.metric: metric for metric in metrics if metric.category == "all"}
    return Evaluation(
        file_questions=file_questions, metrics=overall, expected_metrics=release["measures"]
    )


def _row_index(request):
    """The index of the row that a judge is to grade, which its question names."""
    text = str(request.prompt.turns[-1].parts[-1])
    return int(re.findall(r"What is x in (\d+)\?", text)[0])


@pytest.mark.parametrize("name", KNOWN)
def test_the_metrics_are_those_of_the_authors_script(name, tmp_path):
    file_questions, metrics, expected_metrics = evaluate_known(name, tmp_path)
    assert list(file_questions.rejections) == []
    assert len(file_questions.questions) == 20
    values = {metric: metrics[metric].value for metric in expected_metrics}
    assert values == pytest.approx(expected_metrics, abs=1e-9)


def test_a_benchmark_of_bench_toml_takes_precedence_over_the_known_one(tmp_path):
    (tmp_path / "bench.toml").write_text('[benchmarks.mmmu]\nfile = "own.jsonl"\n')
    settings = load_with_known("mmmu", tmp_path)
    assert str(settings.benchmarks["mmmu"].file) == "own.jsonl"
    assert configured_release(settings, "mmmu") is None


def test_an_entry_in_place_of_the_benchmarks_of_bench_toml_is_named(tmp_path):
    (tmp_path / "bench.toml").write_text("benchmarks = 3\n")
    (tmp_path / "quiz.toml").write_text('[benchmarks.quiz]\nfile = "quiz.jsonl"\n')
    assert add_known(tmp_path, [str(tmp_path / "quiz.toml")]) == ["quiz"]
    with pytest.raises(SettingsError, match=r"bench\.toml.*benchmarks"):
        load_settings(tmp_path)


def test_only_known_benchmarks_are_written_into_the_home(tmp_path):
    load_with_known("mmmu", tmp_path)
    load_with_known("unknown", tmp_path)
    assert [file.name for file in (tmp_path / "benchmarks").iterdir()] == ["mmmu.toml"]
