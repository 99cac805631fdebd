"""Responses that are taken over from another store: the whole ones, and nothing else."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench_assets.core.schema.provenance import row_digest
from bench_resources.response_cache.store import ResponseStore, merge_into
from tests.resources.response_cache.test_rows import keep, named, row
from tests.resources.stores import response_file


@pytest.fixture
def stores(tmp_path: Path) -> tuple[ResponseStore, ResponseStore]:
    return response_file(tmp_path / "a.sqlite"), response_file(tmp_path / "b.sqlite")


def test_both_keep_what_they_have_and_what_was_asked_first_counts(
    stores: tuple[ResponseStore, ResponseStore],
) -> None:
    here, there = stores
    keep(here, row("of both", text="younger"), row("of here"))
    keep(there, row("of both", text="older"), row("of there"))
    with sqlite3.connect(there.place) as db:
        db.execute("UPDATE responses SET asked_at = '2026-01-01 00:00:00'")
    for target, source in (stores, stores[::-1]):
        assert merge_into(target, source).left_out == 0
    for store in stores:
        found = store.find([named("of both"), named("of here"), named("of there")])
        assert [found[named("of both")].text, len(found)] == ["older", 3]
        (asked_at,) = {one["asked_at"] for one in store.rows() if one["text"] == "older"}
        assert asked_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"text": None}, id="no text"),
        pytest.param({"text": b"A"}, id="bytes"),
    ],
)
def test_what_is_no_response_is_left_where_it_is(
    stores: tuple[ResponseStore, ResponseStore], columns: dict[str, object]
) -> None:
    here, there = stores
    keep(here, row("a"))
    with sqlite3.connect(here.place) as db:
        (whole,) = here.rows()
        odd = {**whole, "key": named("odd"), "asked_at": "2026-01-01 00:00:00", **columns}
        odd["digest"] = row_digest(odd)
        marks = ", ".join("?" * len(odd))
        db.execute(f"INSERT INTO responses ({', '.join(odd)}) VALUES ({marks})", [*odd.values()])
    merged = merge_into(there, here)
    assert (merged.responses, merged.left_out) == (1, 1)
    assert [one["key"] for one in there.rows()] == [named("a")]
    assert len(list(here.rows())) == 2


@pytest.mark.parametrize(
    ("sql", "left_out"),
    [
        pytest.param("UPDATE responses SET text = 'another'", 1, id="a damaged one"),
        pytest.param("UPDATE prompts SET turns = 'another'", 0, id="a damaged prompt"),
        pytest.param("UPDATE responses SET asked_at = 'yesterday'", 0, id="an unknown moment"),
    ],
)
def test_damage_does_not_spread(
    stores: tuple[ResponseStore, ResponseStore], sql: str, left_out: int
) -> None:
    here, there = stores
    keep(here, row("a"))
    with sqlite3.connect(here.place) as db:
        db.execute(sql)
    assert merge_into(there, here).left_out == left_out
    assert there.find([named("a")]) == here.find([named("a")])
    assert not list(there.prompts())  # the one of these tests is not what its digest says
