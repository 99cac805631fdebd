"""A reader looks again at what no rule reads: asked once, about unread responses alone."""

import json

import pytest

from bench_assets.core.schema.measured_figures import JudgeFigure
from bench_resources.tables.measured_figures import read_figures
from tests.fakes.chat_server import ChatServer, texts
from tests.fakes.commands import bench, lines
from tests.fakes.signs import UNREAD, read_well, write_home

READER = '[models.reader]\nkind = "server"\nbase_url = "{url}"\nmodel = "reader"\n'


def shown(body):
    return "".join(texts(body))


def looked_at(server):
    """The unread responses of the evaluation that the server was asked about, whole and once."""
    found = [
        n
        for n in UNREAD
        for body in server.bodies
        if f"fox of sign {n}\n" in shown(body) and f"(A) fox number {n}\n" in shown(body)
    ]
    assert len(found) == len({*found})
    return found


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def server():
    with ChatServer(lambda body: read_well(shown(body))) as one:
        yield one


def accuracy(result):
    return next(row for row in lines(result) if row["category"] == "all")


def test_a_served_reader_gets_unread_responses_alone_and_once(home, server):
    file = write_home(home, READER.format(url=server.base_url))
    evaluate = ("evaluate", "signs", "--responses", file, "--json")
    assert accuracy(bench(*evaluate))["value"] == 0.5
    row = accuracy(bench(*evaluate, "--reader", "reader"))
    assert row["value"] == 1.0
    assert "|judge:reader:reader|" in row["signature"]
    assert looked_at(server) == UNREAD
    assert "Answer: A" not in "".join(map(shown, server.bodies))
    assert "image_url" not in json.dumps(server.bodies)
    tests = {one.figure: one.value for one in read_figures(home, JudgeFigure)}
    assert tests == {"null_foreign": 1.0, "null_halved": 1.0}
    server.forget()
    assert accuracy(bench(*evaluate, "--reader", "reader")) == row
    assert server.n_requests == 0


def test_a_dry_run_counts_the_requests_to_the_reader(home, server):
    file = write_home(home, READER.format(url=server.base_url))
    section = f'[models.m]\nkind = "recorded"\nfile = "{file}"\n'
    (home / "bench.toml").write_text((home / "bench.toml").read_text() + section)
    command = ("evaluate", "signs", "--model", "m", "--reader", "reader", "--json")
    bench("tables", "questions", "signs")
    (_, before) = lines(bench(*command, "--dry-run"))
    assert server.n_requests == 0
    assert before["requests"] >= len(UNREAD)
    bench(*command)
    server.forget()
    (_, after) = lines(bench(*command, "--dry-run"))
    assert after["requests"] == after["cached"] == len(UNREAD)
    assert server.n_requests == 0


def test_recorded_responses_cannot_read_themselves(home):
    file = write_home(home)
    stderr = bench("evaluate", "signs", "--responses", file, "--reader", "self", code=1).stderr
    assert "its responses are recorded, so it cannot be asked as a reader" in stderr
    stderr = bench("evaluate", "signs", "--responses", file, "--reader", "gtp", code=1).stderr
    assert "no reader named 'gtp'" in stderr
