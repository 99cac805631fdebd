"""Every known benchmark on a file of its columns: the numbers are those of its authors' rule.

Rows are drawn, none is of the benchmarks themselves. A file of ``known_benchmarks`` has twenty with
the columns and types of the benchmark's card, responses to them, and what the published script of
its authors makes of these.
"""

import csv
import json
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from bench_assets.core.schema.rows import StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_assets.file_benchmarks.suite import task_of
from bench_resources.config import known_benchmarks
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.known_benchmarks import add_known
from bench_resources.datasets.hub import parse_release_address
from bench_resources.datasets.source_files import configured_release
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.rows import prediction

KNOWN = known_benchmarks.known_benchmarks()


def png(number: int) -> bytes:
    """An image; each number another one."""
    Image.new("RGB", (40, 20), (number, 0, 7)).save(data := BytesIO(), "PNG")
    return data.getvalue()


def with_images(cell: Any) -> Any:
    """A cell with the images that it names, as ``datasets`` stores them or as bytes."""
    if isinstance(cell, list):
        return [with_images(part) for part in cell]
    if not isinstance(cell, dict) or "png" not in cell:
        return cell
    data = png(cell["png"])
    return data if cell.get("bare") else {"bytes": data, "path": None}


def write_release(folder: Path, files: dict[str, list[dict[str, Any]]]) -> None:
    """Write Parquet files, or CSV with MMVP's images beside."""
    for name, rows in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        cells = [{column: with_images(cell) for column, cell in row.items()} for row in rows]
        if file.suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(cells), file)
            continue
        with file.open("w", newline="") as table:
            writer = csv.DictWriter(table, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        for row in rows:
            image = folder / "MMVP Images" / f"{row['Index']}.jpg"
            image.parent.mkdir(exist_ok=True)
            image.write_bytes(png(row["Index"]))


def stored(image, name):
    data = image if isinstance(image, bytes) else image.read_bytes()
    width, height = Image.open(BytesIO(data)).size
    digest = sha256(data).hexdigest()
    return StoredImage(
        name=name, sha256=digest, format="PNG", width=width, height=height, n_bytes=len(data)
    )


def settings_of(name, home):
    add_known(home, [f"{name}/main"])
    return load_settings(home)


def metrics(name, home):
    """Metrics of a known benchmark on drawn rows and responses, and what the authors say."""
    file = Path(__file__).with_name("known_benchmarks") / f"{name}.json"
    release = json.loads(file.read_text(encoding="utf-8"))
    responses = release["responses"]
    write_release(home / "release", release["files"])
    settings = settings_of(name, home)
    benchmark = settings.benchmarks[name]
    address = parse_release_address(str(benchmark.file))
    place = benchmark_location(name, home / "release" / address.below, settings)
    built = build(benchmark, place, stored)
    task = task_of(name, benchmark, place.section)
    questions = built.questions
    predictions = [
        prediction(question_id=question.question_id, text=text)
        for question, text in zip(questions, responses, strict=True)
    ]
    judge = ScriptedModel("j", lambda request: responses[_number(request)])
    by = judge if name == "mmvet" else None
    verdicts = pipeline.judge(task, questions, predictions, by) if task.is_judged else []
    scores = pipeline.score(task, questions, predictions, verdicts)
    rows = pipeline.summarise(task, questions, predictions, scores)
    values = {row.metric: row for row in rows if row.category == "all"}
    return built, values, release["measures"]


def _number(request):
    text = str(request.prompt.turns[-1].parts[-1])
    return int(text.partition("What is x in ")[2].partition("?")[0])


@pytest.mark.parametrize("name", KNOWN)
def test_the_numbers_are_those_of_the_authors_rule(name, tmp_path):
    built, found, authors = metrics(name, tmp_path)
    assert list(built.rejections) == []
    assert len(built.questions) == 20
    assert {metric: found[metric].value for metric in authors} == pytest.approx(authors, abs=1e-9)
    assert all(found[metric].n_scored for metric in authors)
    assert next(iter(authors)) == next(iter(found))
    primary = found[next(iter(authors))]
    assert primary.low < primary.value < primary.high


def test_what_bench_toml_says_counts_before_it(tmp_path):
    (tmp_path / "bench.toml").write_text('[benchmarks.mmmu]\nfile = "own.jsonl"\n')
    settings = settings_of("mmmu", tmp_path)
    assert str(settings.benchmarks["mmmu"].file) == "own.jsonl"
    assert configured_release(settings, "mmmu") is None
    settings_of("unknown", tmp_path)
    assert [file.name for file in (tmp_path / "benchmarks").iterdir()] == ["mmmu.toml"]
