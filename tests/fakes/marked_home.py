"""A home whose source holds only images to mark, and what is built of the marks."""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from bench_assets.annotate.operations import ask
from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.rows import Question
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from bench_resources.images.store import ImageStore

DEPTH, BOXES = "blink/depth_points", "blink/object_boxes"
SIZE = (640, 480)  # px, of every image when it is shown
SCALE = 1024 / SIZE[1]  # of built images, which are 1024 px high
NEAR = 3.0  # px of the original, around where a mark should be


def write_home(folder: Path) -> Path:
    """Write grey photographs to mark, one of them stored on its side; returns the home."""
    for n, (name, orientation) in enumerate({"diw/a.jpg": 6, "lvis/paper_cup/b.jpg": 1}.items()):
        shade = np.random.default_rng(n).integers(60, 200, (12, 16), np.uint8)
        shown = Image.fromarray(shade).resize(SIZE, Image.Resampling.BICUBIC).convert("RGB")
        stored = shown.transpose(Image.Transpose.ROTATE_90) if orientation == 6 else shown
        exif = Image.Exif()
        exif[274] = orientation  # 6: to be turned clockwise
        file = folder / "raw" / "to_mark" / name
        file.parent.mkdir(parents=True)
        stored.save(written := io.BytesIO(), "JPEG", exif=exif, quality=95)
        file.write_bytes(written.getvalue())
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        f'[sources]\nblink = "{folder / "raw"}"\n[annotation]\nkind = "pages"\n'
        f'[annotation.tasks."{DEPTH}"]\n[annotation.tasks."{BOXES}"]\n',
        encoding="utf-8",
    )
    publish(home)
    return home


def publish(home: Path) -> None:
    """Publish the units, and collect the answers."""
    with Workbench(load_settings(home), ["blink"]) as bench:
        ask(bench, DEPTH)
        ask(bench, BOXES)


def built_questions(home: Path) -> Mapping[str, Question]:
    """Build the question table of the answers; its questions by their category."""
    publish(home)
    settings = load_settings(home)
    with Workbench(settings, ["blink"]) as bench:
        assert build_questions(bench, "blink")[1] == []
    rows = tables_of(settings).read(["blink", "questions"], Question)
    return {str(row.category): row for row in rows}


def drawn_pixels(home: Path, question: Question) -> np.ndarray:
    """Where a question's only image is drawn on in red or green: pairs of x, y in original px."""
    (sha256,) = question.images
    pixels = np.asarray(decode(ImageStore(folder=str(home / "images")).read(sha256)).image, int)
    red, green, blue = (pixels[..., channel] for channel in range(3))
    rows, columns = np.nonzero((abs(red - green) > 90) & (blue < 100))
    return np.stack([columns, rows], axis=1) / SCALE
