"""A number that hides what it could not read is no number: bounds, no rank, and what to do."""

import json

import pytest

import bench_assets
from tests.fakes.commands import bench, lines

N = 20
N_UNREAD = 6
SECTION = '[benchmarks.signs]\nfile = "signs.jsonl"\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with twenty questions, and responses of which three in ten cannot be read."""
    home = tmp_path / "home"
    home.mkdir()
    rows = [
        {"id": n, "question": f"What is on sign {n}?", "options": ["fox", "owl"], "answer": "A"}
        for n in range(N)
    ]
    (home / "signs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (home / "bench.toml").write_text(SECTION)
    texts = ["It has a bushy tail, I would say."] * N_UNREAD + ["A"] * 7 + ["B"] * 7
    write(home / "hard.jsonl", texts)
    write(home / "good.jsonl", ["A"] * 13 + ["B"] * 7)
    monkeypatch.setenv("BENCH_HOME", str(home))
    return home


def write(file, texts):
    named = [{"question_id": f"signs/{n}", "text": text} for n, text in enumerate(texts)]
    file.write_text("\n".join(json.dumps({**one, "model": file.stem}) for one in named))


def test_bounds_stand_in_every_place_and_the_next_command_is_named(home):
    result = bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    assert "0.350 to 0.650" in result.stdout
    assert "30.0 % of the responses, so accuracy is between 0.350 and 0.650" in result.stdout
    assert f"--responses {home / 'hard.jsonl'} --reader MODEL\n" in result.stdout
    assert "bench annotate verdicts signs --n 50 --model hard\n" in result.stdout

    row = lines(bench("evaluate", "signs", "--responses", home / "hard.jsonl", "--json"))[0]
    assert (row["if_unread_wrong"], row["if_unread_right"]) == (0.35, 0.65)
    assert (row["value"], row["asked_again"], row["named"]) == (0.35, 0.0, 0.0)

    bench("evaluate", "signs", "--responses", home / "good.jsonl")
    board = bench("leaderboard", "signs").stdout
    assert "0.350 to 0.650" in board
    assert "0.650" in board
    rows = {one["model"]: one for one in lines(bench("leaderboard", "signs", "--json"))}
    assert rows["hard"]["ranks"] == rows["good"]["ranks"] == "1-2"
    matrix = bench("leaderboard").stdout
    assert "0.350-0.650" in matrix
    assert "30.0 % unread" in matrix

    run = bench_assets.evaluate("signs", model="hard")
    (shown,) = run.metrics.query("category == 'all'").itertuples()
    assert (shown.unread, shown.if_unread_wrong, shown.if_unread_right) == (0.3, 0.35, 0.65)


def test_what_a_person_judged_is_no_longer_unread(home):
    """Six of twenty are unread, and right; seven are A, and right; seven are B, and wrong."""
    with (home / "bench.toml").open("a") as file:
        file.write('[annotation.tasks."signs/verdicts"]\n')
    rows = (home / "signs.jsonl").read_text().splitlines()
    copies = [json.loads(row) | {"id": n} for n, row in enumerate(rows * 3)]
    (home / "signs.jsonl").write_text("\n".join(map(json.dumps, copies)))
    texts = [json.loads(row)["text"] for row in (home / "hard.jsonl").read_text().splitlines()]
    write(home / "hard.jsonl", texts * 3)
    draw = ["annotate", "verdicts", "signs", "--n", 60, "--model", "hard"]
    bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    bench(*draw)
    folder = home / "annotation" / "signs" / "verdicts"
    (folder / "answers.jsonl").write_text(
        "\n".join(
            json.dumps(
                {
                    "unit": unit["unit"],
                    "person": "ana",
                    "values": {"verdict": "no" if unit["shown"]["Response"] == "B" else "yes"},
                }
            )
            for unit in map(json.loads, (folder / "units.jsonl").read_text().splitlines())
        )
    )
    assert "checked by people: 60 of 60; without them 0.350" in bench(*draw).stderr
    board = bench("leaderboard", "signs").stdout
    assert "0.650" in board
    assert "0.350 to 0.650" not in board
    assert " 0.0 % " in board
