"""Rendering of HTML pages and images, and storage of uploaded images."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import BoundedSemaphore

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.escaping import escape_controls, escape_to_one_line
from bench_resources.images.locations import ImageLocation
from bench_resources.images.store import inspect_image

FOLDER = Path(__file__).parent


def render_page(name: str, status: int = 200, **context: object) -> Response:
    """Render a template as a response."""
    text = _templates().get_template(name).render(**context)
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"printable": escape_controls, "one_line": escape_to_one_line}
    return environment


class RefusedError(BenchError):
    """A refused request; its text is shown to the visitor."""

    def __init__(self, status: int, sentence: str, *, retry_after: float = 0.0) -> None:
        super().__init__(sentence)
        self.status = status
        self.retry_after = retry_after  # s, for the header Retry-After; 0: none


MOST_BYTES = 20 * 2**20  # bytes of an upload
_MOST_PIXELS = 50_000_000  # px of an upload
_MAX_DECODING = 2  # uploads decoded at once; each takes memory for all its pixels


@dataclass(frozen=True, slots=True)
class Uploads:
    """Stores uploaded images."""

    place: ImageLocation
    _slots: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_MAX_DECODING))

    def keep(self, data: bytes) -> str:
        """Store an image; returns its SHA-256.

        Raises:
            ImageError: If it does not decode, or is too large.
        """
        with self._slots:
            image = inspect_image(data, "upload", _MOST_PIXELS, MOST_BYTES)
            self.place.write(image.sha256, data)
            return image.sha256
