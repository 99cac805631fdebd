"""What ``bench migrate`` says of one part of a home."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What became of a part of a home that was taken over; whence it came, it stays."""

    what: str  # "replies", "tables", "pictures", ...
    n: int  # that are in the target now, whole
    new: int | None  # of them those that were written just now; None: not counted
    left_out: int  # damaged ones: only the source has them
    kept: int  # of which the target has another one, that stays there
    source: str
    target: str
