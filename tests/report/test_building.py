"""The report in Chromium, opened from disk: what a reader does with it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import with_partial
from bench_assets.workspace.inspect.report_server import serve_live
from bench_resources.tables.parquet import TableFiles
from tests.report.fair import HOSTILE, QUESTIONS, catalog, fair_home, measure, metric, report

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

PAGES = ("#/", "#/?published=all&condition=blind", "#/task", "#/task/quiz")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return fair_home(tmp_path_factory.mktemp("home")).as_uri()


def names(page: "Page") -> list[str]:
    """The models of the leaderboard, from top to bottom."""
    rows = page.locator("table.leaderboard tbody:not([class]) tr")
    return [row.split("\n")[0] for row in rows.locator("th").all_inner_texts()]


def test_the_matrix_is_sorted_by_a_click_and_the_address_says_how(
    page: "Page", address: str
) -> None:
    page.goto(address)
    page.locator("table.leaderboard").wait_for()
    page.get_by_role("button", name="Model").click()
    assert names(page)[0].startswith("../")
    page.get_by_role("button", name="accuracy").click()
    assert names(page)[0] == "run/step-900"
    page.get_by_role("button", name="accuracy").click()
    assert names(page)[0].startswith("../")
    assert "sort=quiz" in page.url
    page.reload()
    page.locator("table.leaderboard").wait_for()
    assert names(page)[0].startswith("../")


def test_models_are_on_top_and_a_table_says_that_it_scrolls(page: "Page", address: str) -> None:
    page.goto(address)
    table = page.locator("table.leaderboard")
    table.wait_for()
    bodies = table.locator("tbody")
    classes = [bodies.nth(n).get_attribute("class") for n in range(bodies.count())]
    assert classes == [None, "blind", "published"]
    assert page.locator(".wide.scrolls").count() == 0
    page.set_viewport_size({"width": 200, "height": 800})
    page.locator(".wide.scrolls").first.wait_for()


def test_what_guessing_reaches_is_not_marked_as_better_than_without_looking(
    page: "Page", tmp_path: Path
) -> None:
    """Intervals reach 0.1 to both sides; the best constant response gets 0.25, guessing 0.5."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    for model, value in (("random", 0.5), ("guesses too", 0.55), ("sees", 0.65)):
        measure(tables, model, value)
    page.goto(report(tmp_path, tables, catalog(tmp_path)).as_uri())
    page.locator("table.leaderboard").wait_for()
    assert page.locator("a.value.above").all_inner_texts() == ["0.650"]


def test_the_lowest_error_is_the_best_everywhere(page: "Page", tmp_path: Path) -> None:
    """Errors, within 0.1 each; the best constant has 0.25, guessing 0.9.

    "good" is better than 0.25 with its whole interval, "fair" with its value, "bad" not.
    """
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    for model, value in (("random", 0.9), ("bad", 0.8), ("good", 0.1), ("fair", 0.2)):
        measure(tables, model, value)
    suites = catalog(tmp_path, frozenset({"accuracy"}))
    address = report(tmp_path, tables, suites).as_uri()
    page.goto(address)
    page.locator("table.leaderboard").wait_for()
    assert names(page) == ["good", "fair", "bad"]
    assert page.locator("a.value.above").all_inner_texts() == ["0.100"]
    assert page.locator("a.value.best").all_inner_texts() == ["0.100"]
    glance = page.locator(".glance dd").inner_text()
    assert glance == "good with accuracy 0.100; best blind baseline: 0.250"
    page.get_by_role("button", name="accuracy").click()
    assert names(page) == ["bad", "fair", "good"]
    page.goto(f"{address}#/task/quiz")
    page.get_by_text("ranked by accuracy (lower is better)").wait_for()
    for name in ("Models", "A Paper, Table 1"):
        table = page.get_by_role("table", name=name, exact=True)
        heads = table.locator("tbody").first.get_by_role("rowheader").all_inner_texts()
        assert heads == ["good", "fair", "bad", "random"]


def test_no_interval_stands_beside_bounds(page: "Page", tmp_path: Path) -> None:
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    read = metric("read", 0.5)
    bounds: dict[str, Any] = {"unread": 0.3, "if_unread_wrong": 0.5, "if_unread_right": 0.8}
    for row in (read, replace(read, model="unread", **bounds)):
        tables.write(["quiz", "metrics"], [row], Metric, row.model)
    page.goto(report(tmp_path, tables, catalog(tmp_path)).as_uri())
    rows = page.locator("table.leaderboard tbody:not([class]) tr")
    rows.first.wait_for()
    cells = {row.split("\t")[0].split("\n")[0]: row for row in rows.all_inner_texts()}
    assert "0.40 – 0.60" in cells["read"]
    assert "0.500 to 0.800" in cells["unread"]
    assert "0.40 – 0.60" not in cells["unread"]
    assert page.locator("svg.range circle").count() == 1  # bounds have no dot


def test_a_served_page_shows_what_was_measured_meanwhile(page: "Page", tmp_path: Path) -> None:
    fair_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    with serve_live(tmp_path, lambda: report(tmp_path, tables, catalog(tmp_path)), 0) as served:
        page.goto(served)
        page.get_by_role("link", name="0.800, run/step-900").wait_for()
        measure(tables, "run/step-999", 0.9)
        page.get_by_role("link", name="0.900, run/step-999").wait_for()
        page.get_by_label("Find").focus()  # somebody is at work: they decide
        measure(tables, "run/step-1000", 0.95)
        page.get_by_role("button", name="Show new results").click()
        page.get_by_role("link", name="0.950, run/step-1000").wait_for()
        page.goto("about:blank")  # a page that is left asks no server that has ended


def test_a_served_page_says_what_runs(page: "Page", tmp_path: Path) -> None:
    fair_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))

    def answer(n: int) -> None:
        row = metric("run/step-999", 0.5)
        part = replace(row, signature=with_partial(row.signature, f"{n} of 6 questions so far"))
        partial_tables(tmp_path).write(["quiz", "metrics"], [part], Metric, "run/step-999")

    answer(1)
    with serve_live(tmp_path, lambda: report(tmp_path, tables, catalog(tmp_path)), 0) as served:
        page.goto(served)
        header = page.locator("header .running")
        header.get_by_text("run/step-999 on a quiz: 1 of 6").wait_for()
        answer(4)
        header.get_by_text(re.compile(r"4 of 6, about \d+ s left")).wait_for()
        page.goto("about:blank")


def test_names_that_mean_harm_are_texts(page: "Page", address: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.goto(f"{address}#/task/quiz")
    page.get_by_text(HOSTILE).first.wait_for()
    page.get_by_text("\\u202e").first.wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page: "Page", address: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    found = {}
    for route in PAGES:
        page.goto("about:blank")
        page.goto(address + route)
        page.locator("main h1").wait_for()
        if "/quiz" in route:
            page.locator("figure.plot svg").nth(2).wait_for()
        violations = Axe().run(page, options={"preload": False}).response["violations"]
        found[route] = [
            (one["id"], [node["html"] for node in one["nodes"]][:3]) for one in violations
        ]
    assert found == {route: [] for route in PAGES}
