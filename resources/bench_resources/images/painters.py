"""Generated images: drawn of sprites, requested from a server, or collected from a folder."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random
from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.errors import BenchError, ImageError, ModelError, SourceError
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.core.tables.source_folder import files_below
from bench_resources.config.addresses import Address, fill_keys, shown_address
from bench_resources.config.environment import read_secret, require_variable_name
from bench_resources.http.pages import send_bounded
from bench_resources.images.locations import is_digest
from bench_resources.images.store import ImageImport, ImageStore
from bench_resources.storage.blobs.port import Blobs

_SIDE = 336  # px
_MOST_THINGS = 400  # sprites in a drawn image
_SMALLEST = 8  # px; side of a sprite that can still be recognized
_MOST_BYTES = 256 * 2**20  # of a server's response: an image as base64
_OPTIONAL_FIELDS = ("seed", "response_format")  # which OpenAI's own models refuse
_SPRITE_COUNT = re.compile(r"exactly ([0-9]+) of: ([a-z][a-z ]*[a-z])")
_GROUNDS = ("white", "whitesmoke", "aliceblue", "honeydew", "lavenderblush", "lightyellow")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRequest:
    """A request for one image."""

    name: str
    prompt: str
    seed: int


class _PainterSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DrawerSpec(_PainterSection):
    """Draws a prompt of the form "exactly 3 of: red apple", without a model."""

    kind: Literal["drawer"] = "drawer"


class ImagesServerSpec(_PainterSection):
    """A model behind the images endpoint of an OpenAI-compatible server."""

    kind: Literal["server"]
    base_url: Address = Field(pattern=r"^https?://[^/@?#\s]+(/[^?#\s]*)?$")
    """Up to and including ``/v1``; ``{MY_KEY}`` in it is replaced by an environment variable."""
    model: str
    api_key_env: Annotated[str, AfterValidator(require_variable_name)] = ""
    """Name of the environment variable with the key."""
    concurrency: int = Field(4, gt=0)
    timeout: float = Field(300.0, gt=0)
    """Seconds for one image."""


class ImageFolderSpec(_PainterSection):
    """A folder of images that another program generated from the planned prompts."""

    kind: Literal["folder"]
    path: Path
    """Folder, absolute or relative to bench.toml; files have the planned names."""


PainterSpec: TypeAlias = Annotated[
    DrawerSpec | ImagesServerSpec | ImageFolderSpec, Field(discriminator="kind")
]


class Painter(Protocol):
    """Port of text-to-image generators."""

    concurrency: int
    """The most concurrent calls of ``paint``."""

    @property
    def identity(self) -> str:
        """Identity of the painter: part of an image's identity."""
        ...

    def paint(self, request: ImageRequest) -> bytes:
        """Generate one image; returns its encoded bytes.

        Raises:
            ModelError: If it cannot be made; names the request.
        """
        ...


