"""Signed links: one annotator, some annotation tasks, until a time.

A link holds a pseudonym and no name. Its holder answers as that person: send links like keys. The
signing key is a file beside the answers that only its owner may read.
"""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench_assets.annotation.tasks import AnnotationError
from bench_assets.core.schema.errors import BenchError
from resources.annotation.web.store import Store
from resources.storage.atomic_write import describe_write_errors

if TYPE_CHECKING:
    from itsdangerous import URLSafeSerializer

NAME = "pages.key"
"""File of the signing key, in ``annotation/`` of the home folder."""

_KEY = re.compile(r"[0-9a-f]{64}")
_PERSON = re.compile(r"\w[\w.+-]{0,63}")


class LinkError(BenchError):
    """A link is forged, expired or revoked."""


@dataclass(frozen=True, slots=True)
class Link:
    """The content of a link."""

    person: str  # a pseudonym
    tasks: tuple[str, ...]  # (): all
    until: int  # s since 1970


@dataclass(frozen=True, slots=True)
class Links:
    """Signs, verifies and revokes links."""

    store: Store
    key: str

    @classmethod
    def beside(cls, store: Store) -> "Links":
        """Use the signing key beside the answers, which is created if missing.

        Raises:
            AnnotationError: If the key cannot be read or written, or others may read it.
        """
        return cls(store, _key(store.file.with_name(NAME)))

    def make(self, person: str, tasks: tuple[str, ...], until: int) -> str:
        """Sign a link.

        Raises:
            AnnotationError: If ``person`` is not a pseudonym.
        """
        if not _PERSON.fullmatch(person):
            raise AnnotationError(
                f"{person!r:.80}: not a pseudonym (expected up to 64 letters, digits and . _ - +)."
                " Give addresses a pseudonym in [annotation.names] of bench.toml."
            )
        return self._serializer.dumps([person, tasks, until, self._revocations(person)])

    def read(self, token: str, now: float) -> Link:
        """Verify a link.

        Raises:
            LinkError: If it is forged, expired or revoked.
        """
        from itsdangerous import BadData

        try:
            person, tasks, until, revocations = self._serializer.loads(token)
        except BadData as why:
            raise LinkError("This link is incomplete. Open it exactly as it was sent.") from why
        if until < now:
            raise LinkError("This link has expired. Ask its sender for a new one.")
        if revocations != self._revocations(person):
            raise LinkError("This link was revoked. Ask its sender for a new one.")
        return Link(person, tuple(tasks), until)

    def revoke(self, person: str) -> None:
        """Revoke all existing links of a person."""
        with self.store.writing() as db:
            db.execute(
                "INSERT INTO links VALUES (?, 1) ON CONFLICT DO UPDATE SET voided = voided + 1",
                (person,),
            )

    @property
    def _serializer(self) -> "URLSafeSerializer":
        from itsdangerous import URLSafeSerializer

        return URLSafeSerializer(self.key, salt="link")

    def _revocations(self, person: str) -> int:
        if not self.store.exists:
            return 0
        with self.store.reading() as db:
            row = db.execute("SELECT voided FROM links WHERE person = ?", (person,)).fetchone()
        return int(row[0]) if row else 0


def _key(file: Path) -> str:
    with describe_write_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
                new.write(secrets.token_hex(32))
        except FileExistsError:
            pass
        if file.stat().st_mode & 0o077:
            raise AnnotationError(f"{file}: readable by others. Run `chmod 600` on it.")
        key = file.read_text(encoding="ascii", errors="replace")
    if not _KEY.fullmatch(key):
        raise AnnotationError(f"{file}: not a key. Delete it; all links are void then.")
    return key
