"""Addresses that change while a run asks: a file with one a line, that is looked at again."""

import logging
from pathlib import Path
from time import monotonic

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import without_named
from resources.config.sections.servers import ServerSpec, is_url

_log = logging.getLogger("bench_assets.server")


class AddressFile:
    """Reads the addresses of a section and of its file; blank lines, and those with #, are none."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._file = Path(spec.addresses_file)
        self._last: list[str] = []
        self._passed_over: set[str] = set()
        self._empty_since: float | None = None  # s on the monotonic clock

    def __call__(self) -> list[str]:
        """Where to ask at the moment; what was there the last time, if the file cannot be read.

        Raises:
            ModelError: If it never could be read, or there has been no address for ``max_wait``.
        """
        try:
            lines = self._file.read_text("utf-8", "replace").splitlines()
        except OSError as why:
            if not (self._last or self._spec.addresses):
                raise ModelError(f"{self._file}: cannot be read: {why.strerror}") from why
            return self._last or list(self._spec.addresses)
        written = [line.strip() for line in lines]
        named = [one.rstrip("/") for one in written if one and not one.startswith("#")]
        self._last = list(dict.fromkeys([*self._spec.addresses, *filter(self._taken, named)]))
        self._refuse_to_wait_longer()
        return self._last

    def _taken(self, address: str) -> bool:
        if is_url(address):
            return True
        if address not in self._passed_over:
            self._passed_over.add(address)
            _log.warning("%s: no address: %s", self._file, without_named(address))
        return False

    def _refuse_to_wait_longer(self) -> None:
        if self._last:
            self._empty_since = None
            return
        self._empty_since = monotonic() if self._empty_since is None else self._empty_since
        if monotonic() - self._empty_since > self._spec.max_wait:
            raise ModelError(f"{self._file}: no address for {self._spec.max_wait:g} s (max_wait)")
