"""An entry of bench.toml that nothing reads is refused wherever it stands; the nearest is named."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.evaluation.suite import SuiteSettings
from resources.config.bench_toml import load_settings
from resources.config.toml_validation import UnknownEntry, unknown_entries

SERVER = '[models.m]\nkind = "server"\nbase_url = "http://h/v1"\nmodel = "x"\n'
FILE = '[benchmarks.b]\nfile = "b.jsonl"\n'


def checked(home: Path, text: str) -> None:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    settings = load_settings(home)
    load_catalog(settings, only={*settings.suites}).check(settings)


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [
        pytest.param("[model.x]", "entry model", "models", id="a section"),
        pytest.param(
            f"{SERVER}tempreature = 1", "models.m.tempreature", "temperature", id="a model"
        ),
        pytest.param(
            '[models.m]\nkind = "random"\nsede = 1', "models.m.sede", "seed", id="a baseline"
        ),
        pytest.param(
            "[checkpoints]\nfolder = []", "checkpoints.folder", "folders", id="checkpoints"
        ),
        pytest.param(f"{FILE}imagefolder = 'x'", "b.imagefolder", "image_folder", id="a benchmark"),
        pytest.param("[suites.codis]\nreding = 'x'", "entry reding", "reading", id="a suite"),
        pytest.param(
            "[suites.journeybench.painter]\nkind = 'server'\nmodel = 'm'\nbase_ulr = 'x'\n"
            "base_url = 'http://h'",
            "painter.server.base_ulr",
            "base_url",
            id="a painter, below a suite",
        ),
        pytest.param(
            "[suites.journeybench.encoders.e]\npath = 'x'\nrevison = 'y'",
            "encoders.e.revison",
            "revision",
            id="an encoder, two tables below a suite",
        ),
        pytest.param("[suites.codsi]", "'codsi'", "codis", id="the name of a suite"),
        pytest.param("[sources]\nbilnk = '.'", "'bilnk'", "blink", id="the name of a source"),
    ],
)
def test_the_entry_and_the_nearest_name_are_told(
    tmp_path: Path, text: str, place: str, meant: str
) -> None:
    with pytest.raises(BenchError, match=f"bench.toml.*{place}.*did you mean '{meant}'"):
        checked(tmp_path, text)


@pytest.mark.parametrize("text", ["home = '/'", "[home]"])
def test_the_home_is_no_entry(tmp_path: Path, text: str) -> None:
    with pytest.raises(BenchError, match="entry home: it is where this file lies"):
        checked(tmp_path, text)


class Inner(BaseModel):
    """Ignores what it does not know, as pydantic's models do unless they say otherwise."""

    depth: int = 0
    width: int = Field(0, alias="w")


@dataclass
class Row:
    name: str = ""


class Outside(SuiteSettings):
    inner: Inner = Inner()
    listed: tuple[Inner, ...] = ()
    named: dict[str, Inner] = Field(default_factory=dict)
    row: Row = Field(default_factory=Row)
    either: Inner | int = 0
    free: dict[str, Any] = Field(default_factory=dict)


class Taking(BaseModel):
    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize(
    ("given", "places"),
    [
        pytest.param({"inner": {"depht": 1}}, ["inner.depht"], id="in a table"),
        pytest.param({"listed": [{}, {"x": 1}]}, ["listed.2.x"], id="in the second of several"),
        pytest.param({"named": {"a": {"x": 1}}}, ["named.a.x"], id="in a table of tables"),
        pytest.param({"row": {"nam": "a"}}, ["row.nam"], id="in a dataclass"),
        pytest.param({"either": {"x": 1}}, ["either.x"], id="in one of two types"),
        pytest.param({"inner": {"w": 1, "depth": 2}}, [], id="known, one by its other name"),
        pytest.param({"free": {"x": {"y": 1}}}, [], id="where every name goes"),
        pytest.param({"x": 1, "inner": {"y": 1}}, ["x", "inner.y"], id="several at once"),
    ],
)
def test_what_a_stranger_s_settings_pass_over_is_found(given: Any, places: list[str]) -> None:
    found = unknown_entries(given, Outside.model_validate(given))
    assert [".".join(one.place) for one in found] == places


def test_a_table_that_takes_any_entry_has_no_unknown_one() -> None:
    assert [*unknown_entries({"x": 1}, Taking.model_validate({"x": 1}))] == []


def test_a_name_that_is_like_no_other_is_told_with_all_there_are() -> None:
    assert str(UnknownEntry(("a", "zzz"), ("b", "c"))) == "entry a.zzz: unknown; known: b, c"
