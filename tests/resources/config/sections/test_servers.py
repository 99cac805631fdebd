"""Sections of bench.toml that start servers, or say where they move."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.checkpoints.identity import fingerprint
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.budget import cost
from bench_resources.models.registry.named_models import base_of_checkpoints, resolve_name
from bench_resources.response_cache.rows import TokenCounts
from tests.sensors.watched import write_checkpoint

VLLM = "vllm serve {path} --port {port}"
STARTED = f'kind = "server"\npath = "w"\nserve = "{VLLM}"\n'


def written(home: Path, text: str) -> Path:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return home


@pytest.mark.parametrize(
    ("section", "message"),
    [
        pytest.param(
            'path = "w"\nserve = "vllm serve {path}"', r"expected \{port\}", id="no port"
        ),
        pytest.param(
            'path = "w"\nserve = "vllm serve x --port {port}"', r"expected \{path\}", id="no path"
        ),
        pytest.param(
            f'path = "w"\nserve = "{VLLM} 2>&1 | tee log"', "needs a shell", id="a shell's words"
        ),
        pytest.param(f'path = "w"\nserve = "A=1 {VLLM}"', "Put env before", id="a variable"),
        pytest.param(f'serve = "{VLLM}"', "needs path, the folder", id="nothing to serve"),
        pytest.param(
            f'path = "w"\nserve = "{VLLM}"\nbase_url = "http://s/v1"',
            "expected either serve or base_url",
            id="two places",
        ),
        pytest.param('model = "m"', "expected either serve or base_url", id="nowhere"),
        pytest.param(
            'model = "m"\nbase_url = ["http://a/v1", "http://b/v1"]',
            "base_url: .*for several servers, the address of the load balancer before them",
            id="several addresses",
        ),
        pytest.param(
            'model = "m"\nbase_url = "http://s/v1"\nneeds = { gpu = 1 }', "needs needs serve",
            id="resources of what is not ours",
        ),
        pytest.param(
            f'path = "w"\nserve = "{VLLM} --api-key sesame-0pen"',
            r"contains a key \(--api-key\)\. Put it into the environment(?s:(?!sesame).)*$",
            id="a key behind an option",
        ),
        pytest.param(
            f'path = "w"\nserve = "env VLLM_API_KEY=sesame-0pen {VLLM}"',
            r"contains a key \(VLLM_API_KEY\)(?s:(?!sesame).)*$",
            id="a key in a variable",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_named(tmp_path: Path, section: str, message: str) -> None:
    home = written(tmp_path, f'[models.m]\nkind = "server"\n{section}\n')
    with pytest.raises(SettingsError, match=message):
        load_settings(home)


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (VLLM, ["vllm", "serve", "/w s", "--port", "7"]),
        ("a --port={port} --as '{name} x' {path}", ["a", "--port=7", "--as", "run/1@2 x", "/w s"]),
        ("a {path} {port} '{\"image\": 4}'", ["a", "/w s", "7", '{"image": 4}']),
    ],
    ids=["the example", "inside of words", "JSON is no name"],
)
def test_the_words_of_a_command(serve: str, words: list[str]) -> None:
    spec = ServerSpec.model_validate({"kind": "server", "path": "w", "serve": serve})
    assert spec.command(path="/w s", port=7, name="run/1@2") == words


@pytest.mark.parametrize(
    ("serve", "more", "server"),
    [
        (VLLM, {}, "vllm"),
        ("env CUDA_VISIBLE_DEVICES=1 /opt/bin/vllm serve {path} --port {port}", {}, "vllm"),
        ("python -m vllm.entrypoints.openai.api_server --model {path} --port {port}", {}, "vllm"),
        ("llama-server -m {path} --port {port}", {}, "llama.cpp"),
        ("transformers serve {path} --port {port}", {}, "transformers"),
        ("./mine.sh {path} {port}", {}, ""),
        (VLLM, {"server": ""}, ""),
        (VLLM, {"format": "anthropic"}, ""),
    ],
)
def test_a_server_is_known_by_its_command(serve: str, more: dict[str, str], server: str) -> None:
    section = {"kind": "server", "path": "w", "serve": serve} | more
    assert ServerSpec.model_validate(section).server == server


def test_program_folder_and_copies_are_no_part_of_the_identity_and_other_options_are() -> None:
    def digest(serve: str) -> str:
        section = {"kind": "server", "path": "w", "serve": serve}
        return ServerSpec.model_validate(section).command_digest

    assert digest(VLLM) == digest(f"/opt/{VLLM}") == digest(VLLM.replace(" ", "  "))
    assert digest(VLLM) != digest(f"{VLLM} --dtype float16")
    for copies in ("--data-parallel-size 4", "--data-parallel-size=4", "-dp 4"):
        assert digest(f"{VLLM} {copies}") == digest(VLLM)
    assert digest(f"{VLLM} --data-parallel-size-local 4") != digest(VLLM)


def watched(home: Path, *lines: str) -> str:
    """Write settings that watch a folder with one checkpoint; its name."""
    folder = write_checkpoint(home / "runs" / "step-1")
    text = "\n".join(["[checkpoints]", 'folders = ["runs"]', *lines, "[models.like]", STARTED])
    written(home, text)
    return f"step-1@{fingerprint(folder)}"


def test_a_watched_checkpoint_is_served_as_its_section_says(tmp_path: Path) -> None:
    name = watched(tmp_path, f'serve = "{VLLM}"')
    spec = resolve_name(name, load_settings(tmp_path)).spec
    assert isinstance(spec, ServerSpec)
    assert (spec.path, spec.serve) == (str(tmp_path / "runs" / "step-1"), VLLM)


def test_it_runs_like_a_model_that_a_server_is_started_for(tmp_path: Path) -> None:
    name = watched(tmp_path, 'like = "like"')
    settings = written(tmp_path, (tmp_path / "bench.toml").read_text() + "max_tokens = 7\n")
    spec = resolve_name(name, load_settings(settings)).spec
    assert isinstance(spec, ServerSpec)
    assert (spec.max_tokens, spec.serve, spec.server) == (7, VLLM, "vllm")


def test_a_command_does_not_go_with_a_model_that_is_loaded_here(tmp_path: Path) -> None:
    watched(tmp_path, 'like = "tiny-vlm/step-6840"', f'serve = "{VLLM}"')
    with pytest.raises(SettingsError, match="like: tiny-vlm/step-6840 is a transformers model"):
        base_of_checkpoints(load_settings(tmp_path))


@pytest.mark.parametrize(
    ("section", "message"),
    [
        pytest.param(f'path = "w"\nserve = "{VLLM}"', "a provider's base_url", id="our own server"),
    ],
)
def test_batches_go_with_a_provider(tmp_path: Path, section: str, message: str) -> None:
    home = written(tmp_path, f'[models.m]\nkind = "server"\nmodel = "m"\nbatch = true\n{section}\n')
    with pytest.raises(SettingsError, match=message):
        load_settings(home)


def test_batches_cost_half() -> None:
    section = {
        "kind": "server",
        "base_url": "http://s",
        "model": "m",
        "price_in": 2,
        "price_out": 8,
    }
    whole, half = (ServerSpec.model_validate(section | {"batch": batch}) for batch in (False, True))
    tokens = TokenCounts(prompt=1_000_000, completion=500_000)
    assert (cost(whole, tokens), cost(half, tokens)) == (6.0, 3.0)
    assert whole.identity_of() == half.identity_of()
