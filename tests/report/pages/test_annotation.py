from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.annotation.tasks import Unit
from bench_assets.report.pages.annotation import AnnotationPages
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.audit.test_report_page import data
from tests.report.annotated_quiz import CATALOG, write_annotated_home

PAGE = f"annotation-{slug('quiz/votes')}"


def write_pages(home: Path, *, without_images: bool = False) -> None:
    site = Site(home / "report", ImageStore(folder=str(home / "images")))
    settings = load_settings(home)
    restricted = ("quiz",) if without_images else ()
    pages = AnnotationPages(settings=settings, without_images=restricted)
    pages.write(site, TableFiles(folder=str(home / "tables")), CATALOG)
    site.finish()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    write_annotated_home(folder)
    write_pages(folder)
    return folder


def forms_by_task(home: Path) -> dict[str, Any]:
    return {form["task"]: form for form in data(home, "annotation")}


def test_a_task_with_units_has_its_progress(home: Path) -> None:
    progress = forms_by_task(home)["quiz/votes"]["progress"]
    assert (progress["units"], progress["done"], progress["lacking"]) == (3, 2, 1)
    assert progress["annotators"] == ["ana", "ben", "cem"]


def test_a_task_without_units_has_no_page(home: Path) -> None:
    assert forms_by_task(home)["quiz/captions"]["data"] == ""


def test_a_disputed_unit_has_its_image_and_the_votes(home: Path) -> None:
    """Of unit b, one person says yes and two say no: two of three pairs differ."""
    (disputed,) = data(home, PAGE)["disputed"]
    assert (disputed["unit_id"], disputed["disagreement"]) == ("b", pytest.approx(2 / 3))
    ((_, votes),) = disputed["said"]
    assert votes == {"yes": 1, "no": 2}
    assert len(disputed["images"]) == 1


def test_after_the_deadline_a_disputed_unit_no_longer_lacks_answers(tmp_path: Path) -> None:
    write_annotated_home(tmp_path)
    tables, key = TableFiles(folder=str(tmp_path / "tables")), ["quiz", "annotation", "votes_units"]
    tables.write(key, [replace(unit, needed=4) for unit in tables.read(key, Unit)], Unit)
    write_pages(tmp_path)
    (before,) = data(tmp_path, PAGE)["disputed"]
    (tmp_path / "bench.toml").write_text('[annotation.tasks."quiz/votes"]\nuntil = "2020-01-01"\n')
    write_pages(tmp_path)
    (after,) = data(tmp_path, PAGE)["disputed"]
    assert (before["lacking"], after["lacking"]) == (1, 0)


def test_images_of_a_restricted_suite_are_left_out(tmp_path: Path) -> None:
    write_annotated_home(tmp_path)
    write_pages(tmp_path, without_images=True)
    (disputed,) = data(tmp_path, PAGE)["disputed"]
    assert disputed["images"] == []


def test_a_damaged_table_is_named_as_the_problem_of_its_task(tmp_path: Path) -> None:
    write_annotated_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.path(["quiz", "annotation", "votes_answers"]).write_bytes(b"PAR1 torn")
    write_pages(tmp_path)
    assert "votes_answers" in forms_by_task(tmp_path)["quiz/votes"]["problem"]