class Drawer:
    """Draws the number of sprites in the prompt, without overlap."""

    identity = "drawer@1"
    concurrency = 1

    def paint(self, request: ImageRequest) -> bytes:
        """Draw one image; the prompt must name a number of things."""
        counts = _SPRITE_COUNT.findall(request.prompt)
        if any(len(n) > len(str(_MOST_THINGS)) for n, _ in counts):
            raise ModelError(f"{request.name}: it draws at most {_MOST_THINGS} things")
        things = [(int(n), name) for n, name in counts]
        if not things:
            raise ModelError(
                f"{request.name}: the drawer finds no 'exactly 3 of: red apple' in the prompt "
                f"{request.prompt!r}; configure a painter in [suites.journeybench.painter]"
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


class ServerPainter:
    """Generates by ``POST {base_url}/images/generations``, one image per request."""

    def __init__(self, spec: ImagesServerSpec) -> None:
        self._spec = spec
        self.concurrency = spec.concurrency

    @property
    def identity(self) -> str:
        """Address and model."""
        return f"server:{shown_address(self._spec.base_url.rstrip('/'))}|{self._spec.model}"

    def paint(self, request: ImageRequest) -> bytes:
        """Request one image; seed and format are sent unless the server refuses them."""
        spec = self._spec
        body = {
            "model": spec.model,
            "prompt": request.prompt,
            "n": 1,
            "seed": request.seed,
            "response_format": "b64_json",
        }
        url = f"{spec.base_url.rstrip('/')}/images/generations"
        try:
            status, answer = self._send(url, body)
            while (field := _refused_field(status, answer)) in body:
                del body[field]
                status, answer = self._send(url, body)
            if status != 200:
                raise OSError(f"HTTP {status}")
            return base64.b64decode(json.loads(answer)["data"][0]["b64_json"])
        except OSError as error:
            raise ModelError(f"{url}: no image for {request.name}: {error}") from error
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            raise ModelError(
                f"{url}: {request.name}: the response holds no image: {error!r}"
            ) from error

    def _send(self, url: str, body: Mapping[str, object]) -> tuple[int, bytes]:
        spec = self._spec
        headers = {"Content-Type": "application/json"}
        if spec.api_key_env:
            headers["Authorization"] = f"Bearer {read_secret(spec.api_key_env)}"
        return send_bounded(
            fill_keys(url),
            body=json.dumps(body).encode(),
            headers=headers,
            timeout=spec.timeout,
            most=_MOST_BYTES,
        )


def _refused_field(status: int, answer: bytes) -> str:
    """Optional field that a server does not have, as its error says; "" for all else."""
    if status != 400:
        return ""
    try:
        field = json.loads(answer)["error"]["param"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return field if field in _OPTIONAL_FIELDS else ""


def _draw_scene(things: Sequence[tuple[int, str]], size: int, rng: Random) -> bytes | None:
    scene = Scene(_SIDE, _SIDE, background=rng.choice(_GROUNDS))
    for n, name in things:
        for _ in range(n):
            corner = scene.room(size, size, rng)
            if corner is None:
                return None
            scene.sprite(name, corner, size, mirrored=rng.random() < 0.5)
    return scene.png()


def open_painter(spec: DrawerSpec | ImagesServerSpec) -> Painter:
    """Open the painter of a section."""
    return Drawer() if isinstance(spec, DrawerSpec) else ServerPainter(spec)


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


def paint_images(
    requests: Sequence[ImageRequest], painter: Painter, image_store: ImageStore, notes: Blobs
) -> ImageImport:
    """Generate every image that this painter has not made before, and store all of them.

    Each image is recorded as soon as it is made: a killed run loses only those in progress. An
    image that cannot be made is a rejection, and is tried again by the next call.

    Raises:
        BenchError: If no image can be made: the error of the first.
    """

    def stored(request: ImageRequest) -> StoredImage | BenchError:
        try:
            return _paint_or_reuse(request, painter, image_store, notes)
        except BenchError as error:
            return error

    with ThreadPoolExecutor(painter.concurrency) as threads:
        results = list(threads.map(stored, requests))
    painted = [result for result in results if isinstance(result, StoredImage)]
    failed = {
        request.name: result
        for request, result in zip(requests, results, strict=True)
        if isinstance(result, BenchError)
    }
    if failed and not painted:
        raise next(iter(failed.values()))
    rejections = [
        Rejection(entry=name, reason=str(error).removeprefix(f"{name}: "))
        for name, error in failed.items()
    ]
    return ImageImport(painted, rejections)


def _paint_or_reuse(
    request: ImageRequest, painter: Painter, image_store: ImageStore, notes: Blobs
) -> StoredImage:
    key = json.dumps([painter.identity, request.prompt, request.seed])
    note = hashlib.sha256(key.encode()).hexdigest()
    if before := _recorded_image(notes.get(note), image_store):
        return image_store.put(before, request.name)
    try:
        painted = image_store.put(painter.paint(request), request.name)
    except ImageError as error:
        raise ModelError(f"{painter.identity}: {request.name}: {error}") from error
    notes.put(note, painted.sha256.encode(), sync=False)
    return painted


def _recorded_image(noted: bytes | None, image_store: ImageStore) -> bytes | None:
    """The image of a recorded digest; None if it was never made, or is no longer in the store."""
    digest = (noted or b"").decode(errors="replace")
    try:
        return image_store.read(digest) if is_digest(digest) else None
    except ImageError:
        return None
