"""Images of which is known what lies where.

A view is cut into 8 x 8 cells, the patches of the model, and each cell has the words for what has
its middle there. So a view can be told in words, without being drawn.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from PIL import Image

from examples.tiny_vlm.lessons import Asked
from examples.tiny_vlm.model import CELLS

Cells: TypeAlias = Mapping[int, Sequence[str]]  # row by row from 0; empty ones left out
Size: TypeAlias = tuple[int, int]  # px


@dataclass(frozen=True, slots=True)
class View:
    """What is to be seen, and what is asked about it."""

    cells: Sequence[Cells]  # of each image
    talk: Sequence[Asked]
    draw: Callable[[], Sequence[Image.Image]]


@dataclass(frozen=True, slots=True)
class Part:
    """A thing in a view: what it is called, where its middle lies, and its longer side; px."""

    name: str
    x: int
    y: int
    size: int


def cells_of(named: Iterable[tuple[str, float, float]], size: Size) -> dict[int, list[str]]:
    """Sort what has a name and a middle into the cells of an image of that size.

    >>> cells_of([("dog", 10, 10), ("A", 12, 8), ("cat", 399, 299)], (400, 300))
    {0: ['dog', 'A'], 63: ['cat']}
    """
    cells: dict[int, list[str]] = defaultdict(list)
    for name, x, y in named:
        column, row = int(x * CELLS / size[0]), int(y * CELLS / size[1])
        cells[row * CELLS + column].append(name)
    return dict(cells)
