"""Pages that programs write are those of the code, and say what each entry means."""

import re
from types import ModuleType

import pytest

from tests.docs import defaults_page, parser_page, settings_page

SETTINGS = settings_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", [defaults_page, parser_page, settings_page])
def test_the_page_is_current(module: ModuleType) -> None:
    assert module.page() == module.PAGE.read_text("utf-8"), f"python -m {module.__name__}"


def test_every_key_has_a_meaning():
    entries = re.findall(r"^- `.+?`.*", SETTINGS, re.MULTILINE)
    assert len(entries) > 130
    assert [entry for entry in entries if not re.search(r"\.\)?( †)?$", entry)] == []
