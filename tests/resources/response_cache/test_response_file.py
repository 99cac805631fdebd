"""The file of responses.

What is damaged is never read as a response, and never overwritten unasked.
"""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Decoding, Request, Response
from bench_assets.core.schema.errors import BenchError, HomeError
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.storage.database import SqliteDatabase
from tests.resources.models.api.asking import requests_for
from tests.resources.stores import response_file

REQUESTS = requests_for(*(f"question {n}" for n in range(12)))


class Echo:
    """An engine that says what it is asked, with whatever else a response may have; it counts."""

    identity, decoding, peak_memory = "echo", Decoding(), None
    n = 0

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position, request in enumerate(requests):
            self.n += 1
            yield (
                position,
                Response(
                    text=str(request.prompt.turns[0].parts[0]).upper(),
                    finish_reason="stop",
                    prompt_tokens=7,
                    image_tokens=(4, 12),
                    seconds=[1.0, 0.25, float("nan")][position % 3],
                    note="larger",
                ),
            )

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "responses.sqlite"


def ask(file: Path) -> tuple[list[str], int]:
    """Ask everything; what was said, and how many requests that took."""
    engine = Echo()
    said = CachingModel("m", engine, response_file(file)).response(REQUESTS)
    return [response.text for response in said], engine.n


def change(file: Path, *commands: str) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        for sql in commands:
            db.execute(sql)


def test_of_60_flipped_bits_none_is_read_as_another_response(file: Path) -> None:
    said, _ = ask(file)
    change(file, "PRAGMA journal_mode = DELETE")  # one file
    whole, rng = file.read_bytes(), random.Random(0)
    for bit in rng.sample(range(8 * len(whole)), 60):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        try:
            store = response_file(file)
            keys = [CachingModel("m", Echo(), store)._key(request) for request in REQUESTS]
            for key, response in store.find(keys).items():
                assert response.text == said[keys.index(key)]
        except HomeError:
            pass


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE responses SET text = 'another'",
        "UPDATE responses SET text = NULL",
        "UPDATE responses SET finish_reason = 'length'",
        "UPDATE responses SET key = key || 'x'",
        "DELETE FROM responses",
    ],
)
def test_damaged_responses_are_asked_again_and_kept(file: Path, sql: str) -> None:
    said, n = ask(file)
    assert n == len(REQUESTS)
    change(file, sql)
    assert ask(file) == (said, n)
    assert ask(file) == (said, 0)


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        pytest.param(b"", "empty. Restore a backup, or delete it", id="an empty file"),
        pytest.param(b"\0" * 8192, "damaged .*sqlite3 FILE .recover", id="noughts"),
    ],
)
def test_what_is_no_database_says_what_to_do_and_stays(
    file: Path, damaged: bytes, complaint: str
) -> None:
    file.parent.mkdir()
    file.write_bytes(damaged)
    with pytest.raises(HomeError, match=rf"responses\.sqlite: {complaint}"):
        response_file(file)
    assert file.read_bytes() == damaged


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_truncated_file_says_what_to_do_and_stays(file: Path, share: float) -> None:
    ask(file)
    change(file, "PRAGMA journal_mode = DELETE")
    rest = file.read_bytes()[: int(share * file.stat().st_size)]
    file.write_bytes(rest)
    with pytest.raises(BenchError, match=r"responses\.sqlite: damaged .*restore a backup"):
        ask(file)
    assert file.read_bytes() == rest


@pytest.mark.parametrize(
    ("commands", "complaint"),
    [
        pytest.param(
            ["UPDATE bench_revisions SET version_num = 'responses_0007'"],
            "written by a newer version of bench-assets. Update bench-assets.",
            id="of a newer version",
        ),
        pytest.param(
            ["ALTER TABLE responses RENAME COLUMN completion_tokens TO completion_tokenz"],
            r"damaged \(no column completion_tokens\); nothing in it was changed",
            id="with a bit of a column's name flipped",
        ),
        pytest.param(
            [
                *("DROP TABLE responses", "DROP TABLE prompts", "DROP TABLE bench_revisions"),
                "CREATE TABLE songs (name)",
            ],
            "not a store of responses .*got songs.*Move it away",
            id="somebody else's",
        ),
    ],
)
def test_another_database_is_refused_and_stays(
    file: Path, commands: list[str], complaint: str
) -> None:
    response_file(file)
    change(file, "PRAGMA journal_mode = DELETE", *commands)
    before = file.read_bytes()
    with pytest.raises(HomeError, match=complaint):
        response_file(file)
    assert file.read_bytes() == before


def test_a_file_of_an_older_version_is_refused_and_brought_forward(file: Path) -> None:
    said, _ = ask(file)
    change(
        file,
        "UPDATE bench_revisions SET version_num = 'responses_0001'",
        "ALTER TABLE responses DROP COLUMN served",
    )
    database = SqliteDatabase(file, "")
    with pytest.raises(HomeError, match=r"older version\. Run `bench home migrate-schema`"):
        ask(file)
    assert database.migrate(("responses",)) == ["responses"]
    assert database.migrate(("responses",)) == []
    assert ask(file) == (said, 0)


class Deleting(Echo):
    """Deletes or replaces the file of responses after the sixth response."""

    def __init__(self, file: Path, *, replaced: bool) -> None:
        self.file, self.replaced = file, replaced

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position, response in super().stream(requests):
            if position == 6:
                self.file.unlink()
                if self.replaced:
                    response_file(self.file)
            yield position, response


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_deleted_while_it_is_used_ends_the_run(
    file: Path, *, replaced: bool
) -> None:
    model = CachingModel("m", Deleting(file, replaced=replaced), response_file(file))
    with pytest.raises(HomeError, match=r"responses\.sqlite: deleted or replaced while"):
        model.response(REQUESTS)
    assert sum(1 for _ in response_file(file).rows()) == 0
    assert ask(file)[1] == len(REQUESTS)


def test_a_file_that_was_deleted_between_two_uses_is_not_made_anew(file: Path) -> None:
    store = response_file(file)
    model = CachingModel("m", Echo(), store)
    model.response(REQUESTS[:6])
    file.unlink()
    with pytest.raises(HomeError):
        model.response(REQUESTS)
    assert not file.exists()
