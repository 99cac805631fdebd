"""Pictures that people bring: decoded by the one function that does, then kept as they came."""

from dataclasses import dataclass, field
from threading import BoundedSemaphore

from resources.pictures.images import looked_at
from resources.pictures.places import PicturePlace

MOST_BYTES = 20 * 2**20
_MOST_PIXELS = 50_000_000
_AT_ONCE = 2  # each takes memory for all its pixels


@dataclass(frozen=True, slots=True)
class Uploads:
    """Into the store of all pictures."""

    place: PicturePlace
    _turn: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_AT_ONCE))

    def keep(self, data: bytes) -> str:
        """Keep a picture.

        Returns:
            The SHA-256 of its bytes.

        Raises:
            ImageError: If it does not decode, or is too large.
        """
        with self._turn:
            seen = looked_at(data, "upload", _MOST_PIXELS, MOST_BYTES)
            self.place.keep(seen.sha256, data)
            return seen.sha256
