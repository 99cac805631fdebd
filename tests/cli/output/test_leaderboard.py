import json

import pytest

import bench_assets
from tests.fakes.commands import bench, lines


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of twenty questions, and a file of responses of which six cannot be read."""
    home = tmp_path / "home"
    home.mkdir()
    rows = [
        {"id": n, "question": f"What is on sign {n}?", "options": ["fox", "owl"], "answer": "A"}
        for n in range(20)
    ]
    (home / "signs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (home / "bench.toml").write_text('[benchmarks.signs]\nfile = "signs.jsonl"\n')
    texts = ["It has a bushy tail, I would say."] * 6 + ["A"] * 7 + ["B"] * 7
    write_responses(home / "hard.jsonl", texts)
    monkeypatch.setenv("BENCH_HOME", str(home))
    return home


def write_responses(file, texts):
    """Write a response to each question, of a model that is named as the file."""
    responses = [
        {"question_id": f"signs/{n}", "text": text, "model": file.stem}
        for n, text in enumerate(texts)
    ]
    file.write_text("\n".join(map(json.dumps, responses)))


# Of 20 responses 7 are right and 6 unread: 7 / 20 = 0.35 to 13 / 20 = 0.65.


def test_an_evaluation_prints_bounds_and_the_next_commands(home):
    result = bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    assert "0.350 to 0.650" in result.stdout
    assert "30.0 % of the responses, so accuracy is between 0.350 and 0.650" in result.stdout
    assert f"--responses {home / 'hard.jsonl'} --reader MODEL\n" in result.stdout
    assert "bench annotate verdicts signs --n 50 --model hard\n" in result.stdout


def test_a_row_of_json_has_the_bounds(home):
    row, *_ = lines(bench("evaluate", "signs", "--responses", home / "hard.jsonl", "--json"))
    assert (row["if_unread_wrong"], row["if_unread_right"]) == (0.35, 0.65)
    assert (row["value"], row["asked_again"], row["named"]) == (0.35, 0.0, 0.0)


def test_the_leaderboard_of_a_suite_shows_bounds_and_shared_ranks(home):
    write_responses(home / "good.jsonl", ["A"] * 13 + ["B"] * 7)  # 0.650
    bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    bench("evaluate", "signs", "--responses", home / "good.jsonl")
    lines_by_model = {
        line.partition(" ")[0]: line for line in bench("leaderboard", "signs").stdout.splitlines()
    }
    assert "0.350 to 0.650" in lines_by_model["hard"]
    assert " 0.650 " in lines_by_model["good"]
    rows = {row["model"]: row for row in lines(bench("leaderboard", "signs", "--json"))}
    assert rows["hard"]["ranks"] == rows["good"]["ranks"] == "1-2"


def test_the_leaderboard_of_all_suites_shows_bounds(home):
    bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    matrix = bench("leaderboard").stdout
    assert "0.350-0.650" in matrix
    assert "30.0 % unread" in matrix


def test_a_run_of_python_has_the_bounds(home):
    bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    run = bench_assets.evaluate("signs", model="hard")
    (row,) = run.metrics.query("category == 'all'").itertuples()
    assert (row.unread, row.if_unread_wrong, row.if_unread_right) == (0.3, 0.35, 0.65)


def answer_units(folder):
    """Answer each unit of a folder: yes, except to a response B."""
    units = [json.loads(line) for line in (folder / "units.jsonl").read_text().splitlines()]
    answers = []
    for unit in units:
        verdict = "no" if unit["shown"]["Response"] == "B" else "yes"
        answers.append({"unit": unit["unit"], "person": "ana", "values": {"verdict": verdict}})
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))


def test_a_response_that_a_person_judged_is_not_unread(home):
    """Of each twenty responses six are unread, and right; seven are A and right, seven B."""
    with (home / "bench.toml").open("a") as file:
        file.write('[annotation.tasks."signs/verdicts"]\n')
    rows = (home / "signs.jsonl").read_text().splitlines()
    copies = [json.loads(row) | {"id": n} for n, row in enumerate(rows * 3)]
    (home / "signs.jsonl").write_text("\n".join(map(json.dumps, copies)))
    texts = [json.loads(row)["text"] for row in (home / "hard.jsonl").read_text().splitlines()]
    write_responses(home / "hard.jsonl", texts * 3)
    draw = ["annotate", "verdicts", "signs", "--n", 60, "--model", "hard"]
    bench("evaluate", "signs", "--responses", home / "hard.jsonl")
    bench(*draw)

    answer_units(home / "annotation" / "signs" / "verdicts")

    assert "checked by people: 60 of 60; without them 0.350" in bench(*draw).stderr
    board = bench("leaderboard", "signs").stdout
    assert "0.650" in board
    assert "0.350 to 0.650" not in board
    assert " 0.0 % " in board
