"""What a check finds out about models: tiny ones, and broken ones."""

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


def checked(home: Path, toml: str, name: str = "m") -> ModelCheck:
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(toml)
    settings = load_settings(home)
    try:
        return check_model(resolve(name, settings), settings)
    except BenchError as error:
        return ModelCheck(model=name, error=str(error))


def local(folder: Path | str, more: str = "") -> str:
    return f'[models.m]\nkind = "transformers"\ndevice = "cpu"\npath = "{folder}"\n{more}\n'


def errors(found: ModelCheck) -> dict[str, str]:
    return {one.probe: one.error for one in found.probes if one.error}


def echoing(images: list[Any], prompt: str) -> str:
    """A model in Python that says how large the first image is."""
    return str([image.size for image in images[:1]])


def python(function: str) -> str:
    return f'[models.m]\nkind = "python"\nfunction = "{__name__}:{function}"\n'


def test_a_checkpoint_is_asked_six_probes(vlm: Path, tmp_path: Path) -> None:
    check = checked(tmp_path / "home", local(vlm))
    assert check.failures == []
    assert [one.probe for one in check.probes] == PROBES
    assert all(probe.response for probe in check.probes)


@pytest.mark.long
def test_what_a_family_does_not_take_is_no_failure(tmp_path: Path) -> None:
    folder = tmp_path / "mllama"
    releases.build("mllama", folder)
    check = checked(tmp_path / "home", local(folder))
    assert list(errors(check)) == ["a system prompt"]
    assert "chat template refuses" in errors(check)["a system prompt"]
    assert check.failures == []


def test_a_server_gets_requests_one_by_one(tmp_path: Path) -> None:
    with ChatServer("B") as server:
        toml = f'[models.m]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        check = checked(tmp_path, toml)
        assert server.n_requests == len(PROBES) + 1  # two turns of the conversation
    assert check.failures == []
    assert {probe.response for probe in check.probes} == {"B"}
    assert list(tmp_path.iterdir()) == [tmp_path / "bench.toml"]


def test_vllm_is_started_for_a_check_and_ends_with_it(vlm: Path, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    program = fake_vllm.install(tmp_path / "bin", f"starts={starts}")
    check = checked(tmp_path, f'[models.m]\nkind = "vllm"\npath = "{vlm}"\nprogram = "{program}"\n')
    assert check.failures == []
    assert not is_running(int(starts.read_text(encoding="utf-8")))


def test_a_model_in_python_sees_the_images(tmp_path: Path) -> None:
    check = checked(tmp_path, python("echoing"))
    assert check.failures == []
    assert check.probes[0].response == "[(640, 480)]"


def test_a_blind_model_that_scores_options_is_checked_without_images(
    tmp_path: Path,
) -> None:
    likely = '[models.likely]\nkind = "elicited"\nof = "m"\nelicit = "likelihood"\n'
    toml = f'{python("echoing")}{likely}[models.blind]\nkind = "blind"\nof = "likely"\n'
    check = checked(tmp_path, toml, "blind")
    assert (check.model, check.note, check.failures) == ("blind", "", [])
    assert [probe.response for probe in check.probes] == ["[]"] * 6


# Models that cannot be tried: one sentence that says why, and the rest is checked.


def cut_weights(vlm: Path, folder: Path) -> str:
    whole = (shutil.copytree(vlm, folder) / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    return local(folder)


@pytest.mark.parametrize(
    ("write", "named"),
    [
        pytest.param(lambda vlm, folder: local(folder), "no such folder", id="a missing path"),
        pytest.param(cut_weights, "half-written or corrupt", id="half of the weights"),
        pytest.param(lambda vlm, folder: python("nothing"), "nothing", id="no such function"),
    ],
)
def test_what_cannot_be_tried_is_one_sentence(
    vlm: Path, tmp_path: Path, write: Callable[[Path, Path], str], named: str
) -> None:
    check = checked(tmp_path, write(vlm, tmp_path / "m"))
    assert named in check.error
    assert "\n" not in check.error
    assert check.failures == [check.error]
