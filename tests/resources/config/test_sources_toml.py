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

WITH_SOURCE = '[sources]\ncodis = "x"\n'
OTHER = {"codis": "other"}


def write_toml(home: Path, text: str) -> None:
    (home / "bench.toml").write_text(text)


def read_sources(home: Path, rule: SourceRule = "evaluated last") -> dict[str, str]:
    return remembered_sources(load_settings(home), rule)


def remember(home: Path, suite: str, source: str) -> None:
    remember_source(load_settings(home), suite, source)


def test_an_evaluation_without_a_source_removes_the_remembered_one(tmp_path: Path) -> None:
    remember(tmp_path, "codis", 'fol"der')
    remember(tmp_path, "blink", "hf:a/b@main")
    assert read_sources(tmp_path) == {"codis": 'fol"der', "blink": "hf:a/b@main"}
    remember(tmp_path, "codis", "")
    assert read_sources(tmp_path) == {"blink": "hf:a/b@main"}


def test_without_a_source_to_remember_no_file_is_written(tmp_path: Path) -> None:
    remember(tmp_path, "codis", "")
    assert not (tmp_path / SOURCES_FILE).exists()


@pytest.mark.parametrize(
    ("toml_when_remembered", "toml_when_read", "rule", "sources"),
    [
        pytest.param("", "", "evaluated last", OTHER, id="a suite without a source"),
        pytest.param("", "", "stated", OTHER, id="it is evaluated from it again"),
        pytest.param("", "", "bench.toml", {}, id="not in the UI"),
        pytest.param(
            WITH_SOURCE, WITH_SOURCE, "evaluated last", OTHER, id="beside one of bench.toml"
        ),
        pytest.param(WITH_SOURCE, WITH_SOURCE, "stated", {}, id="bench.toml's is evaluated"),
        pytest.param("", WITH_SOURCE, "evaluated last", {}, id="bench.toml was written later"),
        pytest.param(WITH_SOURCE, "", "evaluated last", {}, id="bench.toml's was removed later"),
    ],
)
def test_a_remembered_source_is_read_unless_bench_toml_decides(
    tmp_path, toml_when_remembered, toml_when_read, rule, sources
):
    write_toml(tmp_path, toml_when_remembered)
    remember(tmp_path, "codis", "other")
    write_toml(tmp_path, toml_when_read)
    assert read_sources(tmp_path, rule) == sources


@pytest.mark.parametrize("text", ["codis = 3", 'codis = {source = "x"}', "[", "\x00"])
def test_a_damaged_file_is_named_by_reading_and_by_remembering(tmp_path: Path, text: str) -> None:
    (tmp_path / SOURCES_FILE).write_text(text)
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        read_sources(tmp_path)
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        remember(tmp_path, "codis", "x")
