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

    def __init__(self, spec, context):
        self.spec, self.received, self.is_open = spec, [], True
        ENGINES.append(self)

    @property
    def identity(self):
        return f"acme|{self.spec.volume}"

    @property
    def decoding(self):
        return self.spec.decoding

    def stream(self, requests):
        for position, request in enumerate(requests):
            text = request.prompt.turns[-1].parts[-1]
            self.received.append(text)
            yield position, Response(
                text=text.upper() * self.spec.volume, prompt_tokens=1, completion_tokens=3
            )

    def close(self):
        self.is_open = False

ENGINES = []
LOUD = EngineKind(spec=Spec, engine=Engine)
AWAY = EngineKind(spec=Spec, engine=Engine, alone=False)
"""
CRAB = """
from bench_resources.config.sections.engine_kinds import EngineKind
from bench_resources.config.sections.base import ModelSpec

class UnreadableSpec(ModelSpec):
    key: str

    @classmethod
    def model_validate(cls, section):
        raise KeyError(section["key"])

ODD = EngineKind(spec=UnreadableSpec, engine=print)

def __getattr__(name):
    if name == "NO_SPEC":
        return EngineKind(spec=dict, engine=print)
    raise AttributeError(name)
"""
BROKEN_KINDS = {"crab_odd": "crab_for_tests:ODD", "crab_spec": "crab_for_tests:NO_SPEC"}


pytestmark = pytest.mark.usefixtures("engine_packages")


@pytest.fixture(scope="module")
def engine_packages(tmp_path_factory):
    """Install acme, which works; brim, which does not; crab with broken kinds and taken names."""
    folder = tmp_path_factory.mktemp("site")
    acme_kinds = {"acme_loud": "acme_for_tests:LOUD", "acme_away": "acme_for_tests:AWAY"}
    write_distribution(folder, "acme", {GROUP: acme_kinds}, acme_for_tests=ACME)
    write_distribution(
        folder, "brim", {GROUP: {"brim": "brim_for_tests:X"}}, brim_for_tests="import no_such_one"
    )
    taken_names = {"acme_loud": "crab_for_tests:X", "server": "crab_for_tests:X"}
    crab_kinds = {**BROKEN_KINDS, **taken_names}
    write_distribution(folder, "crab", {GROUP: crab_kinds}, crab_for_tests=CRAB)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield


@pytest.fixture
def acme_engines():
    """The engines of acme that a test opens, in that order."""
    engines: list[Any] = importlib.import_module("acme_for_tests").ENGINES
    engines.clear()
    return engines


LOUD = '[models.m]\nkind = "acme_loud"\nvolume = 2\n'


def response_texts(models: Models, *texts: str) -> list[str]:
    with models.open("m") as model:
        return [response.text for response in model.response(requests_for(*texts))]


def test_a_cached_request_is_not_sent_to_the_engine(acme_engines, tmp_path):
    assert response_texts(models_of(tmp_path, LOUD), "a", "b") == ["AA", "BB"]
    assert response_texts(models_of(tmp_path, LOUD), "a", "b", "c") == ["AA", "BB", "CC"]
    assert [engine.received for engine in acme_engines] == [["a", "b"], ["c"]]


def test_the_signature_has_the_identity_of_the_engine_and_its_decoding(tmp_path):
    with models_of(tmp_path, f"{LOUD}temperature = 0.5\nmax_tokens = 9\n").open("m") as model:
        assert model.signature == "acme|2|t=0.5,max=9"


def test_an_engine_with_weights_stays_open_until_all_models_are_closed(acme_engines, tmp_path):
    models = models_of(tmp_path, LOUD)
    response_texts(models, "a")
    response_texts(models, "b")
    (engine,) = acme_engines
    assert engine.received == ["a", "b"]
    assert engine.is_open
    models.close()
    assert not engine.is_open


def test_an_engine_without_weights_is_closed_after_use(acme_engines, tmp_path):
    response_texts(models_of(tmp_path, LOUD.replace("loud", "away")), "c")
    assert [engine.is_open for engine in acme_engines] == [False]


def test_an_unknown_entry_is_refused_with_file_entry_and_a_suggestion(tmp_path):
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
def test_a_kind_that_is_not_installed_leaves_out_only_its_models(tmp_path, kind, reason):
    (tmp_path / "bench.toml").write_text(
        f'[models.old]\nkind = "{kind}"\nurl = "x"\n[models.new]\nkind = "random"\n'
    )
    models = load_settings(tmp_path).models
    assert models["new"].kind == "random"
    (line,) = [line for line in kind_problems(models) if line.startswith("[models.old] is left")]
    assert re.search(reason, line)
    assert line.endswith("Install its package, or correct kind")


_SECRET = "sk-in-the-section"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("brim", "it cannot be imported: ModuleNotFoundError: No module"),
        ("crab_spec", "it cannot be imported: TypeError: spec: expected a class"),
        ("crab_odd", "its section cannot be read: KeyError"),
    ],
)
def test_a_model_of_a_broken_kind_is_listed_with_the_reason_and_has_no_setup(
    tmp_path, kind, reason
):
    (tmp_path / "bench.toml").write_text(
        f'[models.m]\nkind = "{kind}"\nkey = "{_SECRET}"\n[models.b]\nkind = "blind"\nof = "m"\n'
    )
    settings = load_settings(tmp_path)
    (place,) = [model.place for model in list_models(settings.models) if model.name == "m"]
    assert place.startswith(f"cannot be used: {reason}")
    assert _SECRET not in place
    assert (setup_of("m", settings), setup_of("b", settings)) == ("", "")


_SHADOWED = "crab 1.0, entry point server = 'crab_for_tests:X' of bench_assets.engines"
_TWICE = "crab 1.0, entry point acme_loud = 'crab_for_tests:X' of bench_assets.engines"


def test_a_kind_with_a_name_that_ships_is_reported_though_no_model_has_it(tmp_path):
    (tmp_path / "bench.toml").write_text('[models.m]\nkind = "scripted"\nsays = "A"\n')
    (problem,) = kind_problems(load_settings(tmp_path).models)
    assert problem == f"{_SHADOWED}, is left out: the name is taken by bench-assets; choose another"


def test_the_second_kind_of_a_name_is_reported_where_a_model_has_that_name(tmp_path):
    (tmp_path / "bench.toml").write_text(LOUD)
    problems = kind_problems(load_settings(tmp_path).models)
    (problem,) = [line for line in problems if line.startswith(_TWICE)]
    assert "is left out: the name is taken by acme 1.0, entry point acme_loud = " in problem


def test_a_command_warns_once_of_each_kind_that_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    (tmp_path / "bench.toml").write_text(LOUD)
    result = CliRunner().invoke(app, ["models", "list"])
    assert result.exit_code == 0
    assert result.stderr.count(f"warning: {_TWICE}") == 1
    assert result.stderr.count(f"warning: {_SHADOWED}") == 1
