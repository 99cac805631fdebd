"""The secrets of a home folder as they are now, for what runs as long as a server does."""

from pathlib import Path

from bench_assets.core.secrets import Secrets
from resources.settings.environment import known_secrets


class CurrentSecrets:
    """Reads bench.toml again when it has changed."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._state: tuple[int, int] | None = None
        self._secrets = Secrets()

    def now(self) -> Secrets:
        """What must not be told."""
        try:
            stat = (self._home / "bench.toml").stat()
            state = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            state = (0, 0)
        if state != self._state:
            self._state, self._secrets = state, known_secrets(self._home)
        return self._secrets
