"""What of doubts gets into the report, and in which order."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.report_page import AuditPages, most_named
from bench_assets.report.site.folder import Site, slug
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.report.doubtful import CATALOG, doubtful_home

DOUBT = AuditRow(task="quiz", check="c", question="?", passed=False, sentence="", n=9)


def data(home: Path, name: str) -> Any:
    """What a page gets by that name."""
    (file,) = (home / "report" / "data").glob(f"{name}.*.js")
    return json.loads(file.read_text(encoding="utf-8").partition(",")[2].removesuffix(");\n"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    doubtful_home(folder)
    return folder


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        pytest.param([("b", "a"), ("c", "a")], ["a", "b", "c"], id="whom most doubts name"),
        pytest.param([("b", "a")], ["b", "a"], id="then whom a doubt names first"),
        pytest.param([("a", "a", "a", "b"), ("b",)], ["b", "a"], id="each doubt counts once"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_what_is_looked_at_first(rows, order) -> None:
    doubts = [
        replace(DOUBT, about=names, evidence=("",) * len(names), weight=(1.0,) * len(names))
        for names in rows
    ]
    assert list(most_named(doubts)) == order


def test_a_check_that_passed_names_nobody() -> None:
    passed = replace(DOUBT, passed=True, about=("a",), evidence=("",), weight=(1.0,))
    assert most_named([passed]) == {}


def test_doubts_come_before_what_passed_and_what_could_not_look(home: Path) -> None:
    checks = data(home, f"audit-{slug('quiz')}")["checks"]
    names = [one["check"] for one in checks]
    assert names == ["wrong_keys", "duplicates", "solved_blind", "fit"]


def test_a_image_leads_to_the_first_question_that_shows_it_and_a_name_nowhere(
    home: Path,
) -> None:
    suspects = data(home, f"audit-{slug('quiz')}")["checks"][1]["suspects"]
    assert [one["question"] for one in suspects] == ["quiz/2", "quiz/0", ""]
    assert [len(one["images"]) for one in suspects] == [1, 1, 0]


def test_a_task_that_was_not_examined_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    doubtful_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.path(["quiz", "audit"]).write_bytes(b"PAR1 torn")
    site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
    AuditPages().write(site, tables, CATALOG)
    site.finish()
    quiz, other = data(tmp_path, "audit")
    assert (quiz["data"], bool(quiz["problem"])) == ("", True)
    assert other == {"task": "other", "problem": "", "data": "", "checks": []}


def test_images_stay_out_of_the_report_where_that_is_wanted(tmp_path: Path) -> None:
    doubtful_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
    AuditPages(without_images=["quiz"]).write(site, tables, CATALOG)
    site.finish()
    page = data(tmp_path, f"audit-{slug('quiz')}")
    every = [one for check in page["checks"] for one in check["suspects"]] + page["first"]
    assert [one["images"] for one in every] == [[]] * len(every)
    assert not list((tmp_path / "report" / "images").rglob("*.webp"))
