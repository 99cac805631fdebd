"""Fixtures of a browser, which is Debian's Chromium."""

import re
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page


@pytest.fixture(scope="module")  # Playwright's event loop keeps others from running theirs
def chromium() -> "Iterator[Browser]":
    """Chromium; skips where there is none."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium on the path: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: "Browser") -> "Iterator[Page]":
    """An empty page; an error or warning in its console fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)  # machines are busy
    new_page = context.new_page()
    complaints: list[str] = []
    new_page.on("pageerror", lambda error: complaints.append(str(error)))

    def record_complaint(message: "ConsoleMessage") -> None:
        # A served report may be rebuilt between its list of data and the data: the page asks again.
        is_rebuilt = re.search(r"^http.*/data/[\w.-]+\.js", message.location["url"] + message.text)
        if message.type in ("error", "warning") and not is_rebuilt:
            complaints.append(message.text)

    new_page.on("console", record_complaint)
    yield new_page
    context.close()
    assert not complaints
