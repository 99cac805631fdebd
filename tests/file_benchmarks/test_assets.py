import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench_assets.catalog import Catalog, load_catalog
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.images.store import ImageStore
from tests.fakes.written_images import plain_png

ROW = {"question": "Which?", "options": ["red", "blue"], "answer": "A"}


def build_tables(home):
    """Refresh the one benchmark of a home; return its tables, and the mtime of its questions."""
    settings = load_settings(home)
    suites = tuple(suite for _, suite in file_benchmark_suites(settings))
    with Workbench(settings, catalog=Catalog(suites=suites)) as bench:
        bench.refresh_questions("fridge")
        bench.questions(bench.catalog.task("fridge"), "options_shuffled")  # built on demand
        names = ("source", "images", "questions", "rejections", "options_shuffled/questions")
        tables = {name: bench.rows(f"fridge/{name}") for name in names}
        return tables, bench.tables.path(["fridge", "questions"]).stat().st_mtime_ns


@pytest.fixture
def image_home(tmp_path):
    """A home with three questions, of which the second one's image is damaged."""
    (tmp_path / "bench.toml").write_text('[benchmarks.fridge]\nfile = "q/a.jsonl"\n')
    (tmp_path / "q").mkdir()
    rows = [
        ROW | {"id": 1, "image": "a.png"},
        ROW | {"id": 2, "image": "torn.png"},
        ROW | {"id": 3, "image": "a.png"},
    ]
    (tmp_path / "q" / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "q" / "a.png").write_bytes(plain_png("red"))
    (tmp_path / "q" / "torn.png").write_bytes(b"torn")
    return tmp_path


@pytest.mark.long
def test_a_benchmark_has_tables_of_files_images_questions_and_rejections(image_home):
    tables, _ = build_tables(image_home)
    assert [row.path for row in tables["source"]] == ["a.jsonl", "a.png", "torn.png"]
    assert [row.name for row in tables["images"]] == ["a.png"]
    ids = ["fridge/1", "fridge/3"]
    assert [row.question_id for row in tables["questions"]] == ids
    assert [row.question_id for row in tables["options_shuffled/questions"]] == ids
    (rejection,) = tables["rejections"]
    assert rejection.entry == f"{image_home}/q/a.jsonl, line 2"
    assert "not an image in any known format" in rejection.reason


@pytest.mark.long
def test_questions_are_built_again_only_when_an_image_changes(image_home):
    tables, modified = build_tables(image_home)
    _, modified_later = build_tables(image_home)
    assert modified_later == modified

    (image_home / "q" / "a.png").write_bytes(plain_png("blue"))
    tables_of_blue, _ = build_tables(image_home)
    assert tables_of_blue["questions"][0].images != tables["questions"][0].images


def test_images_inside_a_table_are_stored(tmp_path):
    row = ROW | {"image": {"bytes": plain_png(size=(4, 4)), "path": "gone.png"}}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    file = tmp_path / "a.parquet"
    benchmark = FileBenchmarkSettings(file=file)
    settings = Settings(home=tmp_path, benchmarks={"fridge": benchmark})
    location = benchmark_location("fridge", file, settings)
    store = ImageStore(folder=str(tmp_path / "images"))

    def put(image: Path | bytes, name: str) -> StoredImage:
        assert isinstance(image, bytes)
        return store.put(image, name)

    (image,) = build(benchmark, location, put).images
    assert image.name == f"{tmp_path}/a.parquet, row 1, image 1"
    assert (image.width, image.format) == (4, "PNG")


@pytest.mark.parametrize(
    ("section", "expected_message"),
    [
        pytest.param('[benchmarks.My-own]\nfile = "a"', "should match pattern", id="a capital"),
        pytest.param(
            '[benchmarks.fridge]\nfile = "a"\nmetrics = "anls"',
            "metrics: unknown; did you mean 'metric'?",
            id="an unknown entry",
        ),
        pytest.param(
            '[benchmarks.fridge]\nfile = "a"\nmetric = "anls"\njudge = "m"',
            "anls needs no judge",
            id="a judge where none is asked",
        ),
        pytest.param(
            '[benchmarks.fridge]\nfile = "a"\nprompt = "{question"',
            "[benchmarks.fridge], prompt '{question'",
            id="a prompt with an open brace",
        ),
    ],
)
def test_a_section_that_cannot_be_used_is_an_error_that_names_it(
    tmp_path, section, expected_message
):
    (tmp_path / "bench.toml").write_text(section)
    with pytest.raises(SettingsError) as error:
        load_catalog(load_settings(tmp_path))
    assert expected_message in str(error.value)
    assert f"{tmp_path}/bench.toml" in str(error.value)
