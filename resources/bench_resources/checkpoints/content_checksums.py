"""Content checksums: verify that loaded files are the ones that were digested.

A checksum records inode, size and times of each file. While these stay the same, no byte is read
again: a checkpoint may have 100 GB. If they changed, or a file is so recent that another change
might not alter its times, the digest is computed again.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import content_digest

ListFiles: TypeAlias = Callable[[], list[Path]]

# ns; the coarsest time stamps of file systems: two changes within this time look alike
_CLOCK_RESOLUTION = 2 * 10**9


@dataclass(frozen=True, slots=True)
class _FileState:
    """Metadata of a file, links followed."""

    device: int
    inode: int
    size: int  # bytes
    modified: int  # ns since the epoch
    changed: int  # ns; unlike ``modified``, it cannot be set

    @classmethod
    def of(cls, file: Path) -> "_FileState":
        status = file.stat()
        return cls(
            device=status.st_dev,
            inode=status.st_ino,
            size=status.st_size,
            modified=status.st_mtime_ns,
            changed=status.st_ctime_ns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentChecksum:
    """The metadata of files, and the digest of their content."""

    content: str
    states: dict[Path, _FileState]
    list_files: ListFiles
    just_written: bool  # another change might not alter the times

    def verify(self) -> "ContentChecksum":
        """Verify the files; returns this checksum, or an updated one if files were only touched.

        Raises:
            ModelError: If the list of files or their content changed; names a file.
        """
        files = self.list_files()
        if added_or_deleted := set(files) ^ set(self.states):
            raise ModelError(_changed_message(min(added_or_deleted)))
        now = _states(files)
        if now == self.states and not self.just_written:
            return self
        updated = take_checksum(self.list_files)
        if updated.content != self.content:
            differing = (file for file in files if now[file] != self.states[file])
            raise ModelError(_changed_message(next(differing, files[0])))
        return updated

    def verify_existing(self) -> "ContentChecksum":
        """Verify the files as ``verify`` does, but accept deleted ones: they stay in memory.

        Raises:
            ModelError: If a file was replaced, or its content changed.
        """
        existing = {file: state for file in self.states if (state := _state_or_none(file))}
        if all(self.states[file] == state for file, state in existing.items()):
            return self
        if len(existing) == len(self.states):
            return self.verify()
        changed = next(file for file in existing if existing[file] != self.states[file])
        raise ModelError(_changed_message(changed))


def take_checksum(list_files: ListFiles) -> ContentChecksum:
    """Digest files and record their metadata.

    Raises:
        ModelError: If the files change while they are read, or from ``list_files``.
        OSError: If a file disappears or cannot be read.
    """
    files = list_files()
    states = _states(files)
    content = content_digest(files)
    digested_at = time.time_ns()
    files_after = list_files()
    if set(files_after) != set(files) or _states(files_after) != states:
        raise ModelError(
            f"{(files or files_after)[0].parent}: its files changed while they were read."
            " Wait until they are complete, and run the command again"
        )
    newest = max((state.changed for state in states.values()), default=0)
    return ContentChecksum(
        content=content,
        states=states,
        list_files=list_files,
        just_written=newest > digested_at - _CLOCK_RESOLUTION,
    )


@contextmanager
def require_unchanged(checksums: Sequence[ContentChecksum]) -> Iterator[None]:
    """Verify the files before and after this block, in which they are loaded.

    Raises:
        ModelError: If a file changed before or during the block; names it.
    """
    with _as_model_errors():
        verified = [checksum.verify() for checksum in checksums]
    yield
    with _as_model_errors():
        for checksum in verified:
            checksum.verify()


def verify_loaded(checksums: Sequence[ContentChecksum]) -> list[ContentChecksum]:
    """Verify files that a loaded model may still read; deleted ones are fine.

    Raises:
        ModelError: If a file was replaced, or its content changed.
    """
    with _as_model_errors():
        return [checksum.verify_existing() for checksum in checksums]


@contextmanager
def _as_model_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"{_changed_message(error.filename)} ({error.strerror})") from error


def _states(files: Iterable[Path]) -> dict[Path, _FileState]:
    return {file: _FileState.of(file) for file in files}


def _state_or_none(file: Path) -> _FileState | None:
    try:
        return _FileState.of(file)
    except OSError:
        return None


def _changed_message(file: object) -> str:
    return (
        f"{file}: changed since the checkpoint was identified (overwritten or replaced)."
        " Responses from now on are discarded. Run the command again when the file is complete"
    )
