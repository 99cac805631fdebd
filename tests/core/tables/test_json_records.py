"""Fields are held to the types that their class declares: what a stranger mistook is named."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import (
    LocatedEntry,
    find_mistyped,
    make_rows,
    read_entries,
    read_lines,
    records,
    require_field,
)
from tests.cases import read_cases


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


def test_fields_of_their_declared_types_are_right():
    """A list does for a tuple, a whole number for a fraction, whatever can be called."""
    assert find_mistyped(Fridge()) == []
    fridge = Fridge(
        shelves=[Tray(2)],  # type: ignore[arg-type]
        doors={"left": str},
        lamps={"top": Path("x")},
        manual=Path("x"),
        degrees=4,
        opened=lambda: 3,
        anything=7,
    )
    assert find_mistyped(fridge) == []


MISTYPED: dict[str, Any] = {
    "name": None,
    "shelves": Path("x"),  # a comma was forgotten
    "doors": {"left": None, 3: str},
    "lamps": {"top": "bright"},
    "manual": "a.pdf",
    "kind": ["chest"],
    "made_by": ValueError(),
    "opened": 7,
    "tray": 7,
}


def test_fields_of_other_types_are_named_all_at_once():
    assert find_mistyped(Fridge(**MISTYPED)) == [
        "name: expected str, it is of type NoneType",
        "shelves: expected a tuple, it is of type PosixPath",
        "doors: key 3: expected str",
        "door 'left': expected a function, it is of type NoneType",
        "lamp 'top': expected Tray or Path, it is of type str",
        "manual: expected Path or NoneType, it is of type str",
        "kind: expected 'chest' or 'upright', it is of type list",
        "made_by: expected a class, it is of type ValueError",
        "opened: expected a function, it is of type int",
        "tray: expected Tray, it is of type int",
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"shelves": Tray(2)}, "shelves: item 2: expected Tray"),
        ({"shelves": (Tray(1), None)}, "shelves: item None: expected Tray"),
        ({"doors": ["left"]}, "doors: expected a mapping, it is of type list"),
    ],
    ids=["a tuple of its own for several", "an item of a tuple", "a list"],
)
def test_an_item_or_a_container_of_another_type_is_named(fields, problem):
    assert find_mistyped(Fridge(**fields)) == [problem]


# Complaints about other people's JSON say where to look.


def test_entries_come_in_order_with_the_place_they_stand(tmp_path):
    file = tmp_path / "data.json"
    file.write_text('[{"id": "a"}, {"x": 1}]')
    assert list(read_entries(file)) == [
        ({"id": "a"}, f"{file}, entry 1 (id 'a')"),
        ({"x": 1}, f"{file}, entry 2"),
    ]


def test_lines_may_hold_the_line_separators_that_json_allows(tmp_path):
    file = tmp_path / "captions.jsonl"
    file.write_text('{"caption": "one\u2028two"}\r\n\n{"caption": "three"}\n', encoding="utf-8")
    assert [(line.entry["caption"], line.where[-6:]) for line in read_lines(file)] == [
        ("one\u2028two", "line 1"),
        ("three", "line 3"),
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(b'[{"id": "a"}, {"id', r"data\.json: not JSON.*column 16", id="cut short"),
        pytest.param(b"", r"data\.json: not JSON", id="empty"),
        pytest.param(b'{"id": "a"}', r"list of entries at the top, found \{", id="no list"),
        pytest.param(b'[{"id": "a"}, 7]', r"entry 2: expected an object, found 7", id="a number"),
        pytest.param(b'["\xff"]', r"data\.json, line 1: not UTF-8", id="bytes that are not UTF-8"),
        pytest.param(b"[" * 200_000, "nested too deeply", id="a tower of brackets"),
        pytest.param(b"[%s]" % (b"9" * 4301), r"data\.json: not JSON", id="too long a number"),
    ],
)
def test_a_broken_file_is_named(tmp_path, content, complaint):
    (tmp_path / "data.json").write_bytes(content)
    with pytest.raises(SourceError, match=complaint):
        [located.entry for located in read_entries(tmp_path / "data.json")]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(
            '[{"a": 1}, {"b": 1, "b": 1}]', r"x\.json, entry 2: duplicate field 'b'", id="an entry"
        ),
        pytest.param(
            ' [{"a": [{"b": 1, "c": 0, "b": 2}]} ]', "entry 1: duplicate field 'b'", id="within"
        ),
        pytest.param(
            '[{}, {"b]": [7, "]"]}\n,\n{"a,": 1, "a,": 2}]',
            "entry 3: duplicate field 'a,'",
            id="odd ones",
        ),
        pytest.param('{"a": 1, "a": 2}', r"x\.json: duplicate field 'a'", id="no list"),
    ],
)
def test_a_field_that_occurs_twice_is_named(tmp_path, content, complaint):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(SourceError, match=f"{complaint}; remove one"):
        [located.entry for located in read_entries(tmp_path / "x.json")]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.jsonl: cannot be read: No such file"):
        list(read_lines(tmp_path / "gone.jsonl"))


@pytest.mark.parametrize(
    ("value", "kind", "complaint"),
    [
        pytest.param(7, str, "field 'x' is 7, expected a text", id="a number for a text"),
        pytest.param(None, dict, "field 'x' is None, expected an object", id="null"),
        pytest.param(True, int, "field 'x' is True, expected a whole number", id="true is no 1"),
        pytest.param(1, bool, "field 'x' is 1, expected true or false", id="1 is no true"),
        pytest.param("\ud83d", str, "lone surrogate", id="half a surrogate pair"),
    ],
)
def test_a_field_of_another_type_is_named(value, kind, complaint):
    with pytest.raises(SourceError, match=f"votes.json, entry 3: .*{complaint}"):
        require_field({"x": value}, "x", kind, where="votes.json, entry 3")


def test_a_missing_field_is_named_beside_those_that_are_there():
    with pytest.raises(SourceError, match="no field 'context'; it has: id, question"):
        require_field({"id": "1", "question": "?"}, "context", dict, where="data.json, entry 1")


def test_bad_rows_are_rejections_where_they_are_collected(tmp_path):
    lines, listed = tmp_path / "a.jsonl", tmp_path / "b.json"
    lines.write_text('{"n": 1}\n{"n": \n[2]\n{"n": 1, "n": 2}\n{"n": 3}\n')
    listed.write_text('[{"n": 1}, 7, null, {"n": 1, "n": 2}, {"n": 3}]')
    for file, bad in (
        (lines, ["line 2", "line 3", "line 4"]),
        (listed, ["entry 2", "entry 3", "entry 4"]),
    ):
        read = read_lines if file is lines else read_entries
        table = make_rows(read(file), lambda entry, _: entry["n"])
        assert table.rows == [1, 3]
        assert [rejection.entry for rejection in table.rejections] == [
            f"{file.name}, {at}" for at in bad
        ]


@dataclass
class Named:
    name: str
    n: int


def test_records_reject_what_is_no_row_or_is_there_twice(tmp_path):
    rows = [{"name": "a", "n": 1}, {"name": "b", "n": "2"}, {"name": "a", "n": 3}, {"n": 4}]
    entries = [LocatedEntry(row, f"a.json, entry {number}") for number, row in enumerate(rows, 1)]
    table = records(entries, Named, unique=("name",))
    assert table.rows == [Named("a", 1)]
    found = table.rejections
    assert [one.entry for one in found] == [f"a.json, entry {number}" for number in (2, 3, 4)]
    assert found[0].reason == "field 'n' is '2', expected a whole number"


# Rows out of other people's JSON, and what is said of those that are none.


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    where: str
    image: str
    accepts: bool
    times: int = 1


ONE = '{"image": "a.png", "accepts": true}'


def written(folder: Path, text: str) -> Path:
    file = folder / "votes.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_row_has_what_its_entry_says_and_where_it_stands(tmp_path: Path) -> None:
    file = written(tmp_path, f'{ONE}\n\n{{"image": "b.png", "accepts": false, "times": 3}}')
    assert records(read_lines(file), Vote).require() == [
        Vote(where=f"{file}, line 1", image="a.png", accepts=True),
        Vote(where=f"{file}, line 3", image="b.png", accepts=False, times=3),
    ]


@pytest.mark.parametrize(
    ("text", "options", "complaint"),
    read_cases(__file__, "refused_records.jsonl"),
)
def test_the_file_and_the_entry_are_named(
    tmp_path: Path, text: str, options: dict[str, Any], complaint: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SourceError, match=f"{re.escape(str(file))}, {complaint}"):
        records(read_lines(file), Vote, **options).require()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    where: str
    share: float | None = 0.5


@pytest.mark.parametrize(
    ("text", "share"),
    [
        pytest.param("{}", 0.5, id="a field that is absent has its default"),
        pytest.param('{"share": null}', None, id="null where nothing is allowed"),
        pytest.param('{"share": 0.25}', 0.25, id="a fraction"),
        pytest.param('{"share": 2}', 2.0, id="a whole number for one"),
    ],
)
def test_a_number_may_be_whole_or_nothing(tmp_path: Path, text: str, share: float | None) -> None:
    (row,) = records(read_lines(written(tmp_path, text)), Measured, closed=True).require()
    assert (row.share, type(row.share)) == (share, type(share))


@pytest.mark.parametrize("value", ['"2"', "true", "[2]", f"{10**400}"])
def test_what_is_no_number_is_none(tmp_path: Path, value: str) -> None:
    with pytest.raises(SourceError, match=r"field 'share' is .*, expected a number"):
        records(read_lines(written(tmp_path, f'{{"share": {value}}}')), Measured).require()
