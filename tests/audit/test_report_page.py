import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.report_page import AuditPages, count_failed_checks
from bench_assets.report.site.folder import Site, slug
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.report.doubtful import CATALOG, build_doubtful_home

FAILED_CHECK = AuditRow(task="quiz", check="c", question="?", passed=False, sentence="", n=9)

if TYPE_CHECKING:
    from playwright.sync_api import Page


def data(home: Path, name: str) -> Any:
    (file,) = (home / "report" / "data").glob(f"{name}.*.js")
    script = file.read_text(encoding="utf-8")
    return json.loads(script.partition(",")[2].removesuffix(");\n"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    build_doubtful_home(folder)
    return folder


@pytest.mark.parametrize(
    ("suspects_of_checks", "order"),
    [
        pytest.param([("b", "a"), ("c", "a")], ["a", "b", "c"], id="the most checks first"),
        pytest.param([("b", "a")], ["b", "a"], id="then in the order of a check"),
        pytest.param([("a", "a", "a", "b"), ("b",)], ["b", "a"], id="each check counts once"),
        pytest.param([], [], id="no failed check"),
    ],
)
def test_suspects_are_ordered_by_the_number_of_failed_checks(suspects_of_checks, order) -> None:
    rows = [replace(FAILED_CHECK, about=names) for names in suspects_of_checks]
    assert list(count_failed_checks(rows)) == order


def test_failed_checks_come_before_passed_and_skipped_ones(home: Path) -> None:
    checks = data(home, f"audit-{slug('quiz')}")["checks"]
    assert [(check["check"], check["passed"], bool(check["skipped"])) for check in checks] == [
        ("wrong_keys", False, False),
        ("duplicates", False, False),
        ("solved_blind", True, False),
        ("fit", True, True),
    ]


def test_an_unreadable_audit_is_a_problem_and_a_missing_one_is_none(tmp_path: Path) -> None:
    build_doubtful_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.path(["quiz", "audit"]).write_bytes(b"PAR1 torn")
    site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
    AuditPages().write(site, tables, CATALOG)
    site.finish()
    quiz, other = data(tmp_path, "audit")
    assert (quiz["data"], bool(quiz["problem"])) == ("", True)
    assert other == {"task": "other", "problem": "", "data": "", "checks": []}


def test_images_stay_out_of_a_report_without_images(tmp_path: Path) -> None:
    build_doubtful_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
    AuditPages(without_images=["quiz"]).write(site, tables, CATALOG)
    site.finish()
    page = data(tmp_path, f"audit-{slug('quiz')}")
    suspects = [suspect for check in page["checks"] for suspect in check["suspects"]]
    assert suspects
    assert not any(suspect["images"] for suspect in [*suspects, *page["first"]])
    assert not list((tmp_path / "report" / "images").rglob("*.webp"))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_doubtful_home(tmp_path_factory.mktemp("home")).as_uri()


@pytest.mark.browser
def test_a_doubt_leads_to_its_question_with_its_image(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Audit").click()
    page.get_by_role("row", name="a quiz").get_by_text("wrong keys").wait_for()
    page.get_by_role("link", name="a quiz").click()
    page.get_by_text("2 of 4 checks found something to look at; 1 could not look.").wait_for()
    first = page.get_by_role("listitem").first
    assert "named by 2 doubts" in first.inner_text()
    assert first.locator("img").evaluate("img => img.decode().then(() => img.naturalWidth)") > 1
    first.get_by_role("link", name="quiz/2").click()
    page.get_by_role("heading", name="a quiz: samples").wait_for()
    page.get_by_text("What is 2?").first.wait_for()


@pytest.mark.browser
@pytest.mark.parametrize("route", ["audit", "audit/quiz", "audit/other"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_pages_pass_axe_and_fit_the_window(page, address, theme, width, route):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    page.goto(f"{address}#/{route}")
    page.get_by_role("heading", level=1).wait_for()
    results = axe.Axe().run(page, options={"preload": False})
    assert not results.response["violations"], results.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
