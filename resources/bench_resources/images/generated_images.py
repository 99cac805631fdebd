"""Generated images: drawn of sprites, or collected from a folder."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.errors import BenchError, ModelError, SourceError
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.core.tables.source_folder import files_below
from bench_resources.images.store import ImageImport, ImageStore

_SIDE = 336  # px, side of an image
_MAX_SPRITES = 400  # sprites in a drawn image
_MIN_SIZE = 8  # px, least side of a sprite that can still be recognized
_SPRITE_SIDES = ((6, 64), (14, 48), (30, 36))  # most sprites in an image -> their side in px
_SMALL_SIDE = 28  # px, side of a sprite in an image with more sprites than _SPRITE_SIDES has
_SPRITE_COUNT = re.compile(r"exactly ([0-9]+) of: ([a-z][a-z ]*[a-z])")
_BACKGROUNDS = ("white", "whitesmoke", "aliceblue", "honeydew", "lavenderblush", "lightyellow")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRequest:
    """A request for one image."""

    name: str
    prompt: str
    seed: int


def draw_images(requests: Sequence[ImageRequest], image_store: ImageStore) -> ImageImport:
    """Draw and store images; one that cannot be drawn is a rejection.

    Raises:
        BenchError: If none can be drawn, the error of the first; or if one cannot be stored.
    """
    drawn: list[StoredImage] = []
    failed: dict[str, BenchError] = {}
    for request in requests:
        try:
            png = draw_image(request)
        except BenchError as error:
            failed[request.name] = error
        else:
            drawn.append(image_store.put(png, request.name))
    if failed and not drawn:
        first_error, *_ = failed.values()
        raise first_error
    rejections = [
        Rejection(entry=name, reason=str(error).removeprefix(f"{name}: "))
        for name, error in failed.items()
    ]
    return ImageImport(drawn, rejections)


def draw_image(request: ImageRequest) -> bytes:
    """Draw the number of sprites in a prompt ("exactly 3 of: red apple"), without overlap.

    Raises:
        BenchError: If the prompt names no number of sprites, an unknown one, or more than fit.
    """
    counts = _SPRITE_COUNT.findall(request.prompt)
    if any(len(digits) > len(str(_MAX_SPRITES)) for digits, _ in counts):
        raise ModelError(f"{request.name}: the drawer draws at most {_MAX_SPRITES} things")
    sprites = [(int(digits), name) for digits, name in counts]
    if not sprites:
        raise ModelError(
            f"{request.name}: the drawer finds no 'exactly 3 of: red apple' in the prompt "
            f"{request.prompt!r}; name a folder of images as generated in [suites.journeybench]"
        )
    rng = Random(f"{request.prompt}/{request.seed}")
    total = sum(count for count, _ in sprites)
    if total > _MAX_SPRITES:
        raise ModelError(f"{request.name}: {total} things (expected at most {_MAX_SPRITES})")
    first_size = next((side for limit, side in _SPRITE_SIDES if total <= limit), _SMALL_SIDE)
    for size in range(first_size, _MIN_SIZE - 1, -4):  # 4 px smaller each time
        image = _draw_scene(sprites, size, rng)
        if image is not None:
            return image
    raise ModelError(f"{request.name}: {total} things do not fit into the image")


def _draw_scene(sprites: Sequence[tuple[int, str]], size: int, rng: Random) -> bytes | None:
    """Draw sprites of a size in px, as PNG; None if they do not fit."""
    scene = Scene(width=_SIDE, height=_SIDE, background=rng.choice(_BACKGROUNDS))
    for count, name in sprites:
        for _ in range(count):
            centre = scene.free_spot(size, size, rng)
            if centre is None:
                return None
            scene.sprite(name, centre, size, mirrored=rng.random() < 0.5)
    return scene.png()


def collect_images(
    requests: Sequence[ImageRequest], folder: Path, image_store: ImageStore
) -> ImageImport:
    """Store the requested images of a folder; a missing or unreadable one is a rejection.

    An image has the name of its request. Without one, it is the only file of that name with another
    suffix (``a.jpg`` for ``a.png``); several are a rejection too.

    Raises:
        SourceError: If the folder has none of them.
    """
    names = {file.relative_to(folder).as_posix(): file for file in files_below(folder)}
    names_by_stem: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        names_by_stem[_stem(name)].append(name)
    found = {
        request.name: [request.name]
        if request.name in names
        else names_by_stem[_stem(request.name)]
        for request in requests
    }
    if requests and not any(found.values()):
        raise SourceError(
            f"{folder}: none of the {len(requests)} planned images (expected names such as"
            f" {requests[0].name}). Generate them from the planned prompts, or correct the path"
        )
    files: dict[str, Path] = {}
    rejections: list[Rejection] = []
    for requested, candidates in found.items():
        if len(candidates) == 1:
            files[requested] = names[candidates[0]]
        else:
            several = f"several images in {folder}: {', '.join(candidates)}. Remove all but one"
            reason = several if candidates else f"no such image in {folder}"
            rejections.append(Rejection(entry=requested, reason=reason))
    collected = image_store.put_files(files, entry="")
    return ImageImport(collected.images, [*collected.rejections, *rejections])


def _stem(name: str) -> str:
    return PurePosixPath(name).with_suffix("").as_posix()
