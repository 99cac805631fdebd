"""The secrets of home folders as they are now, for what runs as long as a server does."""

from collections.abc import Sequence
from pathlib import Path

from bench_assets.core.text.redaction import Secrets
from resources.config.environment import files_with_secrets, known_secrets


class CurrentSecrets:
    """Reads bench.toml, and what else may hold secrets, again when it has changed."""

    def __init__(self, *homes: Path) -> None:
        self._homes = homes
        self._files: Sequence[Path] = ()
        self._state: list[tuple[int, int]] | None = None
        self._secrets = Secrets()

    def now(self) -> Secrets:
        """What must not be told."""
        state = list(map(_state, self._files))
        if not self._files or state != self._state:
            self._files = files_with_secrets(*self._homes)
            self._state = list(map(_state, self._files))
            self._secrets = known_secrets(*self._homes)
        return self._secrets


def _state(file: Path) -> tuple[int, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size
