"""Watched folders: discovery of complete checkpoints.

A checkpoint is known as ``run/step@<8 digits of its content>``: a renamed one keeps its first name,
overwritten weights make another one. Folders may be called anything.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.training_runs import checkpoint_name
from bench_assets.core.text.escaping import one_line
from resources.checkpoints.adapters import base_of
from resources.checkpoints.files import (
    ADAPTER_CONFIG,
    has_weights,
    is_adapter,
    read_object,
    watched_files,
)
from resources.checkpoints.identity import fingerprint
from resources.checkpoints.training_layouts import layout_of

# What lies in a model's own folder and is no other model: states of the optimizer, weights in
# another format, the layers of sentence-transformers.
_PARTS_OF_A_MODEL = re.compile(r"optim.*|global_step\d+|original|pytorch_model_fsdp.*|\d+_[A-Z]\w+")


@dataclass(slots=True, kw_only=True)
class FolderWalk:
    """Findings below one watched folder."""

    models: list[Path] = field(default_factory=list)  # weights or adapters, finished or not
    others: dict[Path, str] = field(default_factory=dict)  # no model yet -> what it is, what to do
    unread: dict[Path, str] = field(default_factory=dict)  # folders that cannot be listed -> why
    empty: list[Path] = field(default_factory=list)  # folders with nothing in them


def walk_folder(root: Path) -> FolderWalk:
    """List all folders with models, those inside of models included.

    Weights or an adapter make a model; a ``config.json`` does not, because training scripts write
    their own. Hidden folders, links, and parts of a model such as optimizer states are skipped.
    """
    found = FolderWalk()

    def unread(why: OSError) -> None:
        found.unread[Path(why.filename)] = str(why.strerror)

    for place, below, files in os.walk(root, onerror=unread):
        folder = Path(place)
        if not below and not files:
            found.empty.append(folder)
        parts = _classify_folder(folder, files, found)
        below[:] = sorted(n for n in below if not (n.startswith(".") or parts.fullmatch(n)))
    return found


def _classify_folder(folder: Path, files: list[str], found: FolderWalk) -> re.Pattern[str]:
    """Record the kind of a folder; returns a pattern of subfolders to skip."""
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
    """Folders with weights or an adapter, complete or not."""
    yield from walk_folder(root).models


KEY = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._@+=/-]*)@(?P<content>[0-9a-f]{8})")
"""Partition key of a checkpoint in a watched folder."""

_UNFINISHED = re.compile(r"^tmp[-_.]|\.(tmp|partial|incomplete)|\.part$")
_NOT_TAKEN = (ModelError, OSError)  # OSError: it disappeared meanwhile, or cannot be read
_BETWEEN_LOOKS = 2.0  # s
_OF_A_FILE_SYSTEM = "lost+found"  # only its owner can list it; it holds no checkpoints


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCheckpoint:
    """A complete checkpoint."""

    name: str  # "run/step": its place below the watched folder
    content: str  # 8 hexadecimal digits
    folder: Path = field(compare=False)

    @property
    def key(self) -> str:
        """The partition key, if its content is new."""
        return f"{self.name}@{self.content}"


@dataclass(slots=True, kw_only=True)
class CheckpointSurvey:
    """Findings in the watched folders."""

    finished: list[FinishedCheckpoint] = field(default_factory=list)  # sorted by name
    unfinished: dict[str, str] = field(default_factory=dict)  # name or folder -> why
    digests: dict[str, str] = field(default_factory=dict)  # state of files -> content
    contents: set[str] = field(default_factory=set)  # of all that is there, taken or not
    out_of_sight: list[str] = field(default_factory=list)  # folders that could not be looked into
    empty: list[str] = field(default_factory=list)  # names of folders with nothing in them

    def note(self, name: str, why: str) -> None:
        """Record why something was not taken, on one line."""
        self.unfinished[one_line(name)] = one_line(why)

    def gone(self, key: str) -> bool:
        """Whether a known checkpoint certainly disappeared, and may retire.

        Every watched folder must be there, readable and not empty (it may not be mounted), the
        content must be in none of them, and no folder of its name incomplete. Doubt keeps it.
        """
        name, _, content = key.rpartition("@")
        return (
            not self.out_of_sight
            and content not in self.contents
            and name not in self.unfinished
            and not any(f"{name}/".startswith(f"{folder}/") for folder in self.empty)
        )


def survey_folders(
    folders: Sequence[Path],
    *,
    now: float,
    settle_seconds: float,
    remembered: Mapping[str, str],
    full_digest: bool = False,
    base: str = "",
) -> CheckpointSurvey:
    """Survey the watched folders; whatever cannot be taken is a finding.

    Args:
        folders: The watched ones.
        now: s since the epoch.
        settle_seconds: A checkpoint is finished when no file of it changed for so long.
        remembered: ``digests`` of an earlier survey: files that are as they were are not read.
        full_digest: Read every byte.
        base: What adapters are put on; "": as each says.
    """
    found = CheckpointSurvey()
    new: dict[Path, str] = {}  # folder -> state at the first look
    for root in folders:
        for folder in _model_folders(root, found):
            name = _name(root, folder)
            try:
                state = _state(folder)
                content = _content(folder, state, found, remembered, full_digest)
                _finished(folder, now - settle_seconds, base)
            except _NOT_TAKEN as why:
                found.note(name, str(why) or type(why).__name__)
            else:
                taken = FinishedCheckpoint(name=name, content=content, folder=folder)
                found.finished.append(taken)
                new |= {} if content in remembered.values() else {folder: state}
    if new:
        _look_again(found, new, min(settle_seconds, _BETWEEN_LOOKS))
    found.finished.sort(key=lambda one: one.key)
    return found


def _look_again(found: CheckpointSurvey, new: Mapping[Path, str], seconds: float) -> None:
    """Leave out new checkpoints that grow, whatever the times of their files say."""
    time.sleep(seconds)
    for one in [one for one in found.finished if one.folder in new]:
        try:
            why = "" if _state(one.folder) == new[one.folder] else "its files still change"
        except _NOT_TAKEN as gone:
            why = str(gone)
        if why:
            found.finished.remove(one)
            found.note(one.name, why)


def find_checkpoint(key: str, folders: Sequence[Path], *, full_digest: bool = False) -> Path:
    """Find the folder of a checkpoint, also if it was renamed.

    Raises:
        ModelError: If it is not there any more, or holds other weights now.
    """
    name, _, content = key.rpartition("@")
    below = {folder: _name(root, folder) for root in folders for folder in models_below(root)}
    for folder in sorted(below, key=lambda one: below[one] != name):
        try:
            if fingerprint(folder, full=full_digest) == content:
                return folder
        except _NOT_TAKEN:
            continue  # another checkpoint that is just being written
    listed = ", ".join(map(str, folders)) or "none"
    raise ModelError(
        f"{key}: no folder with these weights below {listed}: deleted, overwritten or unfinished"
    )


def _model_folders(root: Path, found: CheckpointSurvey) -> list[Path]:
    """Folders of models below a watched one; records all other findings."""
    if why := _why_not_there(root):
        found.note(str(root), why)
        found.out_of_sight.append(str(root))
        return []
    seen = walk_folder(root)
    for folder, says in seen.others.items():
        found.note(_name(root, folder), says)
    for folder, why in seen.unread.items():
        if folder.name != _OF_A_FILE_SYSTEM:
            found.note(str(folder), f"cannot be read: {why}")
            found.out_of_sight.append(str(folder))
    for folder in seen.empty:
        if folder == root:
            found.out_of_sight.append(str(root))
        else:
            found.empty.append(_name(root, folder))
    return seen.models


def _why_not_there(root: Path) -> str:
    try:
        return "" if root.is_dir() else "no such folder; is it mounted?"
    except OSError as why:  # what it lies in cannot be looked into
        return f"cannot be read: {why.strerror}"


def _name(root: Path, folder: Path) -> str:
    return checkpoint_name([root.name] if folder == root else folder.relative_to(root).parts)


def _content(
    folder: Path,
    state: str,
    found: CheckpointSurvey,
    remembered: Mapping[str, str],
    full_digest: bool,
) -> str:
    """The content of a folder, complete or not."""
    state = f"{state}{'+' if full_digest else ''}"
    content = remembered.get(state) or fingerprint(folder, full=full_digest)
    found.digests[state] = content
    found.contents.add(content)
    return content


def _finished(folder: Path, settled_at: float, base: str) -> None:
    """Raise the reason why a checkpoint cannot be taken now."""
    if str(folder).encode(errors="ignore").decode() != str(folder):
        raise ModelError(f"{folder}: rename it; its path is not UTF-8")
    names = [folder.name, *sorted(file.name for file in folder.iterdir())]
    if unfinished := next(filter(_UNFINISHED.search, names), ""):
        raise ModelError(f"{folder}: still being written, by the name of {unfinished}")
    for file in watched_files(folder):
        state = file.stat()
        # Both times: a copy may bring its old time of modification along.
        if max(state.st_mtime, state.st_ctime) > settled_at:
            raise ModelError(f"{folder}: {file.name} changed a moment ago")
    if is_adapter(folder):
        base_of(folder, base)
    elif "model_type" not in read_object(folder / "config.json"):
        raise ModelError(
            f"{folder / 'config.json'}: not a model's (no model_type); write the model's with"
            " model.config.save_pretrained(FOLDER)"
        )


def _state(folder: Path) -> str:
    """Digest of the file metadata, which changes with every file."""
    state = sha256()
    for file in watched_files(folder):
        is_now = file.stat()
        state.update(os.fsencode(file))
        numbers = (is_now.st_size, is_now.st_mtime_ns, is_now.st_ctime_ns, is_now.st_ino)
        state.update(f" {numbers}\n".encode())
    return state.hexdigest()[:16]
