"""Makes pictures of prompts, each once."""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_assets.core.errors import ImageError, ModelError
from bench_assets.core.rows import StoredImage
from resources.pictures.images import ImageStore
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
) -> list[StoredImage]:
    """Make every picture that this painter did not make before, and store them all.

    A picture is remembered the moment it is made: a killed run loses only what was under way.

    Args:
        requests: What to paint; names are kept.
        painter: By whom.
        images: Where pictures go.
        folder: Remembers which picture belongs to which prompt and seed.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def stored(request: ImageRequest) -> StoredImage:
        key = hashlib.sha256(
            json.dumps([painter.identity, request.prompt, request.seed]).encode()
        ).hexdigest()
        remembered = folder / key
        if remembered.exists() and images.path(digest := remembered.read_text()).exists():
            return images.put(images.read(digest), request.name)
        try:
            made = images.put(painter.paint(request), request.name)
        except ImageError as why:
            raise ModelError(f"{painter.identity}: {request.name}: {why}") from why
        remembered.write_text(made.sha256)
        return made

    with ThreadPoolExecutor(painter.concurrency) as threads:
        return list(threads.map(stored, requests))
