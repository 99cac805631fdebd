import json

import pytest

from bench_assets.core.schema.measured_figures import JudgeFigure
from bench_resources.tables.measured_figures import read_figures
from tests.fakes.chat_server import ChatServer, texts
from tests.fakes.commands import bench, lines
from tests.fakes.signs import QUESTIONS, UNREAD, read_well, write_home

READER = '[models.reader]\nkind = "server"\nbase_url = "{url}"\nmodel = "reader"\n'


def prompt_text(body):
    return "".join(texts(body))


def requested_signs(server):
    """Numbers of the signs whose response and options are in a request, once per request."""
    prompts = [prompt_text(body) for body in server.bodies]
    return [
        n
        for n in UNREAD
        for prompt in prompts
        if f"fox of sign {n}\n" in prompt and f"(A) fox number {n}\n" in prompt
    ]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def server():
    with ChatServer(lambda body: read_well(prompt_text(body))) as chat_server:
        yield chat_server


def accuracy_row(result):
    return next(row for row in lines(result) if row["category"] == "all")


def test_a_served_reader_gets_only_unread_responses_and_once(home, server):
    file = write_home(home, READER.format(url=server.base_url))
    evaluate = ("evaluate", "signs", "--responses", file, "--json")
    assert accuracy_row(bench(*evaluate))["value"] == 0.5
    row = accuracy_row(bench(*evaluate, "--reader", "reader"))
    assert row["value"] == 1.0
    assert "|judge:reader:reader|" in row["signature"]
    assert requested_signs(server) == UNREAD
    assert "Answer: A" not in "".join(map(prompt_text, server.bodies))
    assert "image_url" not in json.dumps(server.bodies)
    figures = {row.figure: row.value for row in read_figures(home, JudgeFigure)}
    assert figures == {"null_foreign": 1.0, "null_halved": 1.0}
    server.forget()
    assert accuracy_row(bench(*evaluate, "--reader", "reader")) == row
    assert server.n_requests == 0


def test_a_dry_run_counts_the_requests_to_the_reader(home, server):
    file = write_home(home, READER.format(url=server.base_url))
    section = f'[models.m]\nkind = "recorded"\nfile = "{file}"\n'
    (home / "bench.toml").write_text((home / "bench.toml").read_text() + section)
    command = ("evaluate", "signs", "--model", "m", "--reader", "reader", "--json")
    bench("tables", "questions", "signs")
    (_, reader_row) = lines(bench(*command, "--dry-run"))
    assert server.n_requests == 0
    # The unread ones and the null test: as many of other questions, and halves of all.
    assert reader_row["requests"] == 2 * len(UNREAD) + len(QUESTIONS)
    bench(*command)
    server.forget()
    (_, cached_row) = lines(bench(*command, "--dry-run"))
    # The figures of the null test are stored: it is not repeated.
    assert cached_row["requests"] == cached_row["cached"] == len(UNREAD)
    assert server.n_requests == 0


def test_a_named_judge_that_the_scorer_does_not_use_is_refused(home):
    write_home(home, 'official = "mmstar"\n')
    command = ("evaluate", "signs", "--model", "random", "--judge", "gpt", "--scorer", "official")
    assert bench(*command, fails=True).stderr == (
        "error: judge gpt: signs asks no judge with the scorer official. Leave it out\n"
    )


@pytest.mark.parametrize("setting", ["judge", "reader"])
def test_a_model_whose_answers_the_scorer_does_not_use_is_not_asked(home, server, setting):
    settings = f'official = "mmstar"\n{setting} = "reader"\n'
    file = write_home(home, settings + READER.format(url=server.base_url))
    bench("evaluate", "signs", "--responses", file, "--scorer", "official")
    assert server.n_requests == 0


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        ("self", "its responses are recorded, so it cannot be asked as a reader"),
        ("gtp", "no reader named 'gtp'"),
    ],
)
def test_recorded_responses_and_an_unknown_model_are_no_readers(home, reader, message):
    file = write_home(home)
    result = bench("evaluate", "signs", "--responses", file, "--reader", reader, code=1)
    assert message in result.stderr
