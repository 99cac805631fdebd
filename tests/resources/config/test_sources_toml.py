"""``sources.toml``: which source counts, and what a damaged file says."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sources_toml import (
    SOURCES_FILE,
    SourceRule,
    remember_source,
    remembered_sources,
)

STATED = '[sources]\ncodis = "x"\n'


def configure(home: Path, text: str) -> None:
    (home / "bench.toml").write_text(text)


def read(home: Path, rule: SourceRule = "evaluated last") -> dict[str, str]:
    return remembered_sources(load_settings(home), rule)


def remember(home: Path, suite: str, source: str) -> None:
    remember_source(load_settings(home), suite, source)


def test_an_evaluation_without_a_source_ends_what_was_remembered(tmp_path: Path) -> None:
    remember(tmp_path, "codis", "")
    assert not (tmp_path / SOURCES_FILE).exists()
    remember(tmp_path, "codis", 'fol"der')
    remember(tmp_path, "blink", "hf:a/b@main")
    assert read(tmp_path) == {"codis": 'fol"der', "blink": "hf:a/b@main"}
    remember(tmp_path, "codis", "")
    assert read(tmp_path) == {"blink": "hf:a/b@main"}


@pytest.mark.parametrize(
    ("stated", "later", "rule", "counts"),
    [
        pytest.param("", "", "evaluated last", True, id="a suite without a source"),
        pytest.param("", "", "stated", True, id="it is evaluated from it again"),
        pytest.param("", "", "bench.toml", False, id="not in the UI"),
        pytest.param(STATED, STATED, "evaluated last", True, id="beside one of bench.toml"),
        pytest.param(STATED, STATED, "stated", False, id="bench.toml's is evaluated"),
        pytest.param("", STATED, "evaluated last", False, id="bench.toml was written later"),
        pytest.param(STATED, "", "evaluated last", False, id="bench.toml's was removed later"),
    ],
)
def test_what_is_stated_in_bench_toml_is_evaluated_and_the_last_statement_read(
    tmp_path: Path, stated: str, later: str, rule: SourceRule, *, counts: bool
) -> None:
    configure(tmp_path, stated)
    remember(tmp_path, "codis", "other")
    configure(tmp_path, later)
    assert read(tmp_path, rule) == ({"codis": "other"} if counts else {})


@pytest.mark.parametrize("text", ["codis = 3", 'codis = {source = "x"}', "[", "\x00"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / SOURCES_FILE).write_text(text)
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        read(tmp_path)
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        remember(tmp_path, "codis", "x")
