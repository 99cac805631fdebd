"""Makes images of prompts, each once."""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from bench_assets.core.schema.errors import BenchError, ImageError, ModelError
from bench_assets.core.schema.rows import Rejection, StoredImage
from resources.images.locations import is_digest
from resources.images.painters import (
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
from resources.images.store import ImageStore, StoredFiles
from resources.storage.blobs.port import Blobs


def open_painter(spec: PainterSpec) -> Painter:
    """Get ready to paint; a diffusion model is loaded with its first image."""
    match spec:
        case DrawerSpec():
            return Drawer()
        case DiffusersSpec():
            return DiffusersPainter(spec)
        case ImagesServerSpec():
            return ServerPainter(spec)


def paint_all(
    requests: Sequence[ImageRequest], painter: Painter, image_store: ImageStore, notes: Blobs
) -> StoredFiles:
    """Make every image that this painter did not make before, and store them all.

    An image is remembered the moment it is made: a killed run loses only what was under way. One
    that cannot be made is a rejection, and tried again the next time.

    Args:
        requests: What to paint; names are kept.
        painter: By whom.
        image_store: Where images go.
        notes: Remember which image belongs to which prompt and seed.

    Raises:
        BenchError: If not one can be made: why the first cannot.
    """

    def stored(request: ImageRequest) -> StoredImage | BenchError:
        try:
            return _stored(request, painter, image_store, notes)
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
    rejections = [
        Rejection(entry=name, reason=str(why).removeprefix(f"{name}: "))
        for name, why in failed.items()
    ]
    return StoredFiles(made, rejections)


def _stored(
    request: ImageRequest, painter: Painter, image_store: ImageStore, notes: Blobs
) -> StoredImage:
    key = json.dumps([painter.identity, request.prompt, request.seed])
    note = hashlib.sha256(key.encode()).hexdigest()
    if before := _made_before(notes.get(note), image_store):
        return image_store.put(before, request.name)
    try:
        made = image_store.put(painter.paint(request), request.name)
    except ImageError as why:
        raise ModelError(f"{painter.identity}: {request.name}: {why}") from why
    notes.put(note, made.sha256.encode(), sync=False)
    return made


def _made_before(noted: bytes | None, image_store: ImageStore) -> bytes | None:
    """The image of that digest; None if it was never made, or is not in the store any more."""
    digest = (noted or b"").decode(errors="replace")
    try:
        return image_store.read(digest) if is_digest(digest) else None
    except ImageError:
        return None
