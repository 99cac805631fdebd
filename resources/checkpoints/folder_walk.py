"""A walk through watched folders: where models lie, and what would be one if it were converted."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench_assets.core.errors import ModelError
from resources.checkpoints.files import ADAPTER_CONFIG, has_weights, read_object
from resources.checkpoints.training_layouts import layout_of

# What lies in a model's own folder and is no other model: states of the optimizer, weights in
# another format, the layers of sentence-transformers.
_PARTS_OF_A_MODEL = re.compile(r"optim.*|global_step\d+|original|pytorch_model_fsdp.*|\d+_[A-Z]\w+")


@dataclass(slots=True, kw_only=True)
class Walk:
    """What lies below one watched folder."""

    models: list[Path] = field(default_factory=list)  # weights or adapters, finished or not
    others: dict[Path, str] = field(default_factory=dict)  # no model yet -> what it is, what to do
    unread: dict[Path, str] = field(default_factory=dict)  # folders that cannot be listed -> why
    empty: list[Path] = field(default_factory=list)  # folders with nothing in them


def walk(root: Path) -> Walk:
    """Look into every folder below, those of models too.

    Weights or an adapter are the sign of a model; a ``config.json`` is not, since training scripts
    write such files of their own. Not looked into: hidden folders, symbolic links, and what is a
    part of a model or of an unconverted one, such as states of the optimizer.
    """
    found = Walk()

    def unread(why: OSError) -> None:
        found.unread[Path(why.filename)] = str(why.strerror)

    for place, below, files in os.walk(root, onerror=unread):
        folder = Path(place)
        if not below and not files:
            found.empty.append(folder)
        parts = _looked_at(folder, files, found)
        below[:] = sorted(n for n in below if not (n.startswith(".") or parts.fullmatch(n)))
    return found


def _looked_at(folder: Path, files: list[str], found: Walk) -> re.Pattern[str]:
    """Note what a folder is; gives a pattern of folders in it that are not looked into."""
    if has_weights(files) or ADAPTER_CONFIG in files:
        found.models.append(folder)
        return _PARTS_OF_A_MODEL
    try:
        if unconverted := layout_of(folder):
            found.others[folder] = unconverted.says
            return re.compile(unconverted.parts)
        if "config.json" in files and folder.parent not in found.others and _of_a_model(folder):
            found.others[folder] = f"{folder}: no weights beside its config.json; still to come?"
    except OSError:
        pass  # it disappeared meanwhile, or what cannot be listed is noted on the way into it
    return re.compile("")


def _of_a_model(folder: Path) -> bool:
    try:
        return "model_type" in read_object(folder / "config.json")
    except ModelError:
        return False


def models_below(root: Path) -> Iterator[Path]:
    """Folders with weights or an adapter, finished or not."""
    yield from walk(root).models
