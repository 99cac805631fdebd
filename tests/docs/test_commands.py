"""No page names what there is not, and what a page says to type is typed."""

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.catalog import load_catalog
from bench_assets.cli.main import app
from bench_resources.config.bench_toml import load_settings
from tests.docs.blocks import CHECKOUT, Block, blocks, headings, mentioned, pages
from tests.docs.commands import check_whole, check_words, words_of
from tests.docs.scratch import scratch_folder

PAGES = [
    pytest.param(page.read_text("utf-8"), id=str(page.relative_to(CHECKOUT))) for page in pages()
]
HOW = re.compile(
    r"(console|python) run( long)?|console named: .+|toml( pyproject.toml)?|jsonl? [\w.-]+"
    r"|python \w+\.py|text( \w+\.yaml)?"
)

RUN_ELSEWHERE = ("# Exports\n",)  # pages whose Python is run by tests/export/test_tables.py


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_how_it_is_tried(page):
    run_elsewhere = page.startswith(RUN_ELSEWHERE)
    for block in blocks(page):
        tag = f"{block.language} {block.how}".strip()
        known = HOW.fullmatch(tag) or (tag == "python" and run_elsewhere)
        assert not tag or known, f"```{tag}\n{block.text}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_that_a_page_names_exist(page):
    for line in mentioned(page):
        check_words(line)
    for block in blocks(page):
        if block.language == "console":
            for line in block.lines:
                check_whole(line)


def _pages_with(how: str):
    """Those with a block that is run in ``make check`` ("run"), or in ``make long``."""
    return [one for one in PAGES if any(block.how == how for block in blocks(str(one.values[0])))]


@pytest.mark.parametrize("page", _pages_with("run"))
def test_what_a_page_says_to_type_is_typed(page, tmp_path, monkeypatch):
    follow(page, tmp_path, monkeypatch, long=False)


@pytest.mark.long
@pytest.mark.parametrize("page", _pages_with("run long"))
def test_what_takes_longer_is_typed_too(page, tmp_path, monkeypatch):
    follow(page, tmp_path, monkeypatch, long=True)


def follow(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, long: bool) -> None:
    """Do what a page says, from its top to its end, in a folder and a home of its own."""
    scratch_folder(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BENCH_HOME", str(folder / "home"))
    monkeypatch.setenv("HOME", str(folder))
    names: dict[str, object] = {"__name__": "page"}  # what one block defines the next may use
    for block in blocks(page):
        follow_block(block, folder, names, long=long)


def follow_block(block: Block, folder: Path, names: dict[str, object], *, long: bool) -> None:
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
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception!r}"


@pytest.mark.parametrize("page", PAGES)
def test_a_bench_toml_of_a_page_can_be_read(page, tmp_path):
    for number, block in enumerate(one for one in blocks(page) if one.language == "toml"):
        tomllib.loads(block.text)
        if block.how:
            continue
        home = tmp_path / str(number)
        home.mkdir()
        (home / "bench.toml").write_text(block.text, encoding="utf-8")
        load_settings(home)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in headings(there.read_text("utf-8")), f"{page.name}: {target}"


def test_every_page_stands_in_the_index():
    index = (CHECKOUT / "docs" / "README.md").read_text("utf-8")
    named = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    there = {page.name for page in (CHECKOUT / "docs").glob("*.md")} - {"README.md"}
    assert named == there


def test_costs_are_of_as_many_questions_as_the_papers_have():
    page = (CHECKOUT / "docs" / "costs.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `([\w/]+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) mill", page, re.M
    )
    catalog = load_catalog()
    assert len(rows) == 8
    for name, *written in rows:
        n, requests, each = (int(one.replace(",", "")) for one in written[:3])
        (task,) = (one for one in catalog.tasks if one.name == name)
        assert n == requests == task.counts["all"], name
        assert float(written[3]) == pytest.approx(n * each / 1e6, abs=0.051), name


def _program() -> str:
    """The strings of the program, put together where they are parted over lines."""
    files = [
        file
        for folder in ("bench_assets", "resources", "sensors")
        for file in sorted((CHECKOUT / folder).rglob("*.py"))
    ]
    whole = "\n".join(file.read_text("utf-8") for file in files)
    return re.sub(r"[\"']\s*\n\s*[rf]{0,2}[\"']", "", whole)


def test_messages_that_the_pages_explain_are_those_of_the_program():
    page = (CHECKOUT / "docs" / "troubleshooting.md").read_text("utf-8")
    program = _program()
    messages = re.findall(r"^- `([^`]+)`:", page, re.MULTILINE)
    assert len(messages) > 20
    for message in messages:
        for part in message.split("…"):
            assert part.strip() in program, f"{part!r} of: {message}"
