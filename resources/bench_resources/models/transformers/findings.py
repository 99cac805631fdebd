"""Cached findings about checkpoints, in a JSON file of the home that processes share.

The key of a finding holds everything that it depends on, so that upgrades invalidate it.
"""

import json
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.storage.atomic_write import open_atomic

_FINDINGS = TypeAdapter(dict[str, str])
_PACKAGES = ("transformers", "pillow", "torchvision")


class Findings:
    """Findings by key; an unreadable file counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get_or_find(self, key: str, find: Callable[[], str]) -> str:
        """The finding of a key; without one, stores what ``find`` returns."""
        finding = self.get(key)
        if finding is None:
            finding = find()
            self._write({**self._read(), key: finding})
        return finding

    def get(self, key: str) -> str | None:
        """The finding of a key, if there is one."""
        return self._read().get(key)

    def _read(self) -> dict[str, str]:
        try:
            return _FINDINGS.validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return {}

    def _write(self, findings: Mapping[str, str]) -> None:
        with open_atomic(self._file, sync=False) as file:
            file.write(json.dumps(findings, indent=0).encode())


def key_of(spec: TransformersSpec, checkpoint: Checkpoint, *more: str) -> str:
    """Key of everything that the tensors of a prompt depend on; imports none of the packages."""
    settings = json.dumps(spec.processor_kwargs, sort_keys=True)
    packages = (f"{name}={_version(name)}" for name in _PACKAGES)
    return " ".join([checkpoint.content, settings, *packages, *more])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
