"""The mini edition: synthetic files in the layouts of the fourteen data sets, with exact keys.

``MATERIAL`` has the number of questions of each task. Some data sets also have a few entries that a
rule must reject.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

from bench_assets.core.tables.source_folder import write_files
from bench_assets.suites.blink.synthetic.geometry import (
    animals,
    photographs,
    planes,
    tools,
    turned_objects,
)
from bench_assets.suites.blink.synthetic.image_choices import (
    paintings,
    real_and_generated,
    triplets,
)
from bench_assets.suites.blink.synthetic.objects import (
    boxed_objects,
    claims,
    counted_objects,
    objects_at_depths,
)
from bench_assets.suites.blink.synthetic.surfaces import puzzles, shaded_walls

MATERIAL: dict[str, tuple[Callable[[Random, int], dict[str, bytes]], int]] = {
    "wikiart": (paintings, 12),
    "tallyqa": (counted_objects, 12),
    "forensics": (real_and_generated, 12),
    "funkpoint": (tools, 12),
    "puzzles": (puzzles, 12),
    "photographs": (photographs, 20),
    "wild6d": (turned_objects, 20),
    "lvis": (boxed_objects, 12),
    "diw": (objects_at_depths, 12),
    "iiw": (shaded_walls, 18),
    "spair": (animals, 12),
    "vsr": (claims, 12),
    "hpatches": (planes, 12),
    "nights": (triplets, 12),
}


def material(name: str, seed: int) -> dict[str, bytes]:
    """Draw the files of one data set, by path; the same seed gives the same bytes."""
    draw, n = MATERIAL[name]
    rng = Random(f"{seed}\n{name}")
    if draw is paintings:  # the seed of the build decides which paintings a question shows
        return paintings(rng, n, seed)
    return draw(rng, n)


def write(folder: Path, seed: int = 0) -> None:
    """Write all data sets to the folders that ``RECIPES`` expects.

    Files with the same content are left untouched.
    """
    for name in MATERIAL:
        write_files(folder / name, material(name, seed))
