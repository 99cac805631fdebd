"""Texts of strangers stay texts, as an independent reader of Markdown sees them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench_assets.core.text.escaping import (
    escape_controls,
    escape_json_controls,
    escape_markdown,
    escape_to_one_line,
    unescape_markdown,
)
from tests.cases import read_cases

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HARMLESS = {"text", "text_special", "softbreak"}


def inside(tokens: list[Token]) -> list[Token]:
    return [inner for token in tokens for inner in [token, *inside(token.children or [])]]


@pytest.mark.parametrize(
    "text",
    read_cases(__file__, "plain_texts.jsonl"),
)
def test_a_text_is_shown_as_it_is_written(text: str) -> None:
    for before, after in (("", ""), ("- ", ""), ("| a | b |\n|---|---|\n| ", " | z |")):
        tokens = inside(READER.parse(f"{before}{escape_markdown(text)}{after}"))
        kinds = {inner.type for token in tokens for inner in token.children or []}
        assert kinds <= HARMLESS
        blocks = {token.tag for token in tokens} - {"", "p", "ul", "li"}
        assert blocks <= ({"table", "thead", "tbody", "tr", "th", "td"} if after else set())
        assert sum(token.type == "td_open" for token in tokens) == (2 if after else 0)
    assert unescape_markdown(escape_markdown(text)) == text


@given(st.text(max_size=40))
def test_whatever_a_text_holds_it_is_one_cell_of_texts(text: str) -> None:
    tokens = inside(READER.parse(f"| a | b |\n|---|---|\n| {escape_markdown(text)} | z |"))
    kinds = {inner.type for token in tokens for inner in token.children or []}
    assert kinds <= HARMLESS
    assert sum(token.type == "td_open" for token in tokens) == 2


@pytest.mark.parametrize("text", ["http://example.org", "www.example.org", "a@example.org"])
def test_addresses_are_parted_where_readers_look_for_them(text: str) -> None:
    """By the patterns of mdast-util-gfm-autolink-literal, which looks at what was decoded."""
    assert text not in escape_markdown(text)
    assert escape_markdown(text).count("\u2060") == 1


# Nothing that a terminal would obey is printed; every letter of every script is.


@pytest.mark.parametrize(("text", "shown"), read_cases(__file__, "shown_controls.jsonl"))
def test_controls_are_shown_by_their_numbers(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_a_cell_is_one_line() -> None:
    assert escape_to_one_line("a\r\nb\nc\td") == "a b c d"


@given(st.text(alphabet=st.characters(), max_size=30))
def test_json_reads_as_it_did(text: str) -> None:
    written = escape_json_controls(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert escape_controls(written) == written
    written.encode()
