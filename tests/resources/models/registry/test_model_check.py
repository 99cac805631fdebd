import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.errors import BenchError
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.model_check import ModelCheck, check_model
from bench_resources.models.registry.resolution import resolve
from tests.fakes.chat_server import ChatServer
from tests.families import releases
from tests.resources.models.managed import fake_vllm
from tests.resources.models.managed.test_engine import is_running

PROBES = [
    *("an image", "two images", "no image"),
    *("a system prompt", "control tokens", "a conversation"),
]


def check_section(home: Path, toml: str, name: str = "m") -> ModelCheck:
    """Check a model of a bench.toml; one that does not resolve has its error in the result."""
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(toml)
    settings = load_settings(home)
    try:
        return check_model(resolve(name, settings), settings)
    except BenchError as error:
        return ModelCheck(model=name, error=str(error))


def transformers_section(folder: Path) -> str:
    return f'[models.m]\nkind = "transformers"\ndevice = "cpu"\npath = "{folder}"\n'


def first_image_size(images: list[Any], prompt: str) -> str:
    """A model in Python that answers with the size of the first image, in a list."""
    return str([image.size for image in images[:1]])


def python_section(function: str) -> str:
    return f'[models.m]\nkind = "python"\nfunction = "{__name__}:{function}"\n'


def test_a_checkpoint_answers_six_probes(vlm: Path, tmp_path: Path) -> None:
    check = check_section(tmp_path / "home", transformers_section(vlm))
    assert check.failures == []
    assert [probe.probe for probe in check.probes] == PROBES
    assert all(probe.response for probe in check.probes)


@pytest.mark.long
def test_a_probe_that_the_family_does_not_support_is_no_failure(tmp_path: Path) -> None:
    folder = tmp_path / "mllama"
    releases.build("mllama", folder)
    check = check_section(tmp_path / "home", transformers_section(folder))
    errors = {probe.probe: probe.error for probe in check.probes if probe.error}
    assert list(errors) == ["a system prompt"]
    assert "chat template refuses" in errors["a system prompt"]
    assert check.failures == []


def test_a_server_is_probed_and_no_response_is_cached(tmp_path: Path) -> None:
    with ChatServer("B") as server:
        toml = f'[models.m]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        check = check_section(tmp_path, toml)
        assert server.n_requests == len(PROBES) + 1  # two turns of the conversation
    assert check.failures == []
    assert {probe.response for probe in check.probes} == {"B"}
    assert list(tmp_path.iterdir()) == [tmp_path / "bench.toml"]


def test_vllm_is_started_for_a_check_and_ends_with_it(vlm: Path, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    program = fake_vllm.install(tmp_path / "bin", f"starts={starts}")
    check = check_section(
        tmp_path, f'[models.m]\nkind = "vllm"\npath = "{vlm}"\nprogram = "{program}"\n'
    )
    assert check.failures == []
    assert not is_running(int(starts.read_text(encoding="utf-8")))


def test_a_model_in_python_sees_the_images(tmp_path: Path) -> None:
    check = check_section(tmp_path, python_section("first_image_size"))
    assert check.failures == []
    assert check.probes[0].response == "[(640, 480)]"


def test_a_blind_model_that_scores_options_is_checked_without_images(tmp_path: Path) -> None:
    elicited = '[models.likely]\nkind = "elicited"\nof = "m"\nelicit = "likelihood"\n'
    blind = '[models.blind]\nkind = "blind"\nof = "likely"\n'
    toml = python_section("first_image_size") + elicited + blind
    check = check_section(tmp_path, toml, "blind")
    assert (check.model, check.note, check.failures) == ("blind", "", [])
    assert [probe.response for probe in check.probes] == ["[]"] * len(PROBES)


def write_half_of_weights(vlm: Path, folder: Path) -> str:
    """Copy a checkpoint with half of its weights; return its section."""
    weights = shutil.copytree(vlm, folder) / "model.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: len(data) // 2])
    return transformers_section(folder)


@pytest.mark.parametrize(
    ("write_model", "expected_message"),
    [
        pytest.param(
            lambda vlm, folder: transformers_section(folder), "no such folder", id="a missing path"
        ),
        pytest.param(write_half_of_weights, "half-written or corrupt", id="half of the weights"),
        pytest.param(
            lambda vlm, folder: python_section("nothing"), "nothing", id="no such function"
        ),
    ],
)
def test_the_error_of_a_model_that_does_not_open_is_one_line(
    vlm: Path, tmp_path: Path, write_model: Callable[[Path, Path], str], expected_message: str
) -> None:
    check = check_section(tmp_path, write_model(vlm, tmp_path / "m"))
    assert expected_message in check.error
    assert "\n" not in check.error
    assert check.failures == [check.error]
