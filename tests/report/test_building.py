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
from tests.report.fair import (
    HOSTILE,
    QUESTIONS,
    build_fair_home,
    build_report,
    catalog,
    metric,
    write_metrics,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_fair_home(tmp_path_factory.mktemp("home")).as_uri()


def model_names(page: "Page") -> list[str]:
    """Return the models of the leaderboard, from top to bottom."""
    rows = page.locator("table.leaderboard tbody:not([class]) tr")
    return [row.split("\n")[0] for row in rows.locator("th").all_inner_texts()]


def test_a_click_sorts_the_leaderboard_and_a_reload_keeps_the_order(page, address):
    page.goto(address)
    page.locator("table.leaderboard").wait_for()
    page.get_by_role("button", name="Model").click()
    assert model_names(page)[0].startswith("../")
    page.get_by_role("button", name="accuracy").click()
    assert model_names(page)[0] == "run/step-900"
    page.get_by_role("button", name="accuracy").click()
    assert model_names(page)[0].startswith("../")
    assert "sort=quiz" in page.url
    page.reload()
    page.locator("table.leaderboard").wait_for()
    assert model_names(page)[0].startswith("../")


def test_models_stand_above_blind_baselines_and_published_numbers(page, address):
    page.goto(address)
    table = page.locator("table.leaderboard")
    table.wait_for()
    bodies = table.locator("tbody")
    classes = [bodies.nth(n).get_attribute("class") for n in range(bodies.count())]
    assert classes == [None, "blind", "published"]


def test_a_table_wider_than_the_screen_is_marked_as_scrolling(page: "Page", address: str) -> None:
    page.goto(address)
    page.locator("table.leaderboard").wait_for()
    assert page.locator(".wide.scrolls").count() == 0
    page.set_viewport_size({"width": 200, "height": 800})
    page.locator(".wide.scrolls").first.wait_for()


def test_a_model_no_better_than_guessing_is_not_marked_as_above_baselines(page, tmp_path):
    """Of intervals of 0.1 to both sides, only that of 0.65 is above the 0.5 of guessing."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    for model, value in (("random", 0.5), ("guesses too", 0.55), ("sees", 0.65)):
        write_metrics(tables, model, value)
    page.goto(build_report(tmp_path, tables, catalog(tmp_path)).as_uri())
    page.locator("table.leaderboard").wait_for()
    assert page.locator("a.value.above").all_inner_texts() == ["0.650"]


@pytest.fixture(scope="module")
def error_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report whose metric is an error: its best constant response has 0.25, guessing 0.9.

    Intervals reach 0.1 to both sides: "good" is better than 0.25 with its whole interval, "fair"
    only with its value, and "bad" is worse.
    """
    folder = tmp_path_factory.mktemp("errors")
    tables = TableFiles(folder=str(folder / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    for model, value in (("random", 0.9), ("bad", 0.8), ("good", 0.1), ("fair", 0.2)):
        write_metrics(tables, model, value)
    suites = catalog(folder, lower_is_better=frozenset({"accuracy"}))
    return build_report(folder, tables, suites).as_uri()


def test_the_leaderboard_puts_the_lowest_error_first(page: "Page", error_report: str) -> None:
    page.goto(error_report)
    page.locator("table.leaderboard").wait_for()
    assert model_names(page) == ["good", "fair", "bad"]
    page.get_by_role("button", name="accuracy").click()
    assert model_names(page) == ["bad", "fair", "good"]


def test_the_lowest_error_is_marked_as_the_best(page: "Page", error_report: str) -> None:
    page.goto(error_report)
    page.locator("table.leaderboard").wait_for()
    assert page.locator("a.value.above").all_inner_texts() == ["0.100"]
    assert page.locator("a.value.best").all_inner_texts() == ["0.100"]
    glance = page.locator(".glance dd").inner_text()
    assert glance == "good with accuracy 0.100; best blind baseline: 0.250"


@pytest.mark.parametrize("table_name", ["Models", "A Paper, Table 1"])
def test_a_task_ranks_by_the_lowest_error(page: "Page", error_report: str, table_name: str) -> None:
    page.goto(f"{error_report}#/task/quiz")
    page.get_by_text("ranked by accuracy (lower is better)").wait_for()
    table = page.get_by_role("table", name=table_name, exact=True)
    headers = table.locator("tbody").first.get_by_role("rowheader").all_inner_texts()
    assert headers == ["good", "fair", "bad", "random"]


def test_a_model_shown_with_bounds_has_no_interval(page: "Page", tmp_path: Path) -> None:
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    read_metric = metric("read", 0.5)
    bounds: dict[str, Any] = {"unread": 0.3, "if_unread_wrong": 0.5, "if_unread_right": 0.8}
    for row in (read_metric, replace(read_metric, model="unread", **bounds)):
        tables.write(["quiz", "metrics"], [row], Metric, row.model)
    page.goto(build_report(tmp_path, tables, catalog(tmp_path)).as_uri())
    rows = page.locator("table.leaderboard tbody:not([class]) tr")
    rows.first.wait_for()
    row_of_read, row_of_unread = sorted(rows.all_inner_texts())  # they begin with their models
    assert "0.40 – 0.60" in row_of_read
    assert "0.500 to 0.800" in row_of_unread
    assert "0.40 – 0.60" not in row_of_unread
    assert page.locator("svg.range circle").count() == 1  # bounds have no dot


def test_a_served_page_shows_results_that_arrive_while_it_is_open(page, tmp_path):
    build_fair_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))
    with serve_live(
        tmp_path, lambda: build_report(tmp_path, tables, catalog(tmp_path)), port=0
    ) as url:
        page.goto(url)
        page.get_by_role("link", name="0.800, run/step-900").wait_for()
        write_metrics(tables, "run/step-999", 0.9)
        page.get_by_role("link", name="0.900, run/step-999").wait_for()
        page.get_by_label("Find").focus()  # somebody is at work: they decide
        write_metrics(tables, "run/step-1000", 0.95)
        page.get_by_role("button", name="Show new results").click()
        page.get_by_role("link", name="0.950, run/step-1000").wait_for()
        page.goto("about:blank")  # a page that is left asks no server that has ended


def test_a_served_page_shows_the_progress_of_a_running_evaluation(page, tmp_path):
    build_fair_home(tmp_path)
    tables = TableFiles(folder=str(tmp_path / "tables"))

    def write_partial_metrics(n_answered: int) -> None:
        row = metric("run/step-999", 0.5)
        partial_row = replace(
            row, signature=with_partial(row.signature, f"{n_answered} of 6 questions so far")
        )
        partial_tables(tmp_path).write(["quiz", "metrics"], [partial_row], Metric, "run/step-999")

    write_partial_metrics(1)
    with serve_live(
        tmp_path, lambda: build_report(tmp_path, tables, catalog(tmp_path)), port=0
    ) as url:
        page.goto(url)
        header = page.locator("header .running")
        header.get_by_text("run/step-999 on a quiz: 1 of 6").wait_for()
        write_partial_metrics(4)
        header.get_by_text(re.compile(r"4 of 6, about \d+ s left")).wait_for()
        page.goto("about:blank")


def test_hostile_model_names_are_shown_as_text(page: "Page", address: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.goto(f"{address}#/task/quiz")
    page.get_by_text(HOSTILE).first.wait_for()
    page.get_by_text("\\u202e").first.wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("route", "last_element"),
    [
        ("#/", "main h1"),
        ("#/?published=all&condition=blind", "main h1"),
        ("#/task", "main h1"),
        ("#/task/quiz", "figure.plot svg >> nth=2"),
    ],
)
def test_axe_finds_no_violation(page, address, theme, route, last_element):
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=theme)
    page.goto(address + route)
    page.locator(last_element).wait_for()
    assert Axe().run(page, options={"preload": False}).response["violations"] == []
