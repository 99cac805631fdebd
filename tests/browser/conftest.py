"""A browser for tests: Debian's Chromium, once for all."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """Chromium, started once; skips where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no chromium on the path: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: "Browser") -> "Iterator[Page]":
    """An empty page; what its console complains of fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)  # machines are busy
    one = context.new_page()
    complaints: list[str] = []
    one.on("pageerror", lambda why: complaints.append(str(why)))
    one.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    yield one
    context.close()
    assert not complaints
