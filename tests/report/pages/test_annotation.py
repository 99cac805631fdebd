"""What of people gets into the report."""

from pathlib import Path
from typing import Any

import pytest

from bench_assets.report.pages.annotation import AnnotationPages
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.audit.test_report_page import data
from tests.report.asked_people import CATALOG, annotated_home

PAGE = f"annotation-{slug('quiz/votes')}"


def _written(home: Path, *, without_images: bool = False) -> None:
    site = Site(home / "report", ImageStore(folder=str(home / "images")))
    settings = load_settings(home)
    part = AnnotationPages(settings=settings, without_images=("quiz",) if without_images else ())
    part.write(site, TableFiles(folder=str(home / "tables")), CATALOG)
    site.finish()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    annotated_home(folder)
    _written(folder)
    return folder


def _forms(home: Path) -> dict[str, Any]:
    return {one["task"]: one for one in data(home, "annotation")}


def test_a_form_with_units_has_a_page_and_one_without_its_name(home: Path) -> None:
    forms = _forms(home)
    assert forms["quiz/captions"]["data"] == ""
    progress = forms["quiz/votes"]["progress"]
    assert (progress["units"], progress["done"], progress["lacking"]) == (3, 2, 1)
    assert progress["annotators"] == ["ana", "ben", "cem"]


def test_what_people_differ_on_is_shown_with_its_image_and_their_votes(home: Path) -> None:
    (disputed,) = data(home, PAGE)["disputed"]
    assert (disputed["unit_id"], disputed["disagreement"]) == ("b", pytest.approx(2 / 3))
    assert [votes for _, votes in disputed["said"]] == [{"yes": 1, "no": 2}]
    assert len(disputed["images"]) == 1


def test_images_that_may_not_leave_stay_out(tmp_path: Path) -> None:
    annotated_home(tmp_path)
    _written(tmp_path, without_images=True)
    assert data(tmp_path, PAGE)["disputed"][0]["images"] == []


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    annotated_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.path(["quiz", "annotation", "votes_answers"]).write_bytes(b"PAR1 torn")
    _written(tmp_path)
    assert "votes_answers" in _forms(tmp_path)["quiz/votes"]["problem"]
