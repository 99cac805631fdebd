"""Kinds of models that other packages add: found, read, opened, remembered, limited, told of."""

import importlib
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.engine_kinds import kind_problems
from bench_resources.config.sections.models import list_models
from bench_resources.models.registry.named_models import resolve_name
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.setup import setup_of
from tests.fakes.distributions import write_distribution
from tests.fakes.home import models_of
from tests.fakes.server_engines import requests_for

GROUP = "bench_assets.engines"
ACME = """
from bench_assets.core.schema.chat import Decoding, Response
from bench_resources.config.sections.engine_kinds import EngineKind
from bench_resources.config.sections.base import SamplingSection

class Spec(SamplingSection):
    volume: int = 1

class Engine:
    peak_memory = None

    def __init__(self, spec, at):
        self.spec, self.at, self.asked = spec, at, []
        MADE.append(self)

    @property
    def identity(self):
        return f"acme|{self.spec.volume}"

    @property
    def decoding(self):
        return self.spec.decoding

    def stream(self, requests):
        for position, request in enumerate(requests):
            said = request.prompt.turns[-1].parts[-1]
            self.asked.append(said)
            yield position, Response(
                text=said.upper() * self.spec.volume, prompt_tokens=1, completion_tokens=3
            )

    def close(self):
        self.asked = None

MADE = []
LOUD = EngineKind(spec=Spec, engine=Engine)
AWAY = EngineKind(spec=Spec, engine=Engine, alone=False)
"""
CRAB = """
from bench_resources.config.sections.engine_kinds import EngineKind
from bench_resources.config.sections.base import ModelSpec

class Strange(ModelSpec):
    key: str

    @classmethod
    def model_validate(cls, section):
        raise KeyError(section["key"])

ODD = EngineKind(spec=Strange, engine=print)

def __getattr__(name):
    if name == "NO_SPEC":
        return EngineKind(spec=dict, engine=print)
    raise AttributeError(name)
"""
ODD = {"crab_odd": "crab_for_tests:ODD", "crab_spec": "crab_for_tests:NO_SPEC"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    kinds = {"acme_loud": "acme_for_tests:LOUD", "acme_away": "acme_for_tests:AWAY"}
    write_distribution(folder, "acme", {GROUP: kinds}, acme_for_tests=ACME)
    write_distribution(
        folder, "brim", {GROUP: {"brim": "brim_for_tests:X"}}, brim_for_tests="import no_such_one"
    )
    twins = {"acme_loud": "crab_for_tests:X", "server": "crab_for_tests:X"}
    write_distribution(folder, "crab", {GROUP: {**ODD, **twins}}, crab_for_tests=CRAB)
    with pytest.MonkeyPatch.context() as path:
        path.syspath_prepend(str(folder))
        yield folder


@pytest.fixture
def made(site):
    """The engines that were made; the newest is the last."""
    engines: list[Any] = importlib.import_module("acme_for_tests").MADE
    engines.clear()
    return engines


LOUD = '[models.m]\nkind = "acme_loud"\nvolume = 2\n'


def say(opened: Models, *texts: str) -> list[str]:
    with opened.open("m") as model:
        return [
            response.text or response.error for response in model.response(requests_for(*texts))
        ]


def test_it_gets_each_request_once(made, tmp_path):
    assert say(models_of(tmp_path, LOUD), "a", "b") == ["AA", "BB"]
    assert say(models_of(tmp_path, LOUD), "a", "b", "c") == ["AA", "BB", "CC"]
    assert [engine.asked for engine in made] == [["a", "b"], ["c"]]
    with models_of(tmp_path, LOUD).open("m") as model:
        assert model.signature == "acme|2|t=0,max=1024"


def test_one_with_weights_is_kept_and_one_without_is_closed(made, tmp_path):
    kept = models_of(tmp_path, LOUD)
    say(kept, "a")
    say(kept, "b")
    assert [engine.asked for engine in made] == [["a", "b"]]
    kept.close()
    assert made[0].asked is None
    say(models_of(tmp_path, LOUD.replace("loud", "away")), "c")
    assert made[1].asked is None


def test_a_mistake_names_file_and_entry(site, tmp_path):
    (tmp_path / "bench.toml").write_text('[models.m]\nkind = "acme_loud"\nvolum = 2\n')
    message = r"bench\.toml, .*entry models\.m\.volum: unknown; .*'volume'"
    with pytest.raises(SettingsError, match=message) as raised:
        load_settings(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("acme_laud", r"no kind named 'acme_laud'; did you mean 'acme_loud'\? known: .*acme_away"),
        ("nothing_like_it", r"no kind named 'nothing_like_it'; .*brim 1\.0, entry point brim = 'b"),
        ("sk-7f3a9c", "no such kind; known: "),
    ],
)
def test_a_kind_that_is_not_installed_leaves_out_its_model_alone(site, tmp_path, kind, reason):
    (tmp_path / "bench.toml").write_text(
        f'[models.old]\nkind = "{kind}"\nurl = "x"\n[models.new]\nkind = "random"\n'
    )
    models = load_settings(tmp_path).models
    assert models["new"].kind == "random"
    lines = [line for line in kind_problems(models) if line.startswith("[models.old] is left out")]
    assert len(lines) == 1
    assert re.search(reason, lines[0])
    assert lines[0].endswith("Install its package, or correct kind")


