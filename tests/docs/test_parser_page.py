"""The page about reading answers is that of the rules."""

from tests.docs import parser_page


def test_the_page_is_current():
    text = parser_page.PAGE.read_text(encoding="utf-8")
    assert parser_page.page() == text, "python -m tests.docs.parser_page"
