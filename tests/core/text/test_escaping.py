"""Texts of strangers stay texts, as an independent reader of Markdown sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench_assets.core.text.escaping import escape_markdown, unescape_markdown

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HARMLESS = {"text", "text_special", "softbreak"}


def inside(tokens: list[Token]) -> list[Token]:
    return [inner for token in tokens for inner in [token, *inside(token.children or [])]]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<script>alert(1)</script>", id="a script"),
        pytest.param("<img src=x onerror=alert(1)>", id="an element with an event"),
        pytest.param("&lt;b&gt; &#60;", id="entities"),
        pytest.param("![x](http://example.org/x.png)", id="an image from elsewhere"),
        pytest.param("![x][y]", id="an image by reference"),
        pytest.param("[x](javascript:alert(1))", id="a link that is a program"),
        pytest.param("<http://example.org> <a@example.org>", id="autolinks"),
        pytest.param("a `b` ``c``", id="backticks"),
        pytest.param("a | b || c \\| d", id="cells"),
        pytest.param("# a heading", id="a heading"),
        pytest.param("#", id="an empty heading"),
        pytest.param("---", id="a line"),
        pytest.param("===", id="an underline"),
        pytest.param("- a", id="a list"),
        pytest.param("12. a", id="a numbered list"),
        pytest.param("12) a", id="a numbered list with brackets"),
        pytest.param("> a", id="a quotation"),
        pytest.param("~~~ a", id="a fence"),
        pytest.param("*a* **b** _c_ __d__ ~~e~~", id="emphasis"),
        pytest.param("a\\", id="a backslash that would take the end of the cell"),
        pytest.param("[a]: http://example.org", id="a definition"),
        pytest.param("$2^3$ snake_case 3.5 m, 中文, 👩\u200d🔬", id="what needs no marks"),
    ],
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
