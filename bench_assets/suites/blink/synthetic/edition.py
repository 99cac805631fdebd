"""The mini edition: raw material in the layouts of the fourteen data sets, drawn with exact truth.

Each task has the n questions its number says, and a few entries more that a rule must refuse.
"""

from pathlib import Path
from random import Random

from bench_assets.core.tables.source_folder import write_files
from bench_assets.suites.blink.synthetic import geometry as mini_geometry
from bench_assets.suites.blink.synthetic import light as mini_light
from bench_assets.suites.blink.synthetic import objects as mini_objects
from bench_assets.suites.blink.synthetic import parts as mini_parts
from bench_assets.suites.blink.synthetic import puzzles as mini_puzzles
from bench_assets.suites.blink.synthetic import styles as mini_styles

MATERIAL = {
    "wikiart": (mini_styles.paintings, 12),
    "tallyqa": (mini_objects.counted, 12),
    "forensics": (mini_light.real_and_generated, 12),
    "funkpoint": (mini_parts.tools, 12),
    "puzzles": (mini_puzzles.puzzles, 12),
    "photographs": (mini_geometry.photographs, 20),
    "wild6d": (mini_geometry.turned_objects, 20),
    "lvis": (mini_objects.boxed, 12),
    "diw": (mini_objects.things_at_depths, 12),
    "iiw": (mini_light.shaded_walls, 18),
    "spair": (mini_parts.animals, 12),
    "vsr": (mini_objects.claims, 12),
    "hpatches": (mini_geometry.planes, 12),
    "nights": (mini_light.triplets, 12),
}


def write(folder: Path, seed: int = 0) -> None:
    """Write the raw material of the mini edition, below the folders that ``recipes`` names.

    The same seed writes the same bytes. Files that hold them already are left alone.

    Args:
        folder: A folder of its own; made if need be.
        seed: Draws every image.
    """
    for name, (draw, n) in MATERIAL.items():
        write_files(folder / name, draw(Random(f"{seed}\n{name}"), n))
