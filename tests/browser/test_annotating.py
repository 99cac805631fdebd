"""Three people vote with keys alone, on pages; what is made of it follows by itself."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_assets.annotate.operations import ask
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.build import FunnelStep
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_assets.workspace.materialization.supervisor import supervise_ui
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from bench_resources.tables.parquet import TableFiles
from tests.fakes.annotation_pages import Site
from tests.fakes.codis_source import entry, write_raw
from tests.fakes.ports import free_port
from tests.resources.annotation.web.test_rendering import to_keys, to_task

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PEOPLE = ("ana", "bo", "cem")
OPEN = "submissions open: votes are missing"
KEPT = "submissions kept by the votes"
LONGEST = 120  # s, on a machine that does much else


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three submissions that nobody voted on yet."""
    entries = [
        entry(id=f"s-{name}", annotator=name, revises=None, question=f"{name}: open or shut?")
        for name in PEOPLE
    ]
    write_raw(tmp_path / "codis", entries, [])
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "bench.toml").write_text(
        f"""
[sources]
codis = "{tmp_path / "codis"}"

[annotation]
kind = "pages"
every = 5

[annotation.tasks."codis/votes"]
""",
        encoding="utf-8",
    )
    with Workbench(load_settings(folder), ["codis"]) as bench:
        ask(bench, "codis/votes")
    return folder


@pytest.fixture
def ui(home: Path) -> Iterator[str]:
    """Dagster's page, whose daemon runs the sensor on answers."""
    port = free_port()
    open_instance(home).dispose()
    with supervise_ui(home, port) as services:
        services.start()
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def site(ui: str, home: Path) -> Iterator[Site]:
    with Site(home) as one:
        yield one


def test_votes_by_keys_make_the_funnel_move(
    chromium: "Browser", ui: str, site: Site, home: Path
) -> None:
    tables = tables_of(load_settings(home))
    _vote(chromium, site, "CODIS: votes on the others' questions", 2, "111")
    _wait(lambda: _funnel(tables) == {OPEN: 0, KEPT: 3})
    questions = ["codis", "questions"]  # which the same run makes after the funnel
    _wait(lambda: tables.exists(questions) and len(tables.read(questions, Question)) == 6)


def _vote(chromium: "Browser", site: Site, title: str, n: int, keys: str) -> None:
    """Let each person press keys at their first items, without ever touching the mouse."""
    for person in PEOPLE:
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(site.address + site.link(person))
        to_task(page, title)
        for _ in range(n):
            to_keys(page)
            before = page.url
            for key in keys:
                page.keyboard.press(key)
            page.keyboard.press("Control+Enter")
            page.wait_for_url(re.compile(f"^(?!{re.escape(before)}$)"))
        context.close()


def _funnel(tables: TableFiles) -> dict[str, int]:
    key = ["codis", "funnel"]
    rows = tables.read(key, FunnelStep) if tables.exists(key) else []
    return {row.step: row.n for row in rows if row.step in (OPEN, KEPT)}


def _wait(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(1)
    pytest.fail("nothing followed")
