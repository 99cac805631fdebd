"""A browser for tests: Debian's Chromium, once for all."""

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

    def note(message: "ConsoleMessage") -> None:
        # A served report may be rebuilt between its list of data and the data: the page asks again.
        is_rebuilt = re.search(r"^http.*/data/[\w.-]+\.js", message.location["url"] + message.text)
        if message.type in ("error", "warning") and not is_rebuilt:
            complaints.append(message.text)

    one.on("console", note)
    yield one
    context.close()
    assert not complaints
