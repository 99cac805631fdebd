"""What a user configures, and what a mistake in it says."""

from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Decoding
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.evaluation.suite import SuiteSettings
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.environment import default_home
from bench_resources.config.sections.local_models import TransformersSpec, VllmSpec
from bench_resources.config.sections.models import RandomSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.registry.named_models import resolve_name

SERVER = 'kind = "server"\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "x"\n'


def settings(home: Path, text: str) -> Settings:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return load_settings(home)


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    found = load_settings(tmp_path)
    assert (found.home, found.sources, found.models) == (tmp_path, {}, {})
    assert resolve_name("random", found).spec == RandomSpec(kind="random")


def test_every_kind_of_model_can_be_named(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        f"""
        [models.hosted]
        {SERVER}
        temperature = 0.5
        extra_body = {{ top_k = 1 }}
        [models."run/step-100@0badcafe"]
        kind = "transformers"
        path = "checkpoints/100"
        [models.fast]
        kind = "vllm"
        path = "checkpoints/100"
        options = "--max-num-seqs 64"
        [models.wide]
        kind = "transformers"
        path = "checkpoints/100"
        devices = ["cuda:0", "cuda:1"]
        [models.said]
        kind = "recorded"
        file = "responses.jsonl"
        [models.eyeless]
        kind = "blind"
        of = "hosted"
        """,
    )
    hosted, local = (
        resolve_name("hosted", found).spec,
        resolve_name("run/step-100@0badcafe", found).spec,
    )
    assert isinstance(hosted, ServerSpec)
    assert (hosted.extra_body, hosted.decoding) == ({"top_k": 1}, Decoding(temperature=0.5))
    assert isinstance(local, TransformersSpec)
    fast, wide = resolve_name("fast", found).spec, resolve_name("wide", found).spec
    assert isinstance(fast, VllmSpec)
    assert isinstance(wide, TransformersSpec)
    assert (fast.server, fast.serve[-17:]) == ("vllm", "--max-num-seqs 64")
    assert wide.devices == ("cuda:0", "cuda:1")
    assert (resolve_name("said", found).spec.kind, resolve_name("eyeless", found).spec.kind) == (
        "recorded",
        "blind",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[models.a\n", "not a TOML file: ", id="no TOML"),
        pytest.param(
            "foo = 1",
            "entry foo: unknown; known: accept, annotation, audit, benchmarks, checkpoints",
            id="an unknown entry",
        ),
        pytest.param(
            f"[models.a]\n{SERVER}concurency = 3",
            r"entry models\.a\.concurency: unknown; did you mean 'concurrency'\? known: ",
            id="a misspelt field",
        ),
        pytest.param(
            f"[models.a]\n{SERVER}concurrency = 0",
            r"models\.a\.concurrency: .*greater than 0 \(given: 0\)",
            id="a number that cannot be",
        ),
        pytest.param(
            '[models.a]\nkind = "server"\nmodel = "x"\nbase_url = "127.0.0.1:8000/v1"',
            r"models\.a\.base_url: .*expected an address like http://",
            id="an address without http",
        ),
        pytest.param(
            '[models."a,b"]\nkind = "random"',
            r"entry models\.a,b.*should match pattern",
            id="a name with a comma cannot be a partition",
        ),
    ],
)
def test_a_mistake_names_file_and_entry(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"{tmp_path / 'bench.toml'}.*{message}"):
        settings(tmp_path, text)


def test_an_unknown_model_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'gpt'; known: .*most-frequent, .*random"):
        resolve_name("gpt", load_settings(tmp_path))


def test_a_suite_reads_its_own_entries(tmp_path: Path) -> None:
    found = settings(tmp_path, '[suites.codis]\njudge = "hosted"')
    assert found.suite("codis", SuiteSettings) == SuiteSettings(judge="hosted")
    assert found.suite("blink", SuiteSettings) == SuiteSettings(judge="rules", scorer="")


def test_the_home_folder_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    assert default_home() == tmp_path
    monkeypatch.delenv("BENCH_HOME")
    assert default_home().name == "bench_home"
