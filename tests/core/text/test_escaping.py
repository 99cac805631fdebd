import html
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
PLAIN_TOKENS = {"text", "text_special", "softbreak"}
PLAIN_TEXTS = read_cases(__file__, "plain_texts.jsonl")


def parse_markdown(markdown: str) -> list[Token]:
    """All tokens, with those within others."""
    tokens = []
    queue = READER.parse(markdown)
    while queue:
        token = queue.pop(0)
        tokens.append(token)
        queue += token.children or []
    return tokens


def inline_types(tokens: list[Token]) -> set[str]:
    return {child.type for token in tokens for child in token.children or []}


def parse_cell(text: str) -> list[Token]:
    """The tokens of a table of two columns whose first cell is this escaped text."""
    return parse_markdown(f"| a | b |\n|---|---|\n| {escape_markdown(text)} | z |")


@pytest.mark.parametrize("text", PLAIN_TEXTS)
@pytest.mark.parametrize("prefix", ["", "- "], ids=["a paragraph", "a list"])
def test_an_escaped_text_is_plain_in_paragraphs_and_lists(text: str, prefix: str) -> None:
    tokens = parse_markdown(prefix + escape_markdown(text))
    assert inline_types(tokens) <= PLAIN_TOKENS
    assert {token.tag for token in tokens} <= {"", "p", "ul", "li"}


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_an_escaped_text_is_plain_in_one_cell_of_a_table(text: str) -> None:
    tokens = parse_cell(text)
    assert inline_types(tokens) <= PLAIN_TOKENS
    assert {token.tag for token in tokens} <= {"", "table", "thead", "tbody", "tr", "th", "td"}
    assert sum(token.type == "td_open" for token in tokens) == 2


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_an_escaped_text_is_unescaped_to_itself(text: str) -> None:
    assert unescape_markdown(escape_markdown(text)) == text


@given(st.text(max_size=40))
def test_any_escaped_text_is_plain_in_one_cell_of_a_table(text: str) -> None:
    tokens = parse_cell(text)
    assert inline_types(tokens) <= PLAIN_TOKENS
    assert sum(token.type == "td_open" for token in tokens) == 2


@pytest.mark.parametrize("text", ["http://example.org", "www.example.org", "a@example.org"])
def test_an_address_is_split_by_a_word_joiner(text: str) -> None:
    """mdast-util-gfm-autolink-literal looks for addresses in the decoded text."""
    decoded = html.unescape(escape_markdown(text))
    assert text not in decoded
    assert decoded.replace("\u2060", "", 1) == text


@pytest.mark.parametrize(("text", "escaped"), read_cases(__file__, "shown_controls.jsonl"))
def test_control_characters_are_escaped_and_letters_are_not(text: str, escaped: str) -> None:
    assert escape_controls(text) == escaped


def test_white_space_becomes_blanks_in_one_line() -> None:
    assert escape_to_one_line("a\r\nb\nc\td") == "a b c d"


@given(st.text(alphabet=st.characters(), max_size=30))
def test_escaped_json_has_no_control_characters_and_the_same_value(text: str) -> None:
    escaped = escape_json_controls(json.dumps(text, ensure_ascii=False))
    assert json.loads(escaped) == text
    assert escape_controls(escaped) == escaped
    escaped.encode()  # no lone surrogate
