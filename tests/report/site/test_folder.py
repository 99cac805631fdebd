"""A report that is sent tells nobody in whose folder it was made."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import Question
from bench_assets.report.site.folder import Site
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.codis_release import image
from tests.fakes.quiz import quiz
from tests.report.fair import catalog, measure, report


@pytest.mark.parametrize("name", ["home", 'a "home" é <b>'])
def test_damaged_images_and_tables_are_reported_without_the_home(tmp_path: Path, name: str) -> None:
    home = tmp_path / "somebody" / name
    home.mkdir(parents=True)
    tables = TableFiles(folder=str(home / "tables"))
    image_store = ImageStore(folder=str(home / "images"))
    shown = image_store.put(image(1), "1.png").sha256
    questions = [replace(one, images=(shown,)) for one in quiz(6)]
    tables.write(["quiz", "questions"], questions, Question)
    measure(tables, "sound", 0.5)
    measure(tables, "torn", 0.5)
    tables.path(["quiz", "metrics"], "torn").write_bytes(b"PAR1")
    image_store.path(shown).write_bytes(b"another")
    report(home, tables, catalog(home))
    data = b"".join(file.read_bytes() for file in (home / "report" / "data").iterdir())
    assert b"is not the one that was stored" in data
    assert b"metrics/torn" in data
    assert b"somebody" not in data


def test_a_report_tells_no_address_of_objects(tmp_path: Path) -> None:
    image_store = ImageStore(folder=str(tmp_path / "cache"), objects="s3://team-bucket/secret")
    site = Site(tmp_path / "report", image_store)
    site.put("said", ["s3://team-bucket/secret/tables/quiz/metrics/torn.parquet: damaged"])
    site.finish()
    (file,) = (tmp_path / "report" / "data").glob("said.*.js")
    assert '"tables/quiz/metrics/torn.parquet: damaged' in file.read_text(encoding="utf-8")


def test_a_short_path_is_left_in_texts_that_may_mean_another(tmp_path: Path) -> None:
    site = Site(tmp_path / "report", ImageStore(folder="/data/images"))
    site.put("said", ["It lies in /data/ as always."])
    site.finish()
    (file,) = (tmp_path / "report" / "data").glob("said.*.js")
    assert "in /data/ as" in file.read_text(encoding="utf-8")
