"""What the decoder changes about the pictures of prompts: part of a reply's identity, and said.

Replies from before the decoder had a version were given to pictures that were shown as they are
now, but for the few that were turned, transparent, of more than 8 bits, ... Only those are asked
about again, and again with a later version.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from bench_assets.core.images.decoding import FIRST_FRAME, VERSION, Change, changes_of
from bench_assets.core.schema.chat import Reply, Request
from bench_assets.core.schema.errors import ImageError
from resources.response_cache.engine import ReadImage

Changes: TypeAlias = frozenset[Change]
Arrivals: TypeAlias = Iterator[tuple[int, Reply]]

LOCALLY: Changes = frozenset({"laid on white", "scaled"})
"""What the local engines did not do before version 1."""

OPENED: Changes = LOCALLY | {"turned"}
"""What the image store's ``open`` and models in Python did not do."""

SERVED: Changes = OPENED | {"first frame", "inks"}
"""What was left to servers: they were sent the file."""


class ShownPictures:
    """Looks at each picture once."""

    def __init__(self, read_image: ReadImage, new: Changes) -> None:
        """Prepare to look.

        Args:
            read_image: Finds the pictures that prompts name.
            new: The changes that were not made before version 1.
        """
        self._read_image = read_image
        self._new = new
        self._seen: dict[str, Changes] = {}

    def mark(self, sha256: str) -> str:
        """The decoder's version where it changes the pixels of a picture, else ""."""
        return f"pictures@{VERSION}" if self._changes(sha256) & self._new else ""

    def particulars(self, request: Request) -> str:
        """The decoder's version where it changes the pixels of a picture of a prompt, else ""."""
        return next(filter(None, (self.mark(one.sha256) for one in request.prompt.images)), "")

    def noted(self, requests: Sequence[Request], arrivals: Arrivals) -> Arrivals:
        """Say of replies to prompts with pictures of several frames that one of them was shown."""
        for position, reply in arrivals:
            yield position, self._noted(requests[position], reply)

    def _noted(self, request: Request, reply: Reply) -> Reply:
        pictures = enumerate(request.prompt.images, 1)
        moving = [n for n, one in pictures if "first frame" in self._changes(one.sha256)]
        notes = [reply.note, *(f"picture {n}: {FIRST_FRAME}" for n in moving)]
        return replace(reply, note="; ".join(filter(None, notes))) if moving else reply

    def _changes(self, sha256: str) -> Changes:
        if sha256 not in self._seen:
            try:
                self._seen[sha256] = changes_of(self._read_image(sha256))
            except ImageError:  # which is the request's error, once it is asked
                return frozenset()
        return self._seen[sha256]
