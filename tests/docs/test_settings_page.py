"""The reference of bench.toml is that of the types, and has every key with a meaning."""

import re

import pytest

from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import SPECS
from tests.docs import settings_page

TEXT = settings_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_current():
    assert settings_page.page() == TEXT, "python -m tests.docs.settings_page"


def test_every_section_of_bench_toml_is_on_the_page():
    headings = " ".join(re.findall(r"^## (.+)$", TEXT, re.MULTILINE))
    missing = [name for name in Settings.model_fields if name not in headings and name != "home"]
    assert missing == []


@pytest.mark.parametrize("kind", SPECS)
def test_every_key_of_a_kind_of_model_is_on_the_page(kind):
    for name, field in SPECS[kind].model_fields.items():
        assert name == "kind" or f"- `{field.alias or name}` (" in TEXT, name


def test_every_key_has_a_meaning():
    entries = re.findall(r"^- `.+?`.*", TEXT, re.MULTILINE)
    assert len(entries) > 130
    assert [entry for entry in entries if not re.search(r"\.\)?( †)?$", entry)] == []
