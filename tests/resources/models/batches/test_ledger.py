"""Batches whose run was killed or stopped, and what is left of them: collected once, asked once."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file
from tests.resources.models.batches.handing_over import (
    ANSWERS,
    TEXTS,
    answered,
    engine,
    out,
    response_texts,
)
from tests.resources.models.batches.stand_in import BatchServer


def killed_while_waiting(server: BatchServer, home: Path, format_: str) -> None:
    """Hand a batch over, and go away before it ends; nothing but what is noted is left."""
    looks, server.looks = server.looks, 0
    responses = engine(server, home, format_).stream(requests_for(*TEXTS))
    thread = threading.Thread(target=lambda: next(responses, None), daemon=True)
    thread.start()
    until_noted(server, home)
    server.looks = looks


def until_noted(server: BatchServer, home: Path) -> None:
    until = time.monotonic() + 30
    while not server.batches or not out(home) or '"batch": ""' in out(home)[0].read_text():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.mark.long
def test_a_process_that_is_killed_leaves_its_batch_to_the_next(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    looks, server.looks = server.looks, 0
    command = [sys.executable, "-m", __name__, server.base_url, str(tmp_path), format_]
    ours = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    until_noted(server, tmp_path)
    ours.kill()
    ours.wait()
    server.looks = looks
    got = answered(engine(server, tmp_path, format_), *requests_for(*TEXTS))
    assert response_texts(got) == ANSWERS
    assert (server.n_requests, len(server.batches)) == (5, 1)


def test_what_was_stored_is_not_sent_and_what_was_not_is_collected(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    store = response_file(tmp_path / "responses.sqlite")
    first = engine(server, tmp_path, format_)
    model = CachingModel("m", first, store)
    assert [one.text for one in model.response(requests_for(*TEXTS))] == ANSWERS
    again = CachingModel("m", engine(server, tmp_path, format_, batch=False), store)
    assert [one.text for one in again.response(requests_for(*TEXTS))] == ANSWERS
    assert (server.n_requests, len(server.batches)) == (5, 1)


def test_who_stops_half_way_through_the_results_collects_the_rest_later(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    responses = engine(server, tmp_path, format_).stream(requests_for(*TEXTS))
    taken = [next(responses), next(responses)]
    responses.close()  # type: ignore[attr-defined]
    assert len(out(tmp_path)) == 1
    rest = [text for n, text in enumerate(TEXTS) if n not in dict(taken)]
    got = answered(engine(server, tmp_path, format_), *requests_for(*rest))
    assert response_texts(got) == [f"A to {text}" for text in rest]
    assert server.n_requests == 5


def test_a_batch_whose_answer_was_lost_is_found_again(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    server.drops = True
    assert (
        response_texts(answered(engine(server, tmp_path, format_), *requests_for(*TEXTS)))
        == ANSWERS
    )
    assert (server.n_requests, len(server.batches)) == (5, 1)


def test_a_batch_that_was_only_about_to_be_handed_over_is_sent(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    one = engine(server, tmp_path, format_)
    one._noted.note("00", ["of another time"])
    assert response_texts(answered(one, *requests_for("a"))) == ["A to a"]
    assert out(tmp_path) == []


@pytest.mark.parametrize("damaged", ["", "[]", '{"ids": 1}', "[" * 100_000, "\x00"])
def test_a_note_that_is_damaged_is_passed_over(
    server: BatchServer, tmp_path: Path, damaged: str
) -> None:
    one = engine(server, tmp_path, "openai")
    one._noted.note("00", ["of another time"])
    out(tmp_path)[0].write_text(damaged, encoding="utf-8")
    assert response_texts(answered(one, *requests_for("a"))) == ["A to a"]


def test_a_batch_that_the_server_forgot_is_sent_anew(
    server: BatchServer, tmp_path: Path, format_: str
) -> None:
    killed_while_waiting(server, tmp_path / "first", format_)
    (file,) = out(tmp_path / "first")
    there = tmp_path / "second" / file.relative_to(tmp_path / "first")
    there.parent.mkdir(parents=True)
    there.write_text(file.read_text().replace('"batch_0"', '"batch_9"').replace("ch_0", "ch_9"))
    got = answered(engine(server, tmp_path / "second", format_), *requests_for(*TEXTS))
    assert response_texts(got) == ANSWERS
    assert server.n_requests == 10


if __name__ == "__main__":
    address, folder, api = sys.argv[1:]
    elsewhere = cast(BatchServer, SimpleNamespace(base_url=address))
    answered(engine(elsewhere, Path(folder), api), *requests_for(*TEXTS))
