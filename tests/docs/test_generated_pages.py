import re
from types import ModuleType

import pytest

from tests.docs import defaults_page, parser_page, settings_page

SETTINGS = settings_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", [defaults_page, parser_page, settings_page])
def test_the_page_is_current(module: ModuleType) -> None:
    assert module.page() == module.PAGE.read_text("utf-8"), f"python -m {module.__name__}"


def test_every_key_has_a_meaning():
    lines = re.findall(r"^- `.+?`.*", SETTINGS, re.MULTILINE)
    assert len(lines) > 130
    assert [line for line in lines if not re.search(r"\.\)?( †)?$", line)] == []  # a sentence