_SECRET = "sk-in-the-section"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("brim", "it cannot be imported: ModuleNotFoundError: No module"),
        ("crab_spec", "it cannot be imported: TypeError: spec: expected a class"),
        ("crab_odd", "its section cannot be read: KeyError"),
    ],
)
def test_a_home_is_read_though_a_kind_of_its_models_cannot_be_used(site, tmp_path, kind, reason):
    (tmp_path / "bench.toml").write_text(
        f'[models.m]\nkind = "{kind}"\nkey = "{_SECRET}"\n'
        '[models.b]\nkind = "blind"\nof = "m"\n[models.s]\nkind = "scripted"\nsays = "A"\n'
    )
    settings = load_settings(tmp_path)
    assert resolve_name("s", settings).spec.model_dump()["says"] == "A"
    shown = {
        model.name: model.place for model in list_models(settings.models) if not model.embedded
    }
    assert shown["m"].startswith(f"cannot be used: {reason}")
    assert _SECRET not in shown["m"]
    assert (setup_of("m", settings), setup_of("b", settings)) == ("", "")


_SHADOWED = "crab 1.0, entry point server = 'crab_for_tests:X' of bench_assets.engines"
_TWICE = "crab 1.0, entry point acme_loud = 'crab_for_tests:X' of bench_assets.engines"


def test_names_that_ship_are_reported_without_an_import_others_where_they_are_used(site, tmp_path):
    (tmp_path / "bench.toml").write_text('[models.m]\nkind = "scripted"\nsays = "A"\n')
    (shadowed,) = kind_problems(load_settings(tmp_path).models)
    assert (
        shadowed == f"{_SHADOWED}, is left out: the name is taken by bench-assets; choose another"
    )
    (tmp_path / "bench.toml").write_text(LOUD)
    problems = kind_problems(load_settings(tmp_path).models)
    assert shadowed in problems
    (twice,) = [line for line in problems if line.startswith(_TWICE)]
    assert "is left out: the name is taken by acme 1.0, entry point acme_loud = " in twice


def test_commands_tell_of_kinds_that_are_left_out_once(site, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    (tmp_path / "bench.toml").write_text(LOUD)
    shown = CliRunner().invoke(app, ["models", "list"])
    assert shown.exit_code == 0
    assert shown.stderr.count(f"warning: {_TWICE}") == 1
    assert shown.stderr.count(f"warning: {_SHADOWED}") == 1
