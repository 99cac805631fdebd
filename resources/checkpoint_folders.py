"""Checkpoints in watched folders: which are there, which are finished, and where a known one lies.

A checkpoint is known as ``run/step@<8 digits of its content>``. What it holds counts, not what it
is called: a renamed one keeps the name it had first, overwritten weights make another one.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path

from bench_assets.core.errors import ModelError
from resources.checkpoints import loaded_files
from resources.fingerprints import fingerprint

KEY = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._@+=/-]*)@(?P<content>[0-9a-f]{8})")
"""Partition key of a checkpoint in a watched folder."""

_SIGNS = ("config.json", "model.safetensors", "model.safetensors.index.json")
_UNFINISHED = re.compile(r"^tmp[-_.]|\.(tmp|partial|incomplete)|\.part$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A checkpoint that can be evaluated."""

    name: str  # "run/step": its place below the watched folder
    content: str  # 8 hexadecimal digits

    @property
    def key(self) -> str:
        """What it is called from now on, if its content was never seen before."""
        return f"{self.name}@{self.content}"


@dataclass(slots=True, kw_only=True)
class Survey:
    """What lies in the watched folders."""

    finished: list[Finished] = field(default_factory=list)  # sorted by name
    unfinished: dict[str, str] = field(default_factory=dict)  # name or folder -> why
    digests: dict[str, str] = field(default_factory=dict)  # state of files -> content


def survey(
    folders: Sequence[Path],
    *,
    now: float,
    settle_seconds: float,
    remembered: Mapping[str, str],
    full_digest: bool = False,
) -> Survey:
    """Look through folders; nothing in them is an error, what cannot be taken says why.

    Args:
        folders: The watched ones.
        now: s since the epoch.
        settle_seconds: A checkpoint is finished when no file of it changed for so long.
        remembered: ``digests`` of an earlier survey: files that are as they were are not read.
        full_digest: Read every byte.
    """
    found = Survey()
    for root in folders:
        if not root.is_dir():
            found.unfinished[str(root)] = "no such folder; is it mounted?"
        for folder in checkpoints_below(root):
            name = _name(root, folder)
            try:
                _finished(folder, name, now - settle_seconds)
                state = f"{_state(folder)}{'+' if full_digest else ''}"
                content = remembered.get(state) or fingerprint(folder, full=full_digest)
            except (ModelError, OSError) as why:  # OSError: it disappeared meanwhile
                found.unfinished[name] = str(why)
            else:
                found.digests[state] = content
                found.finished.append(Finished(name=name, content=content))
    found.finished.sort(key=lambda one: one.key)
    return found


def checkpoints_below(root: Path) -> Iterator[Path]:
    """Walk to every folder with a model in it, not into it: optimizer states and such lie there."""
    for place, below, files in os.walk(root):
        folder = Path(place)
        if any(sign in files for sign in _SIGNS):
            yield folder
            below.clear()
        below[:] = sorted(name for name in below if not name.startswith("."))


def locate(key: str, folders: Sequence[Path], *, full_digest: bool = False) -> Path:
    """Find the folder of a checkpoint again, also when it was renamed since.

    Raises:
        ModelError: If it is not there any more, or holds other weights now.
    """
    name, _, content = key.rpartition("@")
    likely = [root if root.name == name else root / name for root in folders]
    below = chain.from_iterable(map(checkpoints_below, folders))
    for folder in dict.fromkeys(chain((f for f in likely if f.is_dir()), below)):
        try:
            if fingerprint(folder, full=full_digest) == content:
                return folder
        except (ModelError, OSError):
            continue  # another checkpoint that is just being written
    listed = ", ".join(map(str, folders)) or "none"
    raise ModelError(
        f"{key}: no folder with these weights below {listed}: deleted, overwritten or unfinished"
    )


def _name(root: Path, folder: Path) -> str:
    return root.name if folder == root else folder.relative_to(root).as_posix()


def _finished(folder: Path, name: str, settled_at: float) -> None:
    """Raise what speaks against taking a checkpoint now."""
    if not KEY.fullmatch(f"{name}@00000000"):
        raise ModelError(f"{folder}: rename it; a name has only letters, digits and . _ @ + = / -")
    names = [folder.name, *sorted(file.name for file in folder.iterdir())]
    if unfinished := next(filter(_UNFINISHED.search, names), ""):
        raise ModelError(f"{folder}: still being written, by the name of {unfinished}")
    for file in loaded_files(folder):
        state = file.stat()
        # Both times: a copy may bring its old time of modification along.
        if max(state.st_mtime, state.st_ctime) > settled_at:
            raise ModelError(f"{folder}: {file.name} changed a moment ago")


def _state(folder: Path) -> str:
    """What changes when a file of a checkpoint does, told without reading them."""
    files = [(file, file.stat()) for file in loaded_files(folder)]
    lines = [f"{file} {state.st_size} {state.st_mtime_ns}" for file, state in files]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]
