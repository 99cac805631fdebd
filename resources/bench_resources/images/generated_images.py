"""Generated images: drawn of sprites, or collected from a folder."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.errors import BenchError, ModelError, SourceError
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.core.tables.source_folder import files_below
from bench_resources.images.store import ImageImport, ImageStore

_SIDE = 336  # px
_MOST_THINGS = 400  # sprites in a drawn image
_SMALLEST = 8  # px; side of a sprite that can still be recognized
_SPRITE_COUNT = re.compile(r"exactly ([0-9]+) of: ([a-z][a-z ]*[a-z])")
_GROUNDS = ("white", "whitesmoke", "aliceblue", "honeydew", "lavenderblush", "lightyellow")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRequest:
    """A request for one image."""

    name: str
    prompt: str
    seed: int


def draw_images(requests: Sequence[ImageRequest], image_store: ImageStore) -> ImageImport:
    """Draw and store every image; one that cannot be drawn is a rejection.

    Raises:
        BenchError: If none can be drawn: the error of the first.
    """
    drawn: list[StoredImage] = []
    failed: dict[str, BenchError] = {}
    for request in requests:
        try:
            drawn.append(image_store.put(draw(request), request.name))
        except BenchError as error:
            failed[request.name] = error
    if failed and not drawn:
        raise next(iter(failed.values()))
    return ImageImport(
        drawn,
        [
            Rejection(entry=name, reason=str(error).removeprefix(f"{name}: "))
            for name, error in failed.items()
        ],
    )


def draw(request: ImageRequest) -> bytes:
    """Draw the number of sprites in a prompt ("exactly 3 of: red apple"), without overlap.

    Raises:
        BenchError: If the prompt names no number of sprites, or they do not fit.
    """
    counts = _SPRITE_COUNT.findall(request.prompt)
    if any(len(n) > len(str(_MOST_THINGS)) for n, _ in counts):
        raise ModelError(f"{request.name}: it draws at most {_MOST_THINGS} things")
    things = [(int(n), name) for n, name in counts]
    if not things:
        raise ModelError(
            f"{request.name}: the drawer finds no 'exactly 3 of: red apple' in the prompt "
            f"{request.prompt!r}; name a folder of images as generated in [suites.journeybench]"
        )
    rng = Random(f"{request.prompt}/{request.seed}")
    total = sum(n for n, _ in things)
    if total > _MOST_THINGS:
        raise ModelError(f"{request.name}: {total} things, but it draws at most {_MOST_THINGS}")
    size = next(s for limit, s in ((6, 64), (14, 48), (30, 36), (10**9, 28)) if total <= limit)
    while (image := _draw_scene(things, size, rng)) is None:
        size -= 4
        if size < _SMALLEST:
            raise ModelError(f"{request.name}: {total} things do not fit into the image")
    return image


def _draw_scene(things: Sequence[tuple[int, str]], size: int, rng: Random) -> bytes | None:
    scene = Scene(_SIDE, _SIDE, background=rng.choice(_GROUNDS))
    for n, name in things:
        for _ in range(n):
            corner = scene.free_spot(size, size, rng)
            if corner is None:
                return None
            scene.sprite(name, corner, size, mirrored=rng.random() < 0.5)
    return scene.png()


def collect_images(
    requests: Sequence[ImageRequest], folder: Path, image_store: ImageStore
) -> ImageImport:
    """Store the requested images of a folder; a missing or unreadable one is a rejection.

    An image has the name of its request, or another suffix (``a.jpg`` for ``a.png``).

    Raises:
        SourceError: If the folder has none of them.
    """
    names = {file.relative_to(folder).as_posix(): file for file in files_below(folder)}
    stems = {_stem(name): file for name, file in names.items()}
    files = {
        request.name: file
        for request in requests
        if (file := names.get(request.name) or stems.get(_stem(request.name)))
    }
    if requests and not files:
        raise SourceError(
            f"{folder}: none of the {len(requests)} planned images (expected names such as"
            f" {requests[0].name}). Generate them from the planned prompts, or correct the path"
        )
    collected = image_store.put_files(files, entry="")
    missing = [
        Rejection(entry=request.name, reason=f"no such image in {folder}")
        for request in requests
        if request.name not in files
    ]
    return ImageImport(collected.images, [*collected.rejections, *missing])


def _stem(name: str) -> str:
    return PurePosixPath(name).with_suffix("").as_posix()
