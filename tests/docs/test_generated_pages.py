"""Pages that programs write are those of the code, and say what each entry means."""

import re
from types import ModuleType

import pytest

from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import SPECS
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


def test_every_section_of_bench_toml_is_on_the_page():
    headings = " ".join(re.findall(r"^## (.+)$", SETTINGS, re.MULTILINE))
    missing = [name for name in Settings.model_fields if name not in headings and name != "home"]
    assert missing == []


@pytest.mark.parametrize("kind", SPECS)
def test_every_key_of_a_kind_of_model_is_on_the_page(kind):
    for name, field in SPECS[kind].model_fields.items():
        assert name == "kind" or f"- `{field.alias or name}` (" in SETTINGS, name


def test_every_key_has_a_meaning():
    entries = re.findall(r"^- `.+?`.*", SETTINGS, re.MULTILINE)
    assert len(entries) > 130
    assert [entry for entry in entries if not re.search(r"\.\)?( †)?$", entry)] == []
