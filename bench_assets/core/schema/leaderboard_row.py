"""One line of the leaderboard."""

from dataclasses import dataclass
from math import isnan

UNKNOWN = "unknown"
"""The edition of a number that cannot be read, on questions that cannot be read either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One line of the leaderboard: a model's primary metric, measured here or published."""

    task: str
    edition: str  # numbers of different editions are not comparable
    metric: str
    model: str
    source: str  # "measured here", or the paper and table
    value: float
    low: float | None
    high: float | None
    n_scored: int | None
    n_unscored: int | None
    n_failed: int | None
    n_no_answer: int | None = None
    constant: float | None = None  # without looking, see ``Metric``
    shuffled: float | None = None
    stale: str = ""  # how it was measured otherwise than it would be now; "": it was not
    ranks: str = ""  # that it may have among those measured alike, "1-2"; "": not known
    place: str = ""  # of the tables, where they are not those of the source that is named now
    signature: str

    @property
    def is_measured(self) -> bool:
        """Whether it was measured here, and is no paper's; also where nothing could be read."""
        return self.n_scored is not None or isnan(self.value)

    @property
    def shown_source(self) -> str:
        """The source, with a mark where the value should not be compared with others."""
        source = f"{self.source}, of another source ({self.place})" if self.place else self.source
        return f"{source} (stale: {self.stale})" if self.stale else source
