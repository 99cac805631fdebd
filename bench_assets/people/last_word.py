"""One rule for files, pages and tools: of what one person says of one thing, the last word counts.

Of what nobody noted the time of, such as entries of a file, the order is the order in time; what a
person answers later in another place comes after it.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def last_said(rows: Iterable[Row], who_of_what: Callable[[Row], Hashable]) -> list[Row]:
    """Keep the last row of each person on each thing, where the first one stood.

    >>> last_said([("ana", 1), ("bo", 1), ("ana", 0)], lambda row: row[0])
    [('ana', 0), ('bo', 1)]
    """
    return list({who_of_what(row): row for row in rows}.values())
