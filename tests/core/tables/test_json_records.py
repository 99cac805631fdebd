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


def test_defaults_are_not_mistyped():
    assert find_mistyped(Fridge()) == []


def test_a_list_for_a_tuple_a_whole_number_for_a_fraction_and_any_callable_are_not_mistyped():
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


def test_all_mistyped_fields_are_named():
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
    ids=["one named tuple for several", "an item of a tuple", "a list for a mapping"],
)
def test_a_mistyped_item_or_container_is_named(fields, problem):
    assert find_mistyped(Fridge(**fields)) == [problem]


def test_entries_are_read_in_order_with_their_file_and_number(tmp_path):
    file = tmp_path / "data.json"
    file.write_text('[{"id": "a"}, {"x": 1}]')
    assert list(read_entries(file)) == [
        LocatedEntry(value={"id": "a"}, where=f"{file}, entry 1 (id 'a')"),
        LocatedEntry(value={"x": 1}, where=f"{file}, entry 2"),
    ]


def test_lines_may_hold_the_line_separators_that_json_allows(tmp_path):
    file = tmp_path / "captions.jsonl"
    file.write_text('{"caption": "one\u2028two"}\r\n\n{"caption": "three"}\n', encoding="utf-8")
    assert list(read_lines(file)) == [
        LocatedEntry(value={"caption": "one\u2028two"}, where=f"{file}, line 1"),
        LocatedEntry(value={"caption": "three"}, where=f"{file}, line 3"),
    ]


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        pytest.param(b'[{"id": "a"}, {"id', r"data\.json: not JSON.*column 16", id="cut short"),
        pytest.param(b"", r"data\.json: not JSON", id="empty"),
        pytest.param(b'{"id": "a"}', r"data\.json: expected a list .*, found \{", id="no list"),
        pytest.param(
            b'[{"id": "a"}, 7]', r"data\.json, entry 2: expected an object", id="a number"
        ),
        pytest.param(b'["\xff"]', r"data\.json, line 1: not UTF-8", id="bytes that are not UTF-8"),
        pytest.param(b"[" * 200_000, r"data\.json: .* nested too deeply", id="a tower of brackets"),
        pytest.param(b"[%s]" % (b"9" * 4301), r"data\.json: not JSON", id="too long a number"),
    ],
)
def test_a_broken_file_is_named(tmp_path, content, expected_message):
    (tmp_path / "data.json").write_bytes(content)
    with pytest.raises(SourceError, match=expected_message):
        [located.entry for located in read_entries(tmp_path / "data.json")]  # checked on access


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        pytest.param(
            '[{"a": 1}, {"b": 1, "b": 1}]', r"x\.json, entry 2: duplicate field 'b'", id="an entry"
        ),
        pytest.param(
            ' [{"a": [{"b": 1, "c": 0, "b": 2}]} ]',
            r"x\.json, entry 1: duplicate field 'b'",
            id="an inner object",
        ),
        pytest.param(
            '[{}, {"b]": [7, "]"]}\n,\n{"a,": 1, "a,": 2}]',
            r"x\.json, entry 3: duplicate field 'a,'",
            id="brackets and commas in names",
        ),
        pytest.param('{"a": 1, "a": 2}', r"x\.json: duplicate field 'a'", id="no list"),
    ],
)
def test_a_duplicate_field_is_named(tmp_path, content, expected_message):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(SourceError, match=f"{expected_message}; remove one"):
        [located.entry for located in read_entries(tmp_path / "x.json")]  # checked on access


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.jsonl: cannot be read: No such file"):
        list(read_lines(tmp_path / "gone.jsonl"))


@pytest.mark.parametrize(
    ("value", "expected_type", "expected_message"),
    [
        pytest.param(7, str, "field 'x' is 7, expected a text", id="a number for a text"),
        pytest.param(None, dict, "field 'x' is None, expected an object", id="null"),
        pytest.param(True, int, "field 'x' is True, expected a whole number", id="true is no 1"),
        pytest.param(1, bool, "field 'x' is 1, expected true or false", id="1 is no true"),
        pytest.param("\ud83d", str, "lone surrogate", id="half a surrogate pair"),
    ],
)
def test_a_field_of_another_type_is_named(value, expected_type, expected_message):
    with pytest.raises(SourceError, match=f"votes.json, entry 3: .*{expected_message}"):
        require_field({"x": value}, "x", expected_type, where="votes.json, entry 3")


def test_a_missing_field_is_named_with_the_present_ones():
    with pytest.raises(SourceError, match="no field 'context'; it has: id, question"):
        require_field({"id": "1", "question": "?"}, "context", dict, where="data.json, entry 1")


