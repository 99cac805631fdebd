"""Take the images of the README, the report, the UI and the pages for people: ``make screenshots``.

Opens what ``make demo`` left in the home folder, in Chromium, and writes docs/images/*.png. Look at
them: of a home that an older version made, numbers are marked as stale. ``shown.json`` beside them
says what they show; a test fails when that is older than the models and tasks of the checkout.
"""

import json
import re
import shutil
import time
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import dagster as dg
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from bench_assets import report
from bench_assets.core.schema.errors import BenchError
from bench_assets.definitions import defs
from bench_assets.suites.codis.annotation import VOTES
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.workspace.materialization.dagster_processes import require_free
from bench_assets.workspace.materialization.supervisor import supervise_ui
from bench_resources.annotation.web.backend import PagesBackend
from bench_resources.annotation.web.server import PagesServer as ServedPages
from bench_resources.annotation.web.server import Setup
from bench_resources.annotation.web.sessions import LinkSigner
from bench_resources.annotation.web.store import pages_store
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import default_home
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.datasets.source_files import tables_of
from bench_resources.images.locations import ImageFolder

Scheme: TypeAlias = Literal["light", "dark"]

IMAGES = Path(__file__).parent / "images"
SHOWN = IMAGES / "shown.json"
PAGES = Path(report.__file__).parent / "static" / "app" / "base" / "pages.js"
PORT = 3457  # another than that of `bench ui`, which may be open
_SIZE = (1280, 800)  # px
_SIZE_OF_PHONE = (390, 844)
_SIZE_OF_UI = (1600, 1200)  # px; at which the graph of a group has room
_ZOOM_OUT, _ZOOMS_OUT = (1572, 1051), 5  # the button at that size; until the group is seen whole
_COLOURS = 128  # flat pages need no more, and stay well under 200 kB
_PATIENCE = 120_000  # ms; of a busy machine
_STILL = 3_000  # ms; what is drawn late is there by then

REPORT = {
    "report-leaderboard": ("#/", "table.leaderboard"),
    "report-task": ("#/task/blink", "figure.plot svg"),
    "report-samples": ("#/samples/blink?outcome=wrong-by-all", "main img"),
    "report-compare": ("#/compare", "main table"),
    "report-audit": ("#/audit", "main h1"),
}
"""By the name of the image: a page's address in the report, and what is there when it is."""

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
README = {
    "readme-curve": ("#/task/journeybench%2Fcaptioning", "figure.plot", (720, 430)),
    "readme-sample": ("#/samples/journeybench%2Fcaptioning", "main .images", (720, 640)),
}
"""The same for the README, which begins with what is named, and the size in px."""


def shown() -> dict[str, str]:
    """What the images show: digests of the curve's steps, versions of tasks, the report's tabs."""
    weights = {
        name: sha256((Path(spec.place) / "model.safetensors").read_bytes()).hexdigest()[:16]
        for name, spec in EMBEDDED_MODELS.items()
        if name.startswith("tiny-vlm/")
    }
    tasks = {task.name: f"version {task.version}" for task in (CAPTIONING,)}
    tabs = re.search(r"const TABS = \[(.*)\]", PAGES.read_text(encoding="utf-8"))
    return weights | tasks | {"tabs": tabs[1] if tabs else ""}


def main() -> None:
    """Take all images; those of the UI are the last, since it takes a while to start."""
    home = default_home()
    page = home / "report" / "index.html"
    if not page.is_file():
        raise SystemExit(f"{page}: no report yet; `make demo`, or `bench report`, makes it")
    found = shutil.which("chromium")
    if found is None:
        raise SystemExit("no chromium on the path: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        _report(browser, page.as_uri())
        _readme(browser, page.as_uri())
        SHOWN.write_text(json.dumps(shown(), indent=1) + "\n", encoding="utf-8")
        _people(browser, home)
        _ui(browser, home)
        browser.close()


def _report(browser: Browser, address: str) -> None:
    page = _page(browser, _SIZE)
    for name, (route, there) in REPORT.items():
        page.goto("about:blank")
        page.goto(address + route)
        page.locator(there).first.wait_for()
        _take(page, name)


def _readme(browser: Browser, address: str) -> None:
    """Show a curve and a sample of it side by side, in light and dark."""
    for scheme in SCHEMES:
        for name, (route, first, size) in README.items():
            page = _page(browser, size, scheme)
            page.goto(address + route)
            page.locator(first).first.wait_for()
            page.locator(first).first.evaluate("one => one.scrollIntoView()")
            _take(page, f"{name}-{scheme}")


def _people(browser: Browser, home: Path) -> None:
    """Show the votes of CODIS to somebody, in a folder of their own: nobody is asked by that."""
    tables = tables_of(load_settings(home))
    units = VOTES.units(**{
        name: tables.read(one.key.split("/"), one.row) for name, one in VOTES.reads.items()
    })  # fmt: skip
    with TemporaryDirectory() as folder:
        store, images = pages_store(Path(folder)), ImageFolder(str(home / "images"))
        PagesBackend(store).ask(VOTES.task, units)
        link = LinkSigner.beside(store).make("ana", (), int(time.time()) + 3600)
        with ServedPages(Setup(store=store, images=images), port=0) as served:
            for name, size in {"people-vote": _SIZE, "people-vote-phone": _SIZE_OF_PHONE}.items():
                page = _page(browser, size)
                page.goto(f"{served.address}/in/{link}")
                page.get_by_role("link", name="Begin").first.click()
                page.locator("main img").first.wait_for()
                _take(page, name)


def _ui(browser: Browser, home: Path) -> None:
    try:
        require_free(PORT)
        address = f"http://127.0.0.1:{PORT}"
        with supervise_ui(home, PORT) as services:
            services.start()
            page = _page(browser, _SIZE_OF_UI)
            group = defs.resolve_asset_graph().get(dg.AssetKey(["codis", "metrics"])).group_name
            page.goto(f"{address}/locations/bench_assets/asset-groups/{group}/lineage")
            page.get_by_text("Latest event").first.wait_for()
            page.get_by_text("Loading").last.wait_for(state="hidden")
            for _ in range(_ZOOMS_OUT):
                page.mouse.click(*_ZOOM_OUT)
                page.wait_for_timeout(_STILL / 3)
            _take(page, "ui-graph")
    except BenchError as why:
        raise SystemExit(str(why)) from why


def _page(browser: Browser, size: tuple[int, int], scheme: Scheme = "light") -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page.set_default_timeout(_PATIENCE)
    return page


def _take(page: Page, name: str) -> None:
    """Write what is seen when it no longer moves, with few colours."""
    page.wait_for_timeout(_STILL)
    file = IMAGES / f"{name}.png"
    with Image.open(BytesIO(page.screenshot())) as image:
        image.convert("RGB").quantize(_COLOURS).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
