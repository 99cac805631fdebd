"""Hostile and unusual images: each becomes its own rejection, or is seen as a person sees it."""

import base64
import io
import json
from collections.abc import Callable
from functools import partial

from PIL import Image

from bench_assets.core.schema.chat import Image as Shown
from bench_assets.core.schema.errors import BenchError, ImageError
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.api.formats.base import encode_image
from tests.faults.image_files import hostile, photo, saved, whole
from tests.faults.table import Fault, FoundError, Trial


def faults() -> list[Fault]:
    """Each through the door of a plain benchmark, with a good image beside it."""
    torn = [
        Fault(
            group="images",
            name=name,
            made="one of two images of a benchmark",
            must="its own rejection or a question; the other image's question stays",
            attempt=partial(_built, data=data),
        )
        for name, data in hostile().items()
    ]
    seen = [
        Fault(
            group="images",
            name=name,
            made="an image that is whole",
            must="seen by local models and by servers as a person sees it",
            attempt=partial(_decoded, make=make, well=well),
        )
        for name, (make, well) in whole().items()
    ]
    drawn = Fault(
        group="images",
        name="twenty drawn damages to a JPEG, a PNG, a GIF, a WebP and a TIFF",
        made="bytes changed, cut out and put in",
        must="a rejection or an image",
        attempt=_damaged,
        drawn=True,
    )
    return [*torn, *seen, drawn]


def _built(trial: Trial, data: bytes) -> str:
    home = trial.folder
    (home / "good.png").write_bytes(saved(photo()))
    (home / "hostile.png").write_bytes(data)
    rows = [
        {"id": name, "question": "?", "options": ["x", "y"], "answer": "A", "image": f"{name}.png"}
        for name in ("good", "hostile")
    ]
    (home / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    benchmark = FileBenchmarkSettings(file=home / "q.jsonl")
    settings = Settings(home=home, benchmarks={"quiz": benchmark})
    store = ImageStore(folder=str(home / "images"))
    built = build(
        benchmark,
        benchmark_location("quiz", home / "q.jsonl", settings),
        lambda image, name: (
            store.put(image, name) if isinstance(image, bytes) else store.put_file(image, name)
        ),
    )
    ids = [question.question_id for question in built.questions]
    if "quiz/good" not in ids or len(ids) + len(built.rejections) != 2:
        raise FoundError(f"questions {ids}, rejections {built.rejections}")
    question_preview(built.questions, store)
    if "quiz/hostile" in ids:
        _seen_by_all(store, built.questions[-1].images[0])
        return "an image like any other"
    return f"rejected: {built.rejections[0].reason.split(': ')[-1]:.80}"


def _seen_by_all(store: ImageStore, digest: str) -> Image.Image:
    """What the server is sent; the local model's must be the same."""
    local = store.open(digest)
    _, data = encode_image(Shown(digest), store.read)
    with Image.open(io.BytesIO(base64.b64decode(data))) as sent:
        sent.load()
    return local


def _decoded(trial: Trial, make: Callable[[], bytes], well: Callable[[Image.Image], bool]) -> str:
    store = ImageStore(folder=str(trial.folder))
    stored = store.put(make(), "image")
    local = _seen_by_all(store, stored.sha256)
    if local.mode != "RGB" or not well(local):
        corners = [local.getpixel((0, 0)), local.getpixel((local.width // 2, local.height // 2))]
        raise FoundError(f"a local model sees {local.mode} {local.size}, pixels {corners}")
    return "as a person sees it"


def _damaged(trial: Trial) -> str:
    store, refused = ImageStore(folder=str(trial.folder)), 0
    forms = ("JPEG", "PNG", "GIF", "WEBP", "TIFF")
    for number in range(20):
        data = bytearray(saved(photo(), forms[number % len(forms)]))
        for _ in range(trial.rng.randrange(1, 6)):
            at = trial.rng.randrange(len(data))
            some = trial.rng.randbytes(trial.rng.choice((1, 1, 4, 40)))
            data[at : at + trial.rng.choice((0, len(some), 60))] = some
        try:
            store.open(store.put(bytes(data), "drawn").sha256)
        except ImageError:
            refused += 1
        except BenchError as error:
            raise FoundError(f"not an ImageError: {error}") from error
    return f"{refused} of 20 refused"