@pytest.mark.parametrize(
    ("read", "text", "rejected_entries"),
    [
        pytest.param(
            read_lines,
            '{"n": 1}\n{"n": \n[2]\n{"n": 1, "n": 2}\n{"n": 3}\n',
            ["data, line 2", "data, line 3", "data, line 4"],
            id="lines",
        ),
        pytest.param(
            read_entries,
            '[{"n": 1}, 7, null, {"n": 1, "n": 2}, {"n": 3}]',
            ["data, entry 2", "data, entry 3", "data, entry 4"],
            id="entries of a list",
        ),
    ],
)
def test_entries_that_make_no_row_are_rejected(tmp_path, read, text, rejected_entries):
    file = tmp_path / "data"
    file.write_text(text)
    table = make_rows(read(file), lambda entry, _: entry["n"])
    assert table.rows == [1, 3]
    assert [rejection.entry for rejection in table.rejections] == rejected_entries


@dataclass
class NamedNumber:
    name: str
    n: int


def test_records_reject_mistyped_duplicate_and_incomplete_entries():
    entries = [
        LocatedEntry({"name": "a", "n": 1}, "a.json, entry 1"),
        LocatedEntry({"name": "b", "n": "2"}, "a.json, entry 2"),
        LocatedEntry({"name": "a", "n": 3}, "a.json, entry 3"),
        LocatedEntry({"n": 4}, "a.json, entry 4"),
    ]
    table = records(entries, NamedNumber, unique=("name",))
    mistyped, duplicate, incomplete = table.rejections
    assert table.rows == [NamedNumber("a", 1)]
    rejected_entries = [rejection.entry for rejection in table.rejections]
    assert rejected_entries == [f"a.json, entry {n}" for n in (2, 3, 4)]
    assert mistyped.reason == "field 'n' is '2', expected a whole number"
    assert duplicate.reason == "name 'a' as in a.json, entry 1; keep one"
    assert incomplete.reason == "no field 'name'; it has: n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    where: str
    image: str
    accepts: bool
    times: int = 1


def write_votes(folder: Path, text: str) -> Path:
    file = folder / "votes.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_row_has_the_fields_of_its_entry_and_its_line(tmp_path: Path) -> None:
    text = """{"image": "a.png", "accepts": true}

{"image": "b.png", "accepts": false, "times": 3}"""
    file = write_votes(tmp_path, text)
    assert records(read_lines(file), Vote).require() == [
        Vote(where=f"{file}, line 1", image="a.png", accepts=True),
        Vote(where=f"{file}, line 3", image="b.png", accepts=False, times=3),
    ]


@pytest.mark.parametrize(
    ("text", "options", "expected_message"), read_cases(__file__, "refused_records.jsonl")
)
def test_an_invalid_record_is_named_with_its_file_and_line(
    tmp_path: Path, text: str, options: dict[str, Any], expected_message: str
) -> None:
    file = write_votes(tmp_path, text)
    with pytest.raises(SourceError, match=f"{re.escape(str(file))}, {expected_message}"):
        records(read_lines(file), Vote, **options).require()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRow:
    where: str
    share: float | None = 0.5


@pytest.mark.parametrize(
    ("text", "share"),
    [
        pytest.param("{}", 0.5, id="a field that is absent has its default"),
        pytest.param('{"share": null}', None, id="null where None is allowed"),
        pytest.param('{"share": 0.25}', 0.25, id="a fraction"),
        pytest.param('{"share": 2}', 2.0, id="a whole number for a fraction"),
    ],
)
def test_an_optional_fraction_is_a_float_or_none(tmp_path, text, share):
    file = write_votes(tmp_path, text)
    (row,) = records(read_lines(file), ShareRow, closed=True).require()
    assert row.share == share
    assert type(row.share) is type(share)


@pytest.mark.parametrize("value", ['"2"', "true", "[2]", f"{10**400}"])
def test_a_value_that_is_no_number_is_refused(tmp_path: Path, value: str) -> None:
    file = write_votes(tmp_path, f'{{"share": {value}}}')
    with pytest.raises(SourceError, match=r"field 'share' is .*, expected a number"):
        records(read_lines(file), ShareRow).require()


@dataclass
class Folder:
    folder: Path


def test_a_field_of_a_type_that_json_lacks_is_refused() -> None:
    with pytest.raises(TypeError, match=r"field 'folder' cannot be read as .*Path"):
        records([LocatedEntry({"folder": "x"}, "a.json")], Folder)
