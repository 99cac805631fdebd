"""The questions: each has an image of its own, so that none is answered from what is kept."""

import io
import random
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt
from bench_resources.response_cache.engine import ReadImage

_SIZE = (640, 480)  # px
_TEXT = "Question {number}: what is in the image? Answer with one word."


@dataclass(frozen=True, slots=True, kw_only=True)
class Album:
    """Questions, whose images lie in a folder under their digests."""

    folder: Path

    def questions(self, n: int, seed: int) -> list[Prompt]:
        """Draw ``n`` questions; another seed draws other images of the same size."""
        rng = random.Random(seed)
        return [Prompt.of(self._image(rng), _TEXT.format(number=i)) for i in range(n)]

    @property
    def read(self) -> ReadImage:
        """Finds the images; can be sent to another process."""
        return partial(_read, self.folder)

    def _image(self, rng: random.Random) -> Image:
        coarse = PILImage.frombytes("RGB", (64, 48), rng.randbytes(64 * 48 * 3))
        written = io.BytesIO()
        coarse.resize(_SIZE, PILImage.Resampling.BICUBIC).save(written, "JPEG", quality=90)
        digest = sha256(written.getvalue()).hexdigest()
        (self.folder / digest).write_bytes(written.getvalue())
        return Image(digest)


def _read(folder: Path, digest: str) -> bytes:
    return (folder / digest).read_bytes()
