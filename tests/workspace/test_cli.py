"""The command line, used as a person would, rightly and wrongly."""

import runpy
import sys

import pytest

from tests.suites.codis.raw import entry
from tests.workspace.typed import answers, bench, lines, write_responses


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_the_package_itself_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("bench_assets", run_name="__main__")
    assert ended.value.code == 0
    assert "leaderboard" in capsys.readouterr().out


def test_questions_are_printed_as_json_lines(home, source):
    rows = lines(bench("tables", "questions", "codis", "--source", source, "--json"))
    assert [row["question_id"] for row in rows] == [
        f"codis/{name}" for name in ("000/1", "000/2", "001/1", "001/2")
    ]
    assert {row["edition"] for row in rows} == {"own"}
    assert not (home / "tables").exists()


def test_responses_made_elsewhere_are_scored_and_what_does_not_fit_is_reported(
    used_home, evaluated
):
    a, b = entry()["answer"].values()
    file, source = used_home / "somebody.jsonl", evaluated / "codis"
    write_responses(
        file,
        [
            *answers(a, b, a),
            {"question_id": "codis/777/1", "text": a},
        ],
    )
    result = bench("evaluate", "codis", "--responses", file, "--source", source, "--json")
    acc_p, acc_q, *_ = lines(result)
    assert (acc_p["metric"], acc_p["value"], acc_p["n_scored"], acc_p["n_unscored"]) == (
        ("acc_p", 1.0, 1, 1)
    )
    assert (acc_q["value"], acc_q["n_scored"], acc_q["n_failed"]) == (1.0, 3, 1)
    assert {row["model"] for row in lines(result)} == {"somebody"}
    assert "1 of 4 questions have no response, such as codis/001/2" in result.stderr
    assert "1 responses to unknown questions left out, such as codis/777/1" in result.stderr


def test_responses_of_which_none_is_used_are_an_error_that_names_one(used_home):
    file = write_responses(
        used_home / "other.jsonl", [{"question_id": "codis/777/1", "text": "up"}]
    )
    result = bench("evaluate", "codis", "--responses", file, fails=True)
    assert "no response answers a question of codis" in result.stderr
    assert "other.jsonl" in result.stderr
    assert "such as 'codis/777/1' (line 1)" in result.stderr


def test_a_condition_without_questions_says_what_it_needs(used_home):
    asked = ("evaluate", "codis", "--model", "random", "--condition", "captions_for_images")
    result = bench(*asked, fails=True)
    (said,) = [line for line in result.stderr.splitlines() if "captions" in line]
    assert "codis, condition captions_for_images: there are no questions" in said
    assert "put captions.jsonl beside data.json" in said


@pytest.mark.parametrize(
    ("scorer", "acc_q", "n_scored"),
    [
        pytest.param("strict", 0.5, 2, id="strict: right, wrong, and two that say neither"),
        pytest.param("official", 0.5, 4, id="official: a substring", marks=pytest.mark.long),
    ],
)
def test_a_recorded_judge_is_read_as_told(used_home, scorer, acc_q, n_scored):
    responses = answers("w", "x", "y", "z")
    for response, word in zip(
        responses, ["right", "wrong", "not right", "Right, perhaps"], strict=True
    ):
        response["judge_response"] = word
    file = write_responses(used_home / "r.jsonl", responses)
    command = ("evaluate", "codis", "--responses", file, "--judge", "recorded")
    rows = lines(bench(*command, "--scorer", scorer, "--json"))
    assert (rows[1]["value"], rows[1]["n_scored"]) == (acc_q, n_scored)
