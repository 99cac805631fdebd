"""Views that were never meant to be looked at: words in cells, to learn to look things up.

Where is it, what is there, how many are there: asked of words strewn at random, many times about
each view. Without these drills the language model learns what is mostly the answer, not to look.
"""

from collections import Counter
from random import Random

from PIL import Image

from bench_assets.journeybench.mini_pictures import WORLD
from examples.tiny_vlm.blink_views import THINGS
from examples.tiny_vlm.lessons import Asked
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import View

_KINDS = ("subjects", "mounts", "accessories", "small", "skies")
_NOUNS = sorted({*THINGS, *(thing["noun"] for kind in _KINDS for thing in WORLD[kind]), "A", "B"})
_TIMES = 2  # that each question is asked


def drill(rng: Random) -> View:
    """Strew words over the cells and ask where they are, what is where, and how many there are."""
    kinds = rng.sample(_NOUNS, rng.randint(2, 7))
    words = [kind for kind in kinds for _ in range(rng.choice((1, 1, 2, 3)))]
    cells = dict(
        zip(
            sorted(rng.sample(range(CELLS**2), len(words))),
            rng.sample(words, len(words)),
            strict=True,
        )
    )
    counts = Counter(words)
    alone = [cell for cell, word in cells.items() if counts[word] == 1]
    talk = [Asked("What is to be seen?", ", ".join(cells.values()))]
    talk += [Asked(f"Where is the {cells[cell]}?", _place(cell)) for cell in alone[:_TIMES]]
    some = rng.sample(sorted(cells), min(_TIMES, len(cells)))
    talk += [Asked(f"What is at {_place(cell)}?", cells[cell]) for cell in some]
    talk += [Asked(f"How many of {word}?", str(counts[word])) for word in kinds[:_TIMES]]
    seen = {cell: [word] for cell, word in cells.items()}
    return View(seen, rng.sample(talk, len(talk)), lambda: Image.new("RGB", (1, 1)))


def _place(cell: int) -> str:
    """Row and column, from 1."""
    return f"{cell // CELLS + 1}, {cell % CELLS + 1}"
