"""Rows out of other people's JSON, and what is said of those that are none."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import LocatedEntry, read_lines, records


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
    ("text", "asked", "complaint"),
    [
        pytest.param('{"image": "a.png"}', {}, "line 1: no field 'accepts'", id="a field short"),
        pytest.param(
            f'{ONE}\n{{"image": "b.png", "accepts": 1}}',
            {},
            "line 2: field 'accepts' is 1, expected true or false",
            id="another type",
        ),
        pytest.param(
            '{"image": "a.png", "accepts": true, "times": null}',
            {},
            "line 1: field 'times' is None, expected a whole number",
            id="null where a field may be absent",
        ),
        pytest.param(
            f"{ONE}\n{ONE}",
            {"unique": ["image"]},
            "line 2: the same image as in .*line 1: .*a.png.*; keep one",
            id="two rows of one name",
        ),
        pytest.param(
            '{"image": "a.png", "accepts": true, "tims": 2}',
            {"closed": True},
            r"line 1: unknown field 'tims' \(known: image, accepts, times\)",
            id="a misspelt field",
        ),
        pytest.param(
            f'{{"image": "a.png", "accepts": true, "times": {2**63}}}',
            {},
            "line 1: field 'times' is 9223372036854775808, expected a whole number of 64 bits",
            id="a number beyond those of tables, which end at 2 ** 63 - 1",
        ),
        pytest.param("7", {}, "line 1: expected an object, found 7", id="a number"),
    ],
)
def test_the_file_and_the_entry_are_named(
    tmp_path: Path, text: str, asked: dict[str, Any], complaint: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SourceError, match=f"{re.escape(str(file))}, {complaint}"):
        records(read_lines(file), Vote, **asked).require()


def test_rows_that_differ_in_one_of_the_fields_are_not_the_same(tmp_path: Path) -> None:
    file = written(tmp_path, f'{ONE}\n{{"image": "a.png", "accepts": false}}')
    assert len(records(read_lines(file), Vote, unique=["image", "accepts"]).require()) == 2


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxed:
    box: list[int]


def test_a_field_that_cannot_be_read_is_named_with_what_can_be() -> None:
    with pytest.raises(
        TypeError, match=r"^field 'box' cannot be read as list\[int\] \(expected one of str, .*list"
    ):
        records([LocatedEntry({"box": [1, 2, 3, 4]}, "line 1")], Boxed)
