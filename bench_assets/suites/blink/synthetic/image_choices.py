"""Mini edition, options that are images: paintings, photographs and triplets.

Brightness, contrast and sharpness of the images are balanced so that none of them reveals the right
option: over an edition the right option is equally often the brighter and the darker one, equally
often nearer to the reference in brightness and farther from it, and so on.
"""

import json
from collections.abc import Callable, Iterator, Sequence
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
_STEPS = Look(5.0, 2.0, 450.0)  # between the options of one question
_OPTION_STEPS = ((-1, -2), (-2, 1), (1, 2), (2, -1))
"""Steps of (right, wrong) option from the reference: nearer and farther, below and above."""


def paintings(rng: Random, n: int, seed: int = 0) -> dict[str, bytes]:
    """Draw WikiArt: enough paintings of each style for n questions.

    Args:
        rng: Draws every painting.
        n: Number of questions.
        seed: Seed of the build, which decides the paintings of each question: these are balanced.
    """
    per_style = -(-3 * n // len(_STYLES)) + 1
    names = [f"{style}/painter-{nth:02}.jpg" for style in _STYLES for nth in range(per_style)]
    looks = dict.fromkeys(names, _random_look(rng))
    questions = _triples(names, seed)
    for triple, dealt in zip(questions, _reference_looks(rng, len(questions)), strict=True):
        looks |= dict(zip(triple, dealt, strict=True))
    return pad_to_equal_length(
        {
            name: as_jpeg(match_look(rng, _STYLES[name.split("/")[0]](rng), look))
            for name, look in looks.items()
        }
    )


def real_and_generated(rng: Random, n: int) -> dict[str, bytes]:
    """Write captions, each with a simulated photograph and three simulated generated images.

    The simulated generator smooths every surface and leaves a visible grid.
    """
    files: dict[str, bytes] = {}
    lines = []
    for nth, looks in enumerate(_four_looks(rng, n)):
        names = [f"generated/{nth:02}_{copy}.jpg" for copy in (1, 2, 3)]
        surfaces = [
            mosaic(rng, *_SIZE, 20),
            *(_simulate_generated(mosaic(rng, *_SIZE, 20)) for _ in names),
        ]
        images = [match_look(rng, *look) for look in zip(surfaces, looks, strict=True)]
        encoded = zip((f"real/{nth:02}.jpg", *names), map(as_jpeg, images), strict=True)
        files |= pad_to_equal_length(dict(encoded))
        lines.append(
            {
                "id": f"{nth:02}",
                "caption": f"coloured shapes on a wall, arrangement {nth}",
                "real": f"real/{nth:02}.jpg",
                "generated": names,
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
    for nth, of_triplet in enumerate(looks):
        reference = mosaic(rng, 256, 256, 12)
        positive = np.roll(reference, rng.randint(5, 12), axis=1)
        negative = np.ascontiguousarray(reference.transpose(1, 0, 2))
        variants = (reference, positive, negative)
        looks_of = zip(variants, of_triplet, strict=True)
        encoded = [as_file(match_look(rng, *look), "PNG") for look in looks_of]
        left_wins = nth % 2 == 0
        if not left_wins:
            encoded[1:] = encoded[:0:-1]
        paths = [f"ref/{nth:03}.png", f"distort/{nth:03}_0.png", f"distort/{nth:03}_1.png"]
        files |= pad_to_equal_length(dict(zip(paths, encoded, strict=True)))
        votes = (0.5, 0.5) if nth == n else (float(left_wins), float(not left_wins))
        n_votes = 3 if nth == n + 1 else 7
        rows.append(f"{nth},{votes[0]},{votes[1]},{n_votes},{','.join(paths)}")
    return files | {"data.csv": ("\n".join(rows) + "\n").encode()}


def _random_look(rng: Random) -> Look:
    return Look(rng.uniform(118, 138), rng.uniform(32, 36), rng.uniform(4300, 4700))


def _step_look(middle: Look, steps: Sequence[float]) -> Look:
    parts = zip(middle, _STEPS, steps, strict=True)
    return Look(*(value + step * size for value, size, step in parts))


def _reference_looks(rng: Random, n: int) -> list[tuple[Look, Look, Look]]:
    """Draw n (reference, right, wrong) looks, balanced in every statistic independently."""
    dealt = [_draw_equally(rng, _OPTION_STEPS, n) for _ in _STEPS]
    looks = []
    for steps in zip(*dealt, strict=True):
        middle, (right, wrong) = _random_look(rng), zip(*steps, strict=True)
        looks.append((middle, _step_look(middle, right), _step_look(middle, wrong)))
    return looks


def _four_looks(rng: Random, n: int) -> list[list[Look]]:
    """Draw n times four looks, right option first; its rank is balanced in every statistic."""
    ranks = [_draw_equally(rng, range(4), n) for _ in _STEPS]
    looks = []
    for right in zip(*ranks, strict=True):
        other_ranks = [
            rng.sample([rank for rank in range(4) if rank != own_rank], 3) for own_rank in right
        ]
        middle, steps = _random_look(rng), [right, *zip(*other_ranks, strict=True)]
        looks.append([_step_look(middle, [rank - 1.5 for rank in step]) for step in steps])
    return looks


def _draw_equally(rng: Random, kinds: Sequence[Item], n: int) -> list[Item]:
    """Draw n of the kinds in random order, each equally often."""
    return rng.sample([kinds[nth % len(kinds)] for nth in range(n)], n)


def _triples(names: Sequence[str], seed: int) -> list[list[str]]:
    """Run the builder on empty files: the (reference, right, wrong) paintings of each question."""
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
    for line in (0, 1):
        smooth[line::8] *= 0.85
        smooth[:, line::8] *= 0.85
    return levels(smooth)


def _motif(rng: Random) -> Pixels:
    return levels(0.6 * noise(rng, *_SIZE, finest=8) + 0.4 * mosaic(rng, *_SIZE, 8))


def _dabs(
    rng: Random, motif: Pixels, n: int, unlike: int
) -> Iterator[tuple[int, int, list[float]]]:
    """Draw n places, with the motif's colours there changed by up to ``unlike`` levels."""
    generator = np.random.default_rng(rng.getrandbits(64))
    places = generator.integers((0, 0), _SIZE, (n, 2))
    colours = motif[places[:, 1], places[:, 0]] + generator.uniform(-unlike, unlike, (n, 3))
    for (x, y), colour in zip(places.tolist(), colours.tolist(), strict=True):
        yield x, y, colour


def _dotted(rng: Random) -> Pixels:
    """Pointillism: dots of pure colour on a light ground."""
    motif = _motif(rng)
    canvas = np.full_like(motif, 235)
    for x, y, colour in _dabs(rng, motif, 3500, 30):
        cv2.circle(canvas, (x, y), 3, colour, -1)
    return canvas


def _faceted(rng: Random) -> Pixels:
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


def _stroked(rng: Random) -> Pixels:
    """Impressionism: short strokes that follow one direction of light."""
    motif = _motif(rng)
    canvas = motif.copy()
    slant = rng.uniform(-1, 1)
    for x, y, colour in _dabs(rng, motif, 2500, 25):
        cv2.line(canvas, (x, y), (x + 14, y + round(14 * slant)), colour, 4)
    return canvas


def _printed(rng: Random) -> Pixels:
    """Pop art: few flat, loud colours with black outlines."""
    blurred = cv2.GaussianBlur(_motif(rng), (0, 0), 6)
    loud = levels(np.where(blurred > blurred.mean(axis=(0, 1)), 255, 0))
    edges = cv2.dilate(cv2.Canny(loud, 100, 200), np.ones((3, 3), np.uint8))
    loud[edges > 0] = 0
    return loud


def _fielded(rng: Random) -> Pixels:
    """Color field painting: soft bands of colour, nothing else."""
    bands = rng.randint(2, 5)
    colours = np.array([[[rng.randrange(256) for _ in range(3)]] for _ in range(bands)], np.uint8)
    field = cv2.resize(colours, _SIZE, interpolation=cv2.INTER_LINEAR)
    return levels(0.85 * field + 0.15 * noise(rng, *_SIZE, finest=128))


_STYLES: dict[str, Callable[[Random], Pixels]] = {
    "Color_Field_Painting": _fielded,
    "Cubism": _faceted,
    "Impressionism": _stroked,
    "Pointillism": _dotted,
    "Pop_Art": _printed,
}
