"""Makes pictures of prompts, each once."""

import hashlib
import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_assets.core.errors import BenchError, ImageError, ModelError
from bench_assets.core.rows import Rejection, StoredImage
from resources.pictures.images import ImageStore, StoredFiles
from resources.pictures.painters import (
    DiffusersPainter,
    DiffusersSpec,
    Drawer,
    DrawerSpec,
    ImageRequest,
    ImagesServerSpec,
    Painter,
    PainterSpec,
    ServerPainter,
)

_DIGEST = re.compile(r"[0-9a-f]{64}")


def open_painter(spec: PainterSpec) -> Painter:
    """Get ready to paint; a diffusion model is loaded with its first picture."""
    match spec:
        case DrawerSpec():
            return Drawer()
        case DiffusersSpec():
            return DiffusersPainter(spec)
        case ImagesServerSpec():
            return ServerPainter(spec)


def paint_all(
    requests: Sequence[ImageRequest], painter: Painter, images: ImageStore, folder: Path
) -> StoredFiles:
    """Make every picture that this painter did not make before, and store them all.

    A picture is remembered the moment it is made: a killed run loses only what was under way. One
    that cannot be made is a rejection, and tried again the next time.

    Args:
        requests: What to paint; names are kept.
        painter: By whom.
        images: Where pictures go.
        folder: Remembers which picture belongs to which prompt and seed.

    Raises:
        BenchError: If not one can be made: why the first cannot.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def stored(request: ImageRequest) -> StoredImage | BenchError:
        try:
            return _stored(request, painter, images, folder)
        except BenchError as why:
            return why

    with ThreadPoolExecutor(painter.concurrency) as threads:
        results = list(threads.map(stored, requests))
    made = [result for result in results if isinstance(result, StoredImage)]
    failed = {
        request.name: result
        for request, result in zip(requests, results, strict=True)
        if isinstance(result, BenchError)
    }
    if failed and not made:
        raise next(iter(failed.values()))
    return StoredFiles(
        made,
        [
            Rejection(entry=name, reason=str(why).removeprefix(f"{name}: "))
            for name, why in failed.items()
        ],
    )


def _stored(
    request: ImageRequest, painter: Painter, images: ImageStore, folder: Path
) -> StoredImage:
    key = json.dumps([painter.identity, request.prompt, request.seed])
    remembered = folder / hashlib.sha256(key.encode()).hexdigest()
    if before := _made_before(remembered, images):
        return images.put(before, request.name)
    try:
        made = images.put(painter.paint(request), request.name)
    except ImageError as why:
        raise ModelError(f"{painter.identity}: {request.name}: {why}") from why
    remembered.write_text(made.sha256)
    return made


def _made_before(remembered: Path, images: ImageStore) -> bytes | None:
    """The picture of that digest; None if it was never made, or is not in the store any more."""
    try:
        digest = remembered.read_text(encoding="utf-8")
        return images.read(digest) if _DIGEST.fullmatch(digest) else None
    except (FileNotFoundError, UnicodeDecodeError, ImageError):
        return None
