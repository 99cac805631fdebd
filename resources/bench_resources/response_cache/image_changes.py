"""Image changes made by decoding, as part of a response's identity.

Decoder versions differ only for images that are rotated, transparent, of more than 8 bits, and the
like. Only responses to those images depend on the decoder's version.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from bench_assets.core.images.decoding import DECODER_VERSION, NOTES, Change, decoding_changes
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ImageError
from bench_resources.response_cache.engine import ReadImage

Changes: TypeAlias = frozenset[Change]
Arrivals: TypeAlias = Iterator[tuple[int, Response]]

LOCAL_CHANGES: Changes = frozenset({"laid on white", "scaled"})
"""Changes that local engines make since version 1 of the decoder."""

PYTHON_CHANGES: Changes = LOCAL_CHANGES | {"turned"}
"""Changes that the image store's ``open`` and models in Python make since version 1."""

SERVER_CHANGES: Changes = PYTHON_CHANGES | {"first frame", "inks"}
"""Changes that servers see since version 1; before, they were sent the original file."""


class ImageChangeRecorder:
    """Inspects each image once."""

    def __init__(self, read_image: ReadImage, new: Changes) -> None:
        """Store the reader.

        Args:
            read_image: Reads an image by digest.
            new: Image changes that version 1 of the decoder introduced.
        """
        self._read_image = read_image
        self._new = new
        self._seen: dict[str, Changes] = {}

    def mark(self, sha256: str) -> str:
        """Decoder version if decoding changes the pixels of an image, else ""."""
        return f"images@{DECODER_VERSION}" if self._changes(sha256) & self._new else ""

    def particulars(self, request: Request) -> str:
        """Decoder version if decoding changes the pixels of an image of the prompt, else ""."""
        return next(filter(None, (self.mark(image.sha256) for image in request.prompt.images)), "")

    def noted(self, requests: Sequence[Request], arrivals: Arrivals) -> Arrivals:
        """Add a note to responses to images with several frames or a truncated file."""
        for position, response in arrivals:
            yield position, self._noted(requests[position], response)

    def _noted(self, request: Request, response: Response) -> Response:
        images = enumerate(request.prompt.images, 1)
        change_notes = [
            f"image {number}: {note}"
            for number, image in images
            for change, note in NOTES.items()
            if change in self._changes(image.sha256)
        ]
        notes = filter(None, [response.note, *change_notes])
        return replace(response, note="; ".join(notes)) if change_notes else response

    def _changes(self, sha256: str) -> Changes:
        if sha256 not in self._seen:
            try:
                self._seen[sha256] = decoding_changes(self._read_image(sha256))
            except ImageError:  # reported as the request's error when it is sent
                return frozenset()
        return self._seen[sha256]
