"""Checkpoints of a few bytes, a home folder that watches them, stand-ins for what they start."""

import json
import struct
from pathlib import Path

import dagster as dg

from bench_assets.catalog import SUITES, TASKS
from bench_assets.evaluation import questions_key
from bench_assets.partitions import MODELS
from resources.images import ImageStore
from resources.models import Models
from resources.settings import Settings, default_home, load_settings
from resources.settings_file import SettingsFile
from sensors.checkpoints import checkpoint_sensors
from sensors.first_look import FIRST_LOOK, first_look_assets, first_look_key


def safetensors(weights: bytes) -> bytes:
    """A file with one tensor; every weight of equal length gives the same header."""
    header = {"w": {"dtype": "U8", "shape": [len(weights)], "data_offsets": [0, len(weights)]}}
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + weights


def write_checkpoint(folder: Path, weights: bytes = b"1234", shards: int = 1) -> Path:
    """Write config, tokenizer and weights, in one file or in shards with an index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "tokenizer.json").write_text("{}")
    if shards == 1:
        (folder / "model.safetensors").write_bytes(safetensors(weights))
        return folder
    names = [f"model-{n}-of-{shards}.safetensors" for n in range(1, shards + 1)]
    for name in names:
        (folder / name).write_bytes(safetensors(weights))
    index = {"weight_map": {f"w{n}": name for n, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def watching(home: Path, further: str = "", suites: str = '["codis"]') -> Settings:
    """Write a bench.toml that watches ``runs`` beside the home folder; read it."""
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(
        f'[checkpoints]\nfolders = ["../runs"]\nsettle_seconds = 0\nsuites = {suites}\n{further}\n'
    )
    return load_settings(home)


def with_questions(instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """Record that every question table was built."""
    for task in TASKS:
        _record(instance, dg.AssetKey(questions_key(task, "main")))
    return instance


def record_first_look(instance: dg.DagsterInstance, suite: str, checkpoint: str) -> None:
    """Record that a checkpoint answered the first questions of a suite."""
    for task in TASKS:
        if task.suite == suite:
            _record(instance, first_look_key(task), checkpoint)


def _record(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None = None) -> None:
    event = dg.AssetMaterialization(asset_key=key, partition=partition)
    instance.report_runless_asset_event(event)


def _stand_in(name: str) -> dg.AssetsDefinition:
    @dg.asset(name=name, partitions_def=MODELS)
    def nothing() -> None: ...

    return nothing


_SETTINGS = SettingsFile(home=str(default_home()))
_IMAGES = ImageStore(folder=str(default_home() / "images"))
_JOBS = [
    dg.define_asset_job(FIRST_LOOK, dg.AssetSelection.groups(FIRST_LOOK)),
    *(dg.define_asset_job(f"evaluate_{suite}", [suite]) for suite in SUITES),
]
defs = dg.Definitions(
    assets=[
        *(dg.AssetSpec(questions_key(task, "main")) for task in TASKS),
        *first_look_assets(TASKS),
        *map(_stand_in, SUITES),
    ],
    jobs=_JOBS,
    sensors=checkpoint_sensors(_JOBS),
    resources={"settings": _SETTINGS, "models": Models(settings=_SETTINGS, images=_IMAGES)},
)
