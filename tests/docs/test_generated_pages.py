"""Pages that programs write are those of the code, and say what each entry means."""

import re
from types import ModuleType

import pytest

from tests.docs import defaults_page, parser_page, settings_page

SETTINGS = settings_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", [defaults_page, parser_page, settings_page])
def test_the_page_is_current(module: ModuleType) -> None:
    assert module.page() == module.PAGE.read_text("utf-8"), f"python -m {module.__name__}"


def test_constants_are_found_with_their_comments(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        "# in seconds\n_WAIT = 3\nSIZE = 2 * 2**20  # bytes\nSHARE: float = -0.5\n"
        '"""Of the questions."""\nNAME = "a"\nFLAG = True\nlower = 4\n'
    )
    assert list(defaults_page.constants(file)) == [
        ("_WAIT", "3", "in seconds"),
        ("SIZE", "2 * 2 ** 20", "bytes"),
        ("SHARE", "-0.5", "Of the questions."),
    ]


def test_every_key_has_a_meaning():
    entries = re.findall(r"^- `.+?`.*", SETTINGS, re.MULTILINE)
    assert len(entries) > 130
    assert [entry for entry in entries if not re.search(r"\.\)?( †)?$", entry)] == []
