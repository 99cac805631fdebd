"""Whether common sense knows that two things go together (section 1).

Of COCO's object relations 68 % are in ConceptNet, of JourneyBench's images 6 %. How the authors
find relations is not published; here two nouns that follow each other in a caption are related.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench_assets.core.schema.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRelation:
    """Two things that a caption names one after the other."""

    question_id: str
    caption: str
    first: str
    second: str
    known: bool  # whether the list of common sense has the two together, in either order


def read_common_sense(file: Path) -> frozenset[frozenset[str]]:
    """Read pairs of things: the first and last tab-separated column, as in ConceptNet's lists.

    Raises:
        SourceError: If the file cannot be read, or a line has a single column.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as why:
        raise SourceError(f"{file}: cannot be read: {why}") from why
    pairs = set()
    for number, line in enumerate(lines, 1):
        columns = [column.strip().lower() for column in line.split("\t")]
        if line.strip() and len(columns) < 2:
            raise SourceError(f"{file}, line {number}: expected things parted by tabs: {line!r}")
        pairs.add(frozenset((columns[0], columns[-1])))
    return frozenset(pair for pair in pairs if len(pair) == 2)


def relate(
    question_id: str,
    captions: Sequence[str],
    nouns: Iterable[Sequence[str]],
    common_sense: frozenset[frozenset[str]],
) -> list[ObjectRelation]:
    """Pair the nouns of each caption; a pair counts once an image.

    Args:
        question_id: Names the image.
        captions: What people wrote about it.
        nouns: Those of each caption, in order.
        common_sense: Pairs that are known to go together.
    """
    found: dict[frozenset[str], ObjectRelation] = {}
    for caption, named in zip(captions, nouns, strict=True):
        for first, second in pairwise(named):
            pair = frozenset((first, second))
            relation = ObjectRelation(
                question_id=question_id,
                caption=caption,
                first=first,
                second=second,
                known=pair in common_sense,
            )
            found.setdefault(pair, relation)
    return list(found.values())
