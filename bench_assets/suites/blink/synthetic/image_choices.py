"""Mini edition, options that are images: paintings, photographs and triplets.

Brightness, contrast and sharpness of the images are balanced so that none of them reveals the right
option: over an edition the right option is equally often the brighter and the darker one, equally
often nearer to the reference in brightness and farther from it, and so on.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TypeVar

import cv2
import numpy as np

from bench_assets.suites.blink.builders.drafts import Draft
from bench_assets.suites.blink.builders.image_choices import art_style
from bench_assets.suites.blink.construction.recipes import task_rng
from bench_assets.suites.blink.synthetic.surfaces import (
    Look,
    Pixels,
    as_file,
    as_jpeg,
    levels,
    match_look,
    mosaic,
    noise,
    pad_to_equal_length,
)

Item = TypeVar("Item")

_SIZE = (360, 270)  # px
_STEPS = Look(brightness=5.0, contrast=2.0, sharpness=450.0)  # between the options of one question
_OPTION_STEPS = ((-1, -2), (-2, 1), (1, 2), (2, -1))
"""Steps of (right, wrong) option from the reference: nearer and farther, below and above."""


def paintings(rng: Random, n: int, seed: int = 0) -> dict[str, bytes]:
    """Draw WikiArt: enough paintings of each style for n questions.

    ``seed`` is the seed of the build, which decides the paintings of each question.
    """
    per_style = ceil(3 * n / len(_STYLES)) + 1  # a question shows three; one is kept in reserve
    names = [f"{style}/painter-{index:02}.jpg" for style in _STYLES for index in range(per_style)]
    looks = dict.fromkeys(names, _random_look(rng))
    triples = _painting_triples(names, seed)
    for triple, triple_looks in zip(triples, _reference_looks(rng, len(triples)), strict=True):
        looks |= dict(zip(triple, triple_looks, strict=True))
    files = {}
    for name, look in looks.items():
        style, _ = name.split("/")
        files[name] = as_jpeg(match_look(rng, _STYLES[style](rng), look))
    return pad_to_equal_length(files)


def real_and_generated(rng: Random, n: int) -> dict[str, bytes]:
    """Write captions, each with a simulated photograph and three simulated generated images.

    The simulated generator smooths every surface and leaves a visible grid.
    """
    files: dict[str, bytes] = {}
    lines = []
    for index, looks in enumerate(_four_looks(rng, n)):
        real = f"real/{index:02}.jpg"
        generated = [f"generated/{index:02}_{number}.jpg" for number in (1, 2, 3)]
        surfaces = [
            mosaic(rng, *_SIZE, 20),
            *(_simulate_generated(mosaic(rng, *_SIZE, 20)) for _ in generated),
        ]
        encoded = [
            as_jpeg(match_look(rng, surface, look))
            for surface, look in zip(surfaces, looks, strict=True)
        ]
        files |= pad_to_equal_length(dict(zip([real, *generated], encoded, strict=True)))
        lines.append(
            {
                "id": f"{index:02}",
                "caption": f"coloured shapes on a wall, arrangement {index}",
                "real": real,
                "generated": generated,
            }
        )
    files["captions.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return files


def triplets(rng: Random, n: int) -> dict[str, bytes]:
    """Write NIGHTS triplets: an image, a slight variation, and one that shares only its colours.

    Two extra triplets must be rejected: one has a tied vote, one has too few votes.
    """
    files: dict[str, bytes] = {}
    rows = ["id,left_vote,right_vote,votes,ref_path,left_path,right_path"]
    looks = [*_reference_looks(rng, n), *_reference_looks(rng, 2)]
    for index, triplet_looks in enumerate(looks):
        surface = mosaic(rng, 256, 256, 12)
        variation = np.roll(surface, rng.randint(5, 12), axis=1)
        transposed = np.ascontiguousarray(surface.transpose(1, 0, 2))
        reference, positive, negative = (
            as_file(match_look(rng, image, look), "PNG")
            for image, look in zip((surface, variation, transposed), triplet_looks, strict=True)
        )
        left_wins = index % 2 == 0
        left, right = (positive, negative) if left_wins else (negative, positive)
        paths = [f"ref/{index:03}.png", f"distort/{index:03}_0.png", f"distort/{index:03}_1.png"]
        files |= pad_to_equal_length(dict(zip(paths, (reference, left, right), strict=True)))
        left_vote = 0.5 if index == n else float(left_wins)
        n_votes = 3 if index == n + 1 else 7
        rows.append(f"{index},{left_vote},{1 - left_vote},{n_votes},{','.join(paths)}")
    return files | {"data.csv": ("\n".join(rows) + "\n").encode()}


def _random_look(rng: Random) -> Look:
    return Look(
        brightness=rng.uniform(118, 138),
        contrast=rng.uniform(32, 36),
        sharpness=rng.uniform(4300, 4700),
    )


def _step_look(middle: Look, steps: Sequence[float]) -> Look:
    """Move each statistic by a number of steps."""
    moves = [step * size for step, size in zip(steps, _STEPS, strict=True)]
    return Look(*(value + move for value, move in zip(middle, moves, strict=True)))


def _reference_looks(rng: Random, n: int) -> list[tuple[Look, Look, Look]]:
    """Draw n (reference, right, wrong) looks, balanced in every statistic independently."""
    steps_by_statistic = [_draw_equally(rng, _OPTION_STEPS, n) for _ in _STEPS]
    looks = []
    for steps in zip(*steps_by_statistic, strict=True):
        reference = _random_look(rng)
        right = _step_look(reference, [right_step for right_step, _ in steps])
        wrong = _step_look(reference, [wrong_step for _, wrong_step in steps])
        looks.append((reference, right, wrong))
    return looks


def _four_looks(rng: Random, n: int) -> list[list[Look]]:
    """Draw n times four looks, right option first; its rank is balanced in every statistic."""
    right_ranks_by_statistic = [_draw_equally(rng, range(4), n) for _ in _STEPS]
    looks = []
    for right_ranks in zip(*right_ranks_by_statistic, strict=True):
        ranks_by_statistic = [
            [right_rank, *rng.sample([rank for rank in range(4) if rank != right_rank], 3)]
            for right_rank in right_ranks
        ]
        middle = _random_look(rng)
        ranks_by_option = zip(*ranks_by_statistic, strict=True)
        looks.append(
            [_step_look(middle, [rank - 1.5 for rank in ranks]) for ranks in ranks_by_option]
        )
    return looks


def _draw_equally(rng: Random, values: Sequence[Item], n: int) -> list[Item]:
    """Draw n items in random order, each value as often as the others or, at most, once more."""
    return rng.sample([values[index % len(values)] for index in range(n)], n)


def _painting_triples(names: Sequence[str], seed: int) -> list[list[str]]:
    """Return the (reference, right, wrong) paintings of each question, as the builder draws them.

    The builder looks only at names, so it is run on empty files.
    """
    with TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.touch()
        candidates = art_style(Path(folder), task_rng(seed, "Art_Style"))
        return [
            [file.relative_to(folder).as_posix() for file in draft.originals]
            for draft in candidates
            if isinstance(draft, Draft)
        ]


def _simulate_generated(image: Pixels) -> Pixels:
    smooth = cv2.bilateralFilter(image, 7, 60, 9).astype(np.float32)
    for line in (0, 1):  # a grid of darker lines of 2 px, 8 px apart
        smooth[line::8] *= 0.85
        smooth[:, line::8] *= 0.85
    return levels(smooth)


def _motif(rng: Random) -> Pixels:
    return levels(0.6 * noise(rng, *_SIZE, finest=8) + 0.4 * mosaic(rng, *_SIZE, 8))


def _dabs(
    rng: Random, motif: Pixels, n: int, max_change: int
) -> Iterator[tuple[int, int, list[float]]]:
    """Draw n points (x, y), with the motif's colours there changed by up to ``max_change``."""
    generator = np.random.default_rng(rng.getrandbits(64))
    points = generator.integers((0, 0), _SIZE, (n, 2))
    changes = generator.uniform(-max_change, max_change, (n, 3))  # levels of 255
    colours = motif[points[:, 1], points[:, 0]] + changes
    for (x, y), colour in zip(points.tolist(), colours.tolist(), strict=True):
        yield x, y, colour


