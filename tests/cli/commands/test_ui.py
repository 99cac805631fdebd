import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from bench_assets.report.site.addresses import PORT
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_assets.workspace.materialization.supervisor import supervise_ui
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.ports import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

FIRST, SECOND = "run/step-100", "run/step-200"
MODELS = f"""
[models."{FIRST}"]
kind = "random"

[models."{SECOND}"]
kind = "random"
seed = 1
"""
TIMEOUT = 120_000  # ms, for a busy machine
RUN_TIMEOUT = 300_000  # ms, for a run on it: a process that imports the graph and evaluates
RESULTS = re.compile(r"acc_p 0\.\d{3} \[.*\], n=40")  # 80 questions, by pairs


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A home where a command evaluated the first of two checkpoints, and the UI over it."""
    home = tmp_path_factory.mktemp("home")
    (home / "bench.toml").write_text(MODELS, encoding="utf-8")
    with Workbench(load_settings(home), ["codis"]) as bench:
        bench.refresh_questions("codis")
        bench.add_models([FIRST, SECOND])
        bench.evaluate(["codis"], FIRST)
    port = free_port()
    open_instance(home).dispose()
    with supervise_ui(home, port) as services:
        services.start()
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def tab(chromium: "Browser") -> "Iterator[Page]":
    """An empty page, whose console is not checked, since Dagster's own scripts write to it."""
    context = chromium.new_context(viewport={"width": 1600, "height": 1000})
    context.set_default_timeout(TIMEOUT)
    yield context.new_page()
    context.close()


def test_a_suite_is_evaluated_by_clicks_and_its_results_are_shown(tab: "Page", ui: str) -> None:
    tab.goto(f"{ui}/locations/bench_assets/jobs/evaluate_codis")
    tab.get_by_role("button", name="Materialize all").click()
    tab.get_by_text("Select a partition").click()
    tab.get_by_text(SECOND).first.click()
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Launch 1 run").click()
    dialog = tab.locator("[role=dialog][aria-modal=true]")  # a closed popover may be one, too
    dialog.wait_for(state="hidden")  # leaving earlier would launch nothing
    _wait_for_success(tab, ui)
    _wait_for_checks(tab, ui)
    tab.goto(f"{ui}/assets/codis/metrics?view=partitions&partition={SECOND}")
    tab.get_by_role("row", name="results").get_by_text("Show Markdown").click()
    tab.get_by_role("dialog").get_by_text(RESULTS).first.wait_for()


def _wait_for_success(tab: "Page", ui: str) -> None:
    tab.goto(f"{ui}/locations/bench_assets/jobs/evaluate_codis/runs")
    tab.get_by_text("Success").first.wait_for(timeout=RUN_TIMEOUT)


def _wait_for_checks(tab: "Page", ui: str) -> None:
    tab.goto(f"{ui}/assets/codis/scores?view=checks")
    tab.get_by_text("no_row_lost").first.click()
    tab.get_by_text("80 scores").first.wait_for()
    link = tab.get_by_role("link", name=f"http://127.0.0.1:{PORT}/#/number/codis-").first
    link.wait_for()
