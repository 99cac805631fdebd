"""Models that cannot be tried: one sentence that says why, and the rest is checked."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.resources.models.registry.checking import checked, copied, local, python


def without_template(vlm: Path, folder: Path) -> str:
    copied(vlm, folder, tokenizer_config={"chat_template": None})
    for file in folder.glob("chat_template*"):
        file.unlink()
    return local(folder)


def adapter(vlm: Path, folder: Path, base: str) -> str:
    folder.mkdir()
    config = {"peft_type": "LORA", "base_model_name_or_path": base}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "adapter_model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    return local(folder)


def own_code(vlm: Path, folder: Path) -> str:
    auto = {"AutoConfig": "own.Config", "AutoModelForImageTextToText": "own.Model"}
    copied(vlm, folder, config={"model_type": "unheard_of", "auto_map": auto})
    return local(folder)


def cut_weights(vlm: Path, folder: Path) -> str:
    whole = (copied(vlm, folder) / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    return local(folder)


@pytest.mark.parametrize(
    ("write", "named"),
    [
        pytest.param(lambda vlm, folder: local(folder), "no such folder", id="a missing path"),
        pytest.param(
            without_template, 'Set chat_template to a file, or to "plain"', id="a base model"
        ),
        pytest.param(own_code, "trust_remote_code = true", id="code of its own"),
        pytest.param(cut_weights, "half-written or corrupt", id="half of the weights"),
        pytest.param(
            lambda vlm, folder: adapter(vlm, folder, "/gone"),
            "its base /gone does not exist. Set base",
            id="a LoRA without its base",
        ),
        pytest.param(lambda vlm, folder: python("nothing"), "nothing", id="no such factory"),
        pytest.param(
            lambda vlm, folder: python("raising"),
            "ZeroDivisionError: by the author",
            id="a factory that raises",
        ),
    ],
)
def test_what_cannot_be_tried_is_said_in_one_sentence(
    vlm: Path, tmp_path: Path, write: Callable[[Path, Path], str], named: str
) -> None:
    found = checked(tmp_path, write(vlm, tmp_path / "m"))
    assert named in found.error
    assert "\n" not in found.error
    assert found.failures == [found.error]


@pytest.mark.long
def test_the_rest_is_checked_and_the_home_stays_as_it_was(
    vlm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bench.toml").write_text(local(vlm))
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["models", "check", "gone", "m", "random", "--json"])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [(row["model"], bool(row["failures"])) for row in rows] == [
        ("gone", True),
        ("m", False),
        ("random", False),
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "bench.toml"]

    shown = CliRunner().invoke(app, ["models", "check", "m"])
    assert (shown.exit_code, shown.stdout.splitlines()[0]) == (0, "m: ok")
    assert "tokens per image    224x224: 4, 640x480: 4, 1280x960: 4" in shown.stdout
