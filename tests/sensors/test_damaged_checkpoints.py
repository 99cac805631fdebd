import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.fakes.checkpoint_files import look, safetensors, write_adapter, write_checkpoint
from tests.sensors.watched import short_keys

Damage: TypeAlias = Callable[[Path], object]

SHARD = "model-2-of-2.safetensors"
INDEX = "model.safetensors.index.json"


def _write(name: str, content: str | bytes) -> Damage:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


def _write_index(weight_map: object) -> Damage:
    return _write(INDEX, json.dumps({"weight_map": weight_map}))


def _delete(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def _replace_by_adapter(**config: object) -> Damage:
    """Replace the files of a folder by an adapter with this configuration."""

    def damage(folder: Path) -> None:
        for file in folder.iterdir():
            file.unlink()
        write_adapter(folder)
        config_json = {"peft_type": "LORA", "base_model_name_or_path": "org/vlm", "r": 8} | config
        (folder / "adapter_config.json").write_text(json.dumps(config_json))

    return damage


DAMAGES: dict[str, tuple[Damage, str]] = {
    # Description -> the damage, and a part of the reason.
    "no config yet": (_delete("config.json"), "config.json is missing"),
    "no shard yet": (_delete(SHARD), f"{SHARD} is missing"),
    "half an index": (_write(INDEX, '{"weight_map"'), "not JSON"),
    "an index of a list": (_write_index([SHARD]), "no weight_map"),
    "an index that names no weights": (_write_index({"a": "config.json"}), "got 'config.json'"),
    "an index that leads out": (_write_index({"a": "../x.safetensors"}), "outside"),
    "a config of a list": (_write("config.json", "[]"), "not a JSON object"),
    "an adapter on itself": (_replace_by_adapter(base_model_name_or_path="."), "an adapter itself"),
    "an adapter of prompts": (
        _replace_by_adapter(peft_type="PROMPT_TUNING"),
        "peft_type PROMPT_TUNING",
    ),
    "a temporary file": (_write(f"{SHARD}.tmp123", b""), "still being written"),
    "a shard cut short": (_write(SHARD, safetensors(b"1234")[:-1]), "half-written or corrupt"),
    "a shard too long": (_write(SHARD, safetensors(b"12") + b"3"), "half-written or corrupt"),
    "a corrupt shard": (_write(SHARD, b"\xff" * 64), "half-written or corrupt"),
    "a config of no model": (_write("config.json", '{"lr": 1}'), "no model_type"),
}


@pytest.mark.parametrize(("damage", "expected_reason"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_is_reported_and_the_others_are_found(
    tmp_path: Path, damage: Damage, expected_reason: str
) -> None:
    write_checkpoint(tmp_path / "a" / "step-1")
    damaged = write_checkpoint(tmp_path / "b" / "step-1", b"5678", shards=2)
    damage(damaged)
    write_checkpoint(tmp_path / "c" / "step-1", b"9abc")
    survey = look(tmp_path)
    assert [checkpoint.name for checkpoint in survey.finished] == ["a/step-1", "c/step-1"]
    assert list(survey.unfinished) == ["b/step-1"]
    assert expected_reason in survey.unfinished["b/step-1"]
    assert str(damaged) in survey.unfinished["b/step-1"]


def test_the_sensor_requests_intact_checkpoints_and_reports_the_others(daemon, runs):
    for n, name in enumerate(["no config yet", "a temporary file"]):  # the test above has all
        damage, _ = DAMAGES[name]
        damage(write_checkpoint(runs / f"x{n}" / "step-1", bytes([n, 0]), shards=2))
    write_checkpoint(runs / "zz" / "step-1", b"9abc")
    assert short_keys(daemon.tick()) == ["zz/step-1 codis+blink"]
    assert daemon.tick() == []
    assert "/runs/x0/step-1: " in daemon.skip_message
    assert "/runs/x1/step-1: " in daemon.skip_message


def test_a_folder_whose_name_is_not_utf_8_is_reported_in_ascii(daemon, runs):
    damage, _ = DAMAGES["no config yet"]
    damage(write_checkpoint(runs / os.fsdecode(b"\xff\xfe") / "step-1"))
    assert daemon.tick() == []
    assert "/runs/\\udcff\\udcfe/step-1: " in daemon.skip_message
    assert daemon.skip_message.isascii()


@pytest.mark.parametrize(
    ("name", "expected_reason"),
    [
        pytest.param("tmp-checkpoint-100", "still being written", id="a temporary name"),
        pytest.param(os.fsdecode(b"\xff"), "Rename it", id="a name that is not UTF-8"),
    ],
)
def test_a_folder_with_an_unusable_name_is_reported(tmp_path, name, expected_reason):
    write_checkpoint(tmp_path / name)
    survey = look(tmp_path)
    assert survey.finished == []
    (reason,) = survey.unfinished.values()
    assert expected_reason in reason
