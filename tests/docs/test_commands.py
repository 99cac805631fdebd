import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.catalog import load_catalog
from bench_assets.cli.main import app
from bench_resources.config.bench_toml import load_settings
from tests.docs.blocks import CHECKOUT, Block, anchors, blocks, mentioned_commands, pages
from tests.docs.commands import check_whole, check_words, words_of
from tests.docs.scratch import write_scratch_folder

PAGES = [
    pytest.param(page.read_text("utf-8"), id=str(page.relative_to(CHECKOUT))) for page in pages()
]
HOW = re.compile(
    r"(console|python) run( long)?|console named: .+|toml( pyproject.toml)?|jsonl? [\w.-]+"
    r"|python \w+\.py|text( \w+\.yaml)?"
)

RUN_ELSEWHERE = ("# Exports\n",)  # pages whose Python is run by tests/export/test_formats.py


@pytest.mark.parametrize("page", PAGES)
def test_every_block_has_a_known_tag(page):
    run_elsewhere = page.startswith(RUN_ELSEWHERE)
    for block in blocks(page):
        tag = f"{block.language} {block.how}".strip()
        is_known = HOW.fullmatch(tag) or (tag == "python" and run_elsewhere)
        assert not tag or is_known, f"```{tag}\n{block.text}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_that_a_page_names_exist(page):
    for line in mentioned_commands(page):
        check_words(line)
    for block in blocks(page):
        if block.language == "console":
            for line in block.lines:
                check_whole(line)


def pages_with(how: str):
    """Pages with a block that is tested in a way: "run" by ``make check``, "run long" later."""
    selected = []
    for page in PAGES:
        (text,) = page.values
        if how in {block.how for block in blocks(str(text))}:
            selected.append(page)
    return selected


@pytest.mark.parametrize("page", pages_with("run"))
def test_short_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    run_page(page, tmp_path, monkeypatch, long=False)


@pytest.mark.long
@pytest.mark.parametrize("page", pages_with("run long"))
def test_long_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    run_page(page, tmp_path, monkeypatch, long=True)


def run_page(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, long: bool) -> None:
    """Run the blocks of a page in order, in a folder and a home of its own."""
    write_scratch_folder(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BENCH_HOME", str(folder / "home"))
    monkeypatch.setenv("HOME", str(folder))
    names: dict[str, object] = {"__name__": "page"}  # shared: a block may use names of earlier ones
    for block in blocks(page):
        run_block(block, folder, names, long=long)


def run_block(block: Block, folder: Path, names: dict[str, object], *, long: bool) -> None:
    """Write, execute or run a block; one that is not to be run, or only if ``long``, is skipped."""
    if block.language in ("jsonl", "json"):
        (folder / block.how).write_text(block.text, encoding="utf-8")
    elif block.how != "run" and not (long and block.how == "run long"):
        return
    elif block.language == "python":
        exec(compile(block.text, "a page", "exec"), names)
    else:
        for line in block.lines:
            program, *words = words_of(line)
            assert program == "bench", line
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"


@pytest.mark.parametrize("page", PAGES)
def test_settings_of_a_page_can_be_loaded(page, tmp_path):
    toml_blocks = [block for block in blocks(page) if block.language == "toml"]
    for index, block in enumerate(toml_blocks):
        tomllib.loads(block.text)
        if not block.how:
            home = tmp_path / str(index)
            home.mkdir()
            (home / "bench.toml").write_text(block.text, encoding="utf-8")
            load_settings(home)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_exist(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(file.read_text("utf-8")), f"{page.name}: {target}"


def test_the_index_lists_every_page():
    index = (CHECKOUT / "docs" / "README.md").read_text("utf-8")
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    existing = {page.name for page in (CHECKOUT / "docs").glob("*.md")} - {"README.md"}
    assert listed == existing


COSTS = re.findall(
    r"^\| `([\w/]+)` \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) mill",
    (CHECKOUT / "docs" / "costs.md").read_text("utf-8"),
    re.MULTILINE,
)


def test_costs_are_listed_for_eight_tasks():
    assert len(COSTS) == 8


@pytest.mark.parametrize(("name", "requests", "tokens", "millions"), COSTS)
def test_costs_are_of_all_questions_of_a_task(name, requests, tokens, millions):
    n_requests = int(requests.replace(",", ""))
    (task,) = (task for task in load_catalog().tasks if task.name == name)
    assert n_requests == task.counts["all"]
    total = n_requests * int(tokens.replace(",", ""))
    assert float(millions) == pytest.approx(total / 1e6, abs=0.051)  # one decimal is printed


def program_text() -> str:
    """The code of the program, with strings that go over several lines joined."""
    files = [
        file
        for folder in ("bench_assets", "resources", "sensors")
        for file in sorted((CHECKOUT / folder).rglob("*.py"))
    ]
    text = "\n".join(file.read_text("utf-8") for file in files)
    return re.sub(r"[\"']\s*\n\s*[rf]{0,2}[\"']", "", text)


def test_messages_that_a_page_explains_are_those_of_the_program():
    page = (CHECKOUT / "docs" / "troubleshooting.md").read_text("utf-8")
    program = program_text()
    messages = re.findall(r"^- `([^`]+)`:", page, re.MULTILINE)
    assert len(messages) > 20
    for message in messages:
        for part in message.split("…"):
            assert part.strip() in program, f"{part!r} of: {message}"
