import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_assets.comparison.people_checks import people_checks
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.fakes.annotation_pages import Site
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench
from tests.report.annotated_quiz import CATALOG, write_annotated_home
from tests.report.fair import HOSTILE, build_report, write_metrics
from tests.resources.annotation.web.test_rendering import open_task, wait_for_scripts

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("home")
    write_annotated_home(folder)
    tables = TableFiles(folder=str(folder / "tables"))
    write_metrics(tables, "a-model", 0.5)
    return build_report(folder, tables, CATALOG).as_uri()


def test_a_task_shows_its_progress_and_disputed_units(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Annotation").click()
    page.get_by_text("Write a caption").wait_for()  # which nobody was asked
    page.get_by_role("link", name="quiz/votes").click()
    page.get_by_text("2 of 3 units are done; open: 1, answers they lack: 1.").wait_for()
    assert "2" in page.get_by_role("row", name="cem").inner_text()
    disputed = page.get_by_role("listitem").filter(has_text="About b?")
    assert "no 2" in disputed.inner_text()
    assert HOSTILE in disputed.inner_text()
    assert (
        disputed.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)")
        > 1
    )
    page.get_by_text("1: right: 'perhaps' is none of yes, no").wait_for()


N_RESPONSES, N_LABELS = 300, 60
ACCURACY = 0.6  # share of right responses
BIAS = 0.15  # share of wrong responses that the judge calls right


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a benchmark that the model "lenient" judges, and pages for people."""
    rows = [
        {"id": n, "question": f"What is {n}?", "answer": f"thing {n}"} for n in range(N_RESPONSES)
    ]
    (tmp_path / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "bench.toml").write_text(
        f'[benchmarks.quiz]\nfile = "{tmp_path / "quiz.jsonl"}"\njudge = "lenient"\n\n'
        '[annotation]\nkind = "pages"\n\n[annotation.tasks."quiz/verdicts"]\n'
    )
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return folder


def response_qualities() -> list[str]:
    """The quality of each response: sound, smooth (wrong, but the judge accepts it) or poor."""
    n_sound, n_smooth = round(N_RESPONSES * ACCURACY), round(N_RESPONSES * BIAS)
    n_poor = N_RESPONSES - n_sound - n_smooth
    qualities = ["sound"] * n_sound + ["smooth"] * n_smooth + ["poor"] * n_poor
    random.Random(59).shuffle(qualities)
    return qualities


def reply(body: dict[str, object]) -> str:
    """Reply as the judge to a prompt that holds a response, and else as the model."""
    text = json.dumps(body["messages"])
    response = re.search(r"a (sound|smooth|poor) reply", text)
    if response:
        return "wrong" if response[1] == "poor" else "right"
    number = int(re.findall(r"What is (\d+)\?", text)[-1])
    quality = response_qualities()[number]
    return f"To {number} this is a {quality} reply{', indeed' * (number % 7)}"


def test_sixty_verdicts_on_pages_correct_a_lenient_judge(page: "Page", home: Path) -> None:
    with ChatServer(reply) as server:
        with (home / "bench.toml").open("a") as file:
            for name in ("planted", "lenient"):
                file.write(
                    f'\n[models.{name}]\nkind = "server"\nbase_url = "{server.base_url}"\n'
                    'model = "m"\nconcurrency = 32\n'
                )
        bench("evaluate", "quiz", "--model", "planted")
    assert "? not checked by people" in bench("leaderboard").stdout
    bench("annotate", "verdicts", "quiz", "--n", N_LABELS, "--model", "planted")

    with Site(home) as site:
        page.goto(site.address + site.link("ana"))
        open_task(page, "is the response right?")
        for _ in range(N_LABELS):
            wait_for_scripts(page)
            previous_url = page.url
            page.keyboard.press("1" if "a sound reply" in page.inner_text("main") else "2")
            page.keyboard.press("Control+Enter")
            page.wait_for_url(re.compile(f"^(?!{re.escape(previous_url)}$)"))

    stderr = bench("annotate", "verdicts", "quiz", "--n", N_LABELS, "--model", "planted").stderr
    labels = f"checked by people: {N_LABELS} of {N_RESPONSES}"
    assert f"planted: {labels}; without them 0.750, bias +0." in stderr
    with Workbench(load_settings(home), ["quiz"]) as workbench:
        check = people_checks(workbench.tables, workbench.catalog.task("quiz"))["planted"]
    assert check.corrected is not None
    assert check.corrected.low < ACCURACY < check.corrected.high
    assert check.corrected.bias_low < BIAS < check.corrected.bias_high

    board = bench("leaderboard").stdout
    assert f"{check.corrected.value:.3f}" in board
    assert labels in " ".join(board.split())
    assert "0.750" not in board
    (row,) = map(json.loads, bench("leaderboard", "quiz", "--json").stdout.splitlines())
    assert row["people"].startswith(labels)
    bench("report")
    page.goto((home / "report" / "index.html").as_uri())
    mark = page.get_by_text(labels).first
    mark.wait_for()
    assert "without them 0.750" in (mark.get_attribute("title") or "")
    page.screenshot(path=str(home / "leaderboard.png"))