def _paint_dots(rng: Random) -> Pixels:
    """Pointillism: dots of pure colour on a light ground."""
    motif = _motif(rng)
    canvas = np.full_like(motif, 235)
    for x, y, colour in _dabs(rng, motif, 3500, 30):
        cv2.circle(canvas, (x, y), 3, colour, -1)
    return canvas


def _paint_facets(rng: Random) -> Pixels:
    """Cubism: angular facets with dark edges, in browns and greys."""
    motif = cv2.cvtColor(_motif(rng), cv2.COLOR_RGB2GRAY)
    canvas = np.full((_SIZE[1], _SIZE[0], 3), 120, np.uint8)
    for _ in range(140):
        x, y = rng.randrange(_SIZE[0]), rng.randrange(_SIZE[1])
        corners = [(x + rng.randint(-45, 45), y + rng.randint(-45, 45)) for _ in range(4)]
        shape = cv2.convexHull(np.array(corners, np.int32))
        light = int(motif[y, x])
        cv2.fillConvexPoly(canvas, shape, (light, int(light * 0.85), int(light * 0.6)))
        cv2.polylines(canvas, [shape], True, (40, 30, 20), 2)
    return canvas


def _paint_strokes(rng: Random) -> Pixels:
    """Impressionism: short strokes that follow one direction of light."""
    motif = _motif(rng)
    canvas = motif.copy()
    slant = rng.uniform(-1, 1)
    for x, y, colour in _dabs(rng, motif, 2500, 25):
        cv2.line(canvas, (x, y), (x + 14, y + round(14 * slant)), colour, 4)
    return canvas


def _paint_outlined_areas(rng: Random) -> Pixels:
    """Pop art: few flat, loud colours with black outlines."""
    blurred = cv2.GaussianBlur(_motif(rng), (0, 0), 6)
    loud = levels(np.where(blurred > blurred.mean(axis=(0, 1)), 255, 0))
    edges = cv2.dilate(cv2.Canny(loud, 100, 200), np.ones((3, 3), np.uint8))
    loud[edges > 0] = 0
    return loud


def _paint_bands(rng: Random) -> Pixels:
    """Color field painting: soft bands of colour, nothing else."""
    n_bands = rng.randint(2, 5)
    colours = np.array([[[rng.randrange(256) for _ in range(3)]] for _ in range(n_bands)], np.uint8)
    field = cv2.resize(colours, _SIZE, interpolation=cv2.INTER_LINEAR)
    return levels(0.85 * field + 0.15 * noise(rng, *_SIZE, finest=128))


_STYLES: dict[str, Callable[[Random], Pixels]] = {
    "Color_Field_Painting": _paint_bands,
    "Cubism": _paint_facets,
    "Impressionism": _paint_strokes,
    "Pointillism": _paint_dots,
    "Pop_Art": _paint_outlined_areas,
}
