"""Watched folders: discovery of complete checkpoints.

The key of a checkpoint is ``run/step@<8 digits of its content>``: a renamed checkpoint keeps its
first key, overwritten weights get a new one. Folders may have any name.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.training_runs import checkpoint_name
from bench_assets.core.text.escaping import escape_to_one_line
from bench_resources.checkpoints.adapters import base_of
from bench_resources.checkpoints.files import (
    ADAPTER_CONFIG,
    has_weights,
    is_adapter,
    read_object,
    watched_files,
)
from bench_resources.checkpoints.identity import fingerprint
from bench_resources.checkpoints.training_layouts import layout_of

# Subfolders of a model that are not models themselves: optimizer states, weights in another format,
# layers of sentence-transformers.
_PARTS_OF_A_MODEL = re.compile(r"optim.*|global_step\d+|original|pytorch_model_fsdp.*|\d+_[A-Z]\w+")


@dataclass(slots=True, kw_only=True)
class FolderWalk:
    """Findings below one watched folder."""

    models: list[Path] = field(default_factory=list)  # weights or adapters, finished or not
    unconverted: dict[Path, str] = field(default_factory=dict)  # no model yet -> what is missing
    unreadable: dict[Path, str] = field(default_factory=dict)  # cannot be listed -> reason
    empty: list[Path] = field(default_factory=list)  # folders with nothing in them


def walk_folder(root: Path) -> FolderWalk:
    """List folders with models, also within models, and empty, unreadable or unconverted ones.

    A folder with weights or an adapter is a model; one with only ``config.json`` is none, because
    training scripts write their own. Hidden folders, links, and parts of a model such as optimizer
    states are skipped.
    """
    walk = FolderWalk()

    def record_error(error: OSError) -> None:
        walk.unreadable[Path(error.filename)] = str(error.strerror)

    for parent, subfolders, files in os.walk(root, onerror=record_error):
        folder = Path(parent)
        if not subfolders and not files:
            walk.empty.append(folder)
        parts = _classify_folder(folder, files, walk)
        subfolders[:] = sorted(
            name for name in subfolders if not (name.startswith(".") or parts.fullmatch(name))
        )
    return walk


def _classify_folder(folder: Path, files: list[str], walk: FolderWalk) -> re.Pattern[str]:
    """Record the kind of a folder in ``walk``; returns a pattern of subfolders to skip."""
    if has_weights(files) or ADAPTER_CONFIG in files:
        walk.models.append(folder)
        return _PARTS_OF_A_MODEL
    try:
        if unconverted := layout_of(folder):
            walk.unconverted[folder] = unconverted.message
            return re.compile(unconverted.parts)
        if (
            "config.json" in files
            and folder.parent not in walk.unconverted
            and _has_model_config(folder)
        ):
            walk.unconverted[folder] = (
                f"{folder}: config.json without weights; are they still being written?"
            )
    except OSError:
        pass  # it disappeared meanwhile, or os.walk reports that it cannot be listed
    return re.compile("")  # skips nothing


def _has_model_config(folder: Path) -> bool:
    try:
        return "model_type" in read_object(folder / "config.json")
    except ModelError:
        return False


KEY = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._@+=/-]*)@(?P<content>[0-9a-f]{8})")
"""Partition key of a checkpoint in a watched folder."""

_UNFINISHED = re.compile(r"^tmp[-_.]|\.(tmp(?!l\b)|partial|incomplete)|\.part$")
_CHECK_ERRORS = (ModelError, OSError)  # OSError: it disappeared meanwhile, or cannot be read
_RECHECK_SECONDS = 2.0  # s between two looks at a new checkpoint, at most
_LOST_AND_FOUND = "lost+found"  # only its owner can list it; it holds no checkpoints


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
    unfinished: dict[str, str] = field(default_factory=dict)  # name or folder -> reason
    digests: dict[str, str] = field(default_factory=dict)  # state of files -> content
    contents: set[str] = field(default_factory=set)  # of all checkpoints found, taken or not
    unreadable: list[str] = field(default_factory=list)  # folders that could not be read
    empty: list[str] = field(default_factory=list)  # names of folders with nothing in them

    def note(self, name: str, reason: str) -> None:
        """Record why a checkpoint or folder was not taken, on one line."""
        self.unfinished[escape_to_one_line(name)] = escape_to_one_line(reason)

    def is_deleted(self, key: str) -> bool:
        """Whether a known checkpoint certainly disappeared, and may be retired.

        Every watched folder must exist, be readable and not be empty (it may not be mounted). None
        may contain the content, nor an unfinished checkpoint of that name, nor an empty folder in
        its place or above it.
        """
        name, _, content = key.rpartition("@")
        return (
            not self.unreadable
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
    base: str = "",
) -> CheckpointSurvey:
    """Survey the watched folders; waits up to 2 s to see whether new checkpoints change.

    Args:
        folders: The watched folders.
        now: The time in s since the epoch.
        settle_seconds: A checkpoint is finished when none of its files changed for so long.
        remembered: ``digests`` of an earlier survey, so that unchanged files are not read again.
        base: Base model of adapters; "": as recorded in each.
    """
    survey = CheckpointSurvey()
    new: dict[Path, str] = {}  # folder -> state at the first look
    for root in folders:
        for folder in _model_folders(root, survey):
            name = _name_below(root, folder)
            try:
                state = _folder_state(folder)
                content = _fingerprint_folder(folder, state, survey, remembered)
                _require_complete(folder, now - settle_seconds, base)
            except _CHECK_ERRORS as error:
                survey.note(name, str(error) or type(error).__name__)
            else:
                checkpoint = FinishedCheckpoint(name=name, content=content, folder=folder)
                survey.finished.append(checkpoint)
                if content not in remembered.values():
                    new[folder] = state
    if new:
        _drop_changing(survey, new, min(settle_seconds, _RECHECK_SECONDS))
    survey.finished.sort(key=lambda checkpoint: checkpoint.key)
    return survey


def _drop_changing(survey: CheckpointSurvey, new: Mapping[Path, str], seconds: float) -> None:
    """Drop new checkpoints that still change, whatever the times of their files say."""
    time.sleep(seconds)
    for checkpoint in [checkpoint for checkpoint in survey.finished if checkpoint.folder in new]:
        try:
            is_unchanged = _folder_state(checkpoint.folder) == new[checkpoint.folder]
            reason = "" if is_unchanged else "its files still change"
        except _CHECK_ERRORS as error:
            reason = str(error) or type(error).__name__
        if reason:
            survey.finished.remove(checkpoint)
            survey.note(checkpoint.name, reason)


def find_checkpoint(key: str, folders: Sequence[Path]) -> Path:
    """Find the folder of a checkpoint, also if it was renamed.

    Raises:
        ModelError: If it was deleted or overwritten, or is incomplete.
    """
    name, _, content = key.rpartition("@")
    names = {
        folder: _name_below(root, folder) for root in folders for folder in walk_folder(root).models
    }
    same_name = [folder for folder in names if names[folder] == name]
    others = [folder for folder in names if names[folder] != name]
    for folder in [*same_name, *others]:
        try:
            if fingerprint(folder) == content:
                return folder
        except _CHECK_ERRORS:
            continue  # another checkpoint that is just being written
    listed = ", ".join(map(str, folders)) or "none"
    raise ModelError(
        f"{key}: no folder with these weights below {listed}: deleted, overwritten or unfinished"
    )


def _model_folders(root: Path, survey: CheckpointSurvey) -> list[Path]:
    """Folders of models below a watched one; records all other findings in ``survey``."""
    if reason := _missing_reason(root):
        survey.note(str(root), reason)
        survey.unreadable.append(str(root))
        return []
    walk = walk_folder(root)
    for folder, message in walk.unconverted.items():
        survey.note(_name_below(root, folder), message)
    for folder, reason in walk.unreadable.items():
        if folder.name != _LOST_AND_FOUND:
            survey.note(str(folder), f"cannot be read: {reason}")
            survey.unreadable.append(str(folder))
    for folder in walk.empty:
        if folder == root:
            survey.unreadable.append(str(root))
        else:
            survey.empty.append(_name_below(root, folder))
    return walk.models


def _missing_reason(root: Path) -> str:
    try:
        return "" if root.is_dir() else "no such folder; is it mounted?"
    except OSError as error:  # a parent folder cannot be read
        return f"cannot be read: {error.strerror}"


def _name_below(root: Path, folder: Path) -> str:
    return checkpoint_name([root.name] if folder == root else folder.relative_to(root).parts)


def _fingerprint_folder(
    folder: Path, state: str, survey: CheckpointSurvey, remembered: Mapping[str, str]
) -> str:
    """Fingerprint of a folder, complete or not; recorded in ``survey``."""
    content = remembered.get(state) or fingerprint(folder)
    survey.digests[state] = content
    survey.contents.add(content)
    return content


def _require_complete(folder: Path, settled_at: float, base: str) -> None:
    """Raise ModelError with the reason if a checkpoint cannot be taken now."""
    if str(folder).encode(errors="ignore").decode() != str(folder):
        raise ModelError(f"{folder}: its path is not UTF-8. Rename it")
    names = [folder.name, *sorted(file.name for file in folder.iterdir())]
    if unfinished_name := next(filter(_UNFINISHED.search, names), ""):
        raise ModelError(f"{folder}: still being written, judging by the name {unfinished_name}")
    for file in watched_files(folder):
        status = file.stat()
        # Both times: a copy may keep the old modification time.
        if max(status.st_mtime, status.st_ctime) > settled_at:
            raise ModelError(f"{folder}: {file.name} changed a moment ago")
    if is_adapter(folder):
        base_of(folder, base)
    elif "model_type" not in read_object(folder / "config.json"):
        raise ModelError(
            f"{folder / 'config.json'}: not a model's configuration (no model_type). Write it"
            " with model.config.save_pretrained(FOLDER)"
        )


def _folder_state(folder: Path) -> str:
    """Digest of the file metadata, which changes with every file."""
    state = sha256()
    for file in watched_files(folder):
        status = file.stat()
        state.update(os.fsencode(file))
        numbers = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        state.update(f" {numbers}\n".encode())
    return state.hexdigest()[:16]
