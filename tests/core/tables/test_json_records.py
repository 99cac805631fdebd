"""Fields are held to the types that their class declares: what a stranger mistook is named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from bench_assets.core.tables.json_records import find_mistyped


class Tray(NamedTuple):
    depth: int


TRAY = Tray(1)


@dataclass(frozen=True, kw_only=True)
class Fridge:
    name: str = "cold"
    shelves: tuple[Tray, ...] = ()
    doors: Mapping[str, Callable[[int], str]] = field(default_factory=dict)
    lamps: Mapping[str, Tray | Path] = field(default_factory=dict)
    manual: Path | None = None
    degrees: float = 4.0
    kind: Literal["chest", "upright"] = "chest"
    made_by: type[Exception] = ValueError
    opened: Callable[[], int] = int
    tray: Tray = TRAY
    anything: Any = None


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        pytest.param({}, [], id="as declared"),
        pytest.param(
            {
                "shelves": [Tray(2)],
                "doors": {"left": str},
                "lamps": {"top": Path("x")},
                "manual": Path("x"),
                "degrees": 4,
                "opened": lambda: 3,
                "anything": 7,
            },
            [],
            id="a list for a tuple, a whole number, whatever can be called",
        ),
        pytest.param({"name": None}, ["name: expected str, it is of type NoneType"], id="None"),
        pytest.param(
            {"shelves": Tray(2)},
            ["shelves: item 2: expected Tray"],
            id="a tuple of its own for several",
        ),
        pytest.param(
            {"shelves": Path("x")},
            ["shelves: expected a tuple, it is of type PosixPath"],
            id="a comma forgotten",
        ),
        pytest.param(
            {"shelves": "abc"}, ["shelves: expected a tuple, it is of type str"], id="a text"
        ),
        pytest.param(
            {"shelves": (Tray(1), None)},
            ["shelves: item None: expected Tray"],
            id="an item of a tuple",
        ),
        pytest.param(
            {"doors": ["left"]}, ["doors: expected a mapping, it is of type list"], id="a list"
        ),
        pytest.param(
            {"doors": {"left": None, 3: str}},
            [
                "doors: key 3: expected str",
                "door 'left': expected a function, it is of type NoneType",
            ],
            id="an item and a name of a mapping",
        ),
        pytest.param(
            {"lamps": {"top": "bright"}},
            ["lamp 'top': expected Tray or Path, it is of type str"],
            id="an item that may be of two types",
        ),
        pytest.param(
            {"manual": "a.pdf"},
            ["manual: expected Path or NoneType, it is of type str"],
            id="a text for a path",
        ),
        pytest.param({"degrees": "4"}, ["degrees: expected float, it is of type str"], id="4"),
        pytest.param(
            {"kind": ["chest"]},
            ["kind: expected 'chest' or 'upright', it is of type list"],
            id="no word of those there are",
        ),
        pytest.param(
            {"made_by": ValueError()},
            ["made_by: expected a class, it is of type ValueError"],
            id="an instance for a class",
        ),
        pytest.param(
            {"opened": 7, "tray": 7},
            [
                "opened: expected a function, it is of type int",
                "tray: expected Tray, it is of type int",
            ],
            id="two at once",
        ),
    ],
)
def test_mistyped(fields, found):
    assert find_mistyped(Fridge(**fields)) == found
