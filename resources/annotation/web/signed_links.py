"""Links that people are handed: signed, of one person, for some tasks, for some time.

A link holds a pseudonym and no name. What signs lies beside the answers, in a file that only its
owner may read. Whoever has a link answers in that person's place: links are to be sent like keys.
"""

import base64
import binascii
import hmac
import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from bench_assets.annotation.tasks import AnnotationError
from bench_assets.core.schema.errors import BenchError
from resources.annotation.web.store import Store
from resources.storage.atomic_write import describe_write_errors

NAME = "pages.key"
"""Of the file with the key, in ``annotation/`` of the home folder."""

_BYTES = 32
_PERSON = re.compile(r"\w[\w.+-]{0,63}")


class LinkError(BenchError):
    """A link opens nothing: forged, expired or revoked."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a link says."""

    person: str  # a pseudonym
    tasks: tuple[str, ...]  # (): all that are asked
    until: int  # s since 1970
    edition: int  # how often the person's links were revoked before


@dataclass(frozen=True, slots=True)
class Links:
    """Makes links, and reads them."""

    store: Store
    key: bytes

    @classmethod
    def beside(cls, store: Store) -> "Links":
        """Take the key that lies beside the answers; one is drawn where there is none.

        Raises:
            AnnotationError: If it cannot be read or written, is none, or others may read it too.
        """
        return cls(store, _key(store.file.with_name(NAME)))

    def make(self, person: str, tasks: tuple[str, ...], until: int) -> str:
        """Sign a link.

        Raises:
            AnnotationError: If the pseudonym is none that fits into one.
        """
        if not _PERSON.fullmatch(person):
            raise AnnotationError(
                f"{person!r:.80} is no pseudonym: up to 64 letters, digits and . _ - +; to an"
                " address [annotation.names] of bench.toml gives one"
            )
        said = json.dumps([person, list(tasks), until, self._edition(person)]).encode()
        return f"{_text(said)}.{_text(self._sign(said))}"

    def read(self, token: str, now: float) -> Link:
        """Read a link.

        Raises:
            LinkError: If it was not signed here, its time is over, or it was revoked.
        """
        said, _, signature = token.partition(".")
        try:
            bytes_said, signed = _bytes(said), _bytes(signature)
        except (binascii.Error, ValueError) as why:
            raise LinkError("This link is not whole: open it just as it was sent to you.") from why
        if not hmac.compare_digest(self._sign(bytes_said), signed):
            raise LinkError("This link is not whole: open it just as it was sent to you.")
        person, tasks, until, edition = json.loads(bytes_said)
        if until < now:
            raise LinkError("The time of this link is over: ask who sent it for a new one.")
        if edition != self._edition(person):
            raise LinkError("This link was revoked: ask who sent it for a new one.")
        return Link(person, tuple(tasks), until, edition)

    def revoke(self, person: str) -> None:
        """Void all links of a person that were made so far."""
        with self.store.writing() as db:
            db.execute(
                "INSERT INTO links VALUES (?, 1) ON CONFLICT DO UPDATE SET voided = voided + 1",
                (person,),
            )

    def form_token(self, token: str) -> str:
        """What a task holds to show that it came from a page of ours, for whoever has the link."""
        return _text(hmac.digest(self.key, b"form:" + token.encode(), "sha256"))

    def is_form_token(self, given: str, token: str) -> bool:
        """Whether a task came from a page of ours."""
        return hmac.compare_digest(given.encode(), self.form_token(token).encode())

    def _sign(self, said: bytes) -> bytes:
        return hmac.digest(self.key, b"link:" + said, "sha256")

    def _edition(self, person: str) -> int:
        if not self.store.exists:
            return 0
        with self.store.reading() as db:
            row = db.execute("SELECT voided FROM links WHERE person = ?", (person,)).fetchone()
        return int(row[0]) if row else 0


def _key(file: Path) -> bytes:
    try:
        with describe_write_errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            _draw(file)
            if file.stat().st_mode & 0o077:
                raise AnnotationError(f"{file}: others may read this key; `chmod 600` it")
            key = bytes.fromhex(file.read_text(encoding="ascii"))
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        raise AnnotationError(
            f"{file}: no key; delete it: another is drawn, all links are void then"
        )
    return key


def _draw(file: Path) -> None:
    """Draw a key where there is none: whole, or not at all."""
    if file.exists():
        return
    aside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as drawn:
        drawn.write(secrets.token_hex(_BYTES))
    try:
        os.link(aside, file)  # where another process was faster, its key stays
    except FileExistsError:
        pass
    finally:
        aside.unlink()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
