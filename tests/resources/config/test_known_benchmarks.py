"""Every known benchmark on a file of its columns: the numbers are those of its authors' rule."""

import tomllib
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random

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
from tests.file_benchmarks.known.authors import RULES
from tests.file_benchmarks.known.layouts import LAYOUTS, N

KNOWN = known_benchmarks.known_benchmarks()
SECTIONS = Path(known_benchmarks.__file__).with_name("known")


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


def metrics(name, home, seed=0):
    """Metrics of a known benchmark on synthetic rows and responses, and what the authors say."""
    layout = LAYOUTS[name](Random(seed))
    layout.write(home / "release")
    settings = settings_of(name, home)
    benchmark = settings.benchmarks[name]
    address = parse_release_address(str(benchmark.file))
    place = benchmark_location(name, home / "release" / address.below, settings)
    built = build(benchmark, place, stored)
    task = task_of(name, benchmark, place.section)
    questions = built.questions
    predictions = [
        prediction(question_id=question.question_id, text=text)
        for question, text in zip(questions, layout.responses, strict=True)
    ]
    judge = ScriptedModel("j", lambda request: layout.responses[_number(request)])
    by = judge if name == "mmvet" else None
    verdicts = pipeline.judge(task, questions, predictions, by) if task.is_judged else []
    scores = pipeline.score(task, questions, predictions, verdicts)
    rows = pipeline.summarise(task, questions, predictions, scores)
    values = {row.metric: row for row in rows if row.category == "all"}
    return built, values, RULES[name](layout.rows, layout.responses)


def _number(request):
    text = str(request.prompt.turns[-1].parts[-1])
    return int(text.partition("What is x in ")[2].partition("?")[0])


@pytest.mark.parametrize("name", KNOWN)
def test_the_numbers_are_those_of_the_authors_rule(name, tmp_path):
    built, found, authors = metrics(name, tmp_path)
    assert list(built.rejections) == []
    assert len(built.questions) == N
    assert {metric: found[metric].value for metric in authors} == pytest.approx(authors, abs=1e-9)
    assert all(found[metric].n_scored for metric in authors)
    assert next(iter(authors)) == next(iter(found))
    primary = found[next(iter(authors))]
    assert primary.low < primary.value < primary.high


@pytest.mark.parametrize("name", KNOWN)
def test_a_benchmark_that_is_named_is_a_section_of_the_home(name, tmp_path):
    settings = settings_of(name, tmp_path)
    (section,) = tomllib.loads((SECTIONS / f"{name}.toml").read_text())["benchmarks"]
    assert section == name
    assert list(settings.benchmarks) == [name]
    assert str(configured_release(settings, name)).startswith("hf:")


def test_what_bench_toml_says_counts_before_it(tmp_path):
    (tmp_path / "bench.toml").write_text('[benchmarks.mmmu]\nfile = "own.jsonl"\n')
    settings = settings_of("mmmu", tmp_path)
    assert str(settings.benchmarks["mmmu"].file) == "own.jsonl"
    assert configured_release(settings, "mmmu") is None
    settings_of("unknown", tmp_path)
    assert [file.name for file in (tmp_path / "benchmarks").iterdir()] == ["mmmu.toml"]
