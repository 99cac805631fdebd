"""Error classes of this project, and suggestions for unknown names."""

from collections.abc import Iterable
from difflib import get_close_matches


class BenchError(Exception):
    """Base class of all errors of this project; its text is written for users."""


class SourceError(BenchError):
    """A source file is missing, truncated or has an unexpected shape; names file and entry."""


class ImageError(BenchError):
    """An image cannot be decoded, or is larger than the limits allow."""


class TableError(BenchError):
    """A table is missing, lacks a declared column or holds an undeclared one."""


class HomeError(BenchError):
    """Something in the home folder cannot be read or written; names the place."""


class StoreVersionError(HomeError):
    """A database has the schema of another version; says which command migrates it."""


class SettingsError(BenchError):
    """The configuration is invalid; names the file and the entry."""


class UnknownNameError(BenchError):
    """No model, judge, suite or scorer has that name; lists those that exist, and the nearest.

    ``all_by`` is the command that lists them if there are too many; ``also`` names alternatives.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, all_by: str = "", also: str = ""
    ) -> None:
        known_names = sorted(set(known))
        if all_by:
            near = ", ".join(nearest(name, known_names)) or "none"
            hints = [f"nearest: {near}", f"`{all_by}` lists all {len(known_names)}", also]
        else:
            listed = ", ".join(known_names) or "none"
            hints = [f"known: {listed}", did_you_mean(name, known_names), also]
        super().__init__("; ".join([f"no {kind} named {name!r}", *filter(None, hints)]))


class ModelError(BenchError):
    """A model could not be called at all: weights do not load, a server cannot be reached."""


class MissingExtraError(ModelError, SettingsError):
    """A model or a setting needs a package that is not installed; says how to install it."""


_MAX_LISTED = 5  # names that a message proposes


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to five nearest names, best first, in any case; else nearest by the last part of a path.

    >>> nearest("CODIS", ["blink", "codis"])
    ['codis']
    >>> nearest("mcott", ["journeybench/mcot", "journeybench/retrieval"])
    ['journeybench/mcot']
    """
    wanted, known_names = name.casefold(), sorted(set(known))
    spellings = ((known_name.casefold(), known_name) for known_name in known_names)
    matches = _close_matches(wanted, spellings)
    if not matches and len(wanted) > 1:
        paths = (name for name in known_names if "/" in name)
        last_parts = ((path.casefold().rpartition("/")[2], path) for path in paths)
        matches = _close_matches(wanted.rpartition("/")[2], last_parts)
    return list(dict.fromkeys(matches))[:_MAX_LISTED]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest name; "" if none is near.

    >>> did_you_mean("scorr", ["judge", "scorer"])
    "did you mean 'scorer'?"
    """
    near = nearest(name, known)
    return f"did you mean {near[0]!r}?" if near else ""


def _close_matches(wanted: str, spellings: Iterable[tuple[str, str]]) -> list[str]:
    """Names with a spelling close to the wanted one, best first; ``spellings`` has both."""
    names: dict[str, list[str]] = {}
    for spelling, name in spellings:
        names.setdefault(spelling, []).append(name)
    closest = get_close_matches(wanted, names, _MAX_LISTED)
    return [name for spelling in closest for name in names[spelling]]
