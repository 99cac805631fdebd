"""What was measured of a model in several orders of the options, one figure a row."""

from dataclasses import dataclass
from math import nan


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFigure:
    """One figure about one model on one task; a line of ``orders.jsonl`` of a home."""

    task: str
    model: str
    setup: str  # how who was asked, and who judged, were configured
    data: str  # digest of the task's questions, as signatures have it
    orders: int  # asked of a question; 0: one for each of its options
    at: str  # when it was measured, ISO 8601
    figure: str
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int  # questions that it is over
    n_unscored: int = 0  # questions left out because a reply was unscored, or names no option
    expected: float = nan  # of who never looks at the place; NaN where nobody can know
    p: float = nan  # how likely luck alone lies so far from that, two-sided; NaN: not tried


CIRCULAR = "circular"
"""Share of the questions that are right in every order."""

ALL_ORDERS = "all_orders"
"""Share of the points over all orders."""

CONSISTENT = "consistent"
"""Share of the questions of which the same option is chosen in every order."""

PUBLISHED_ORDER = "published_order_gains"
"""Points in the order that the benchmark has, less those in the others, as a share."""

ORDER = "order_"
"""Share of the points in one order: ``order_1`` is the benchmark's."""

LETTER = "letter_"
"""Share of the replies that choose a letter: ``letter_A``."""
