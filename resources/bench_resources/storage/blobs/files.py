"""Blobs as files of a folder, and the choice between a folder and an object store."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from filelock import FileLock

from bench_assets.core.schema.errors import HomeError
from bench_assets.features import hook_of
from bench_resources.storage.atomic_write import describe_write_errors, open_atomic, open_temporary
from bench_resources.storage.blobs.port import BlobEntry, Blobs, safe_name


class FileBlobs:
    """Files below a folder, which is created with the first one."""

    def __init__(self, folder: Path, mode: int = 0o666) -> None:
        """Name the folder; ``put_new`` gives files the permissions ``mode``, less the umask."""
        self._folder, self._mode = folder, mode

    @property
    def place(self) -> str:
        """The folder."""
        return str(self._folder)

    @property
    def folder(self) -> Path:
        """The folder."""
        return self._folder

    def named(self, name: str) -> str:
        """Path of the file."""
        return str(self._file(name))

    def put(self, name: str, data: bytes) -> None:
        """Write a temporary file, and rename it."""
        with open_atomic(self._file(name)) as file:
            file.write(data)

    def put_new(self, name: str, data: bytes) -> bool:
        """Write a temporary file, and give it the name unless that is taken."""
        file = self._file(name)
        if file.exists():
            return False
        with describe_write_errors(file), open_temporary(file, self._mode) as (stream, temporary):
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            return _link_new(temporary, file)

    def get(self, name: str) -> bytes | None:
        """Read a file; None if it does not exist."""
        try:
            return self._file(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._unreadable(self._file(name), error) from error

    def exists(self, name: str) -> bool:
        """Whether the file exists, or a folder of that name, which ``get`` cannot read."""
        try:
            return self._file(name).exists()
        except OSError as error:  # no permission to search a folder above it
            raise self._unreadable(self._file(name), error) from error

    def list(self, under: str = "") -> Iterator[BlobEntry]:
        """List every complete file; raises afterwards if a folder or file was unreadable."""
        folder = self._file(under) if under else self._folder
        errors: list[OSError] = []
        for path in sorted(_files_in(str(folder), errors)):
            try:
                status = Path(path).stat()
            except PermissionError as error:
                errors.append(error)
                continue
            except OSError:  # it was deleted meanwhile, or is a link to nowhere
                continue
            name = path[len(str(self._folder)) + 1 :]
            version = f"{status.st_mtime_ns} {status.st_size}"
            yield BlobEntry(name=name, size=status.st_size, version=version, at=status.st_mtime)
        if errors:
            raise self._unreadable(Path(errors[0].filename), errors[0]) from errors[0]

    def folders(self, under: str = "") -> Sequence[str]:
        """Names of the folders in a folder, also of empty ones."""
        folder = self._file(under) if under else self._folder
        return sorted(subfolder.name for subfolder in folder.glob("*/"))

    def delete(self, name: str) -> bool:
        """Delete a file; its folder stays."""
        file = self._file(name)
        with describe_write_errors(file):
            try:
                file.unlink()
            except (FileNotFoundError, NotADirectoryError):
                return False
        return True

    def _file(self, name: str) -> Path:
        return self._folder / safe_name(name)

    @staticmethod
    def _unreadable(place: Path, error: OSError) -> HomeError:
        return HomeError(f"{place}: cannot be read: {error.strerror or error}")


def _link_new(temporary: Path, file: Path) -> bool:
    """Name a complete file; False if the name is taken."""
    try:
        file.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # not every file system has hard links
        with FileLock(file.with_name(".unfinished")):  # a name that is not listed
            if file.exists():
                return False
            temporary.replace(file)
    return True


def _files_in(folder: str, errors: list[OSError]) -> Iterator[str]:
    """Paths of files at any depth, except temporary ones; adds errors of folders to ``errors``."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    yield from _files_in(entry.path, errors)
                elif not entry.name.endswith(".unfinished"):
                    yield entry.path
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        errors.append(error)


def open_blobs(
    home: Path, below: str, objects: str = "", endpoint: str = "", place: str = ""
) -> Blobs:
    """Open one kind of a home's blobs.

    Args:
        home: The home folder.
        below: Kind: "tables", "images" or "export"; a folder of the home or of the shared store.
        objects: ``[storage] objects``; "": nothing is shared.
        endpoint: ``[storage] endpoint``.
        place: ``objects`` without keys, for messages.

    Raises:
        SettingsError: If obstore is not installed, or the address is invalid.
        HomeError: If the store cannot be reached or has no conditional puts.
    """
    folder = shared_folder(objects) if objects else home
    if folder:
        return FileBlobs(folder / below)
    place = place or objects
    blobs: Blobs = hook_of("object store", "[storage] objects")(objects, endpoint, below, place)
    return blobs


def shared_folder(objects: str) -> Path | None:
    """Folder of an address ``file:///...``; None for an object store."""
    address = urlsplit(objects)
    return Path(unquote(address.path)) if address.scheme == "file" else None
