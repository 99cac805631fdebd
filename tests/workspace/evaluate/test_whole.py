"""The command line, used as a person would, rightly and wrongly."""

import os

import pytest

from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.evaluate import whole
from tests.fakes.codis_source import entry
from tests.fakes.commands import answers, bench, lines, write_responses


def test_questions_are_printed_as_json_lines(home, source):
    rows = lines(bench("tables", "questions", "codis", "--source", source, "--json"))
    assert [row["question_id"] for row in rows] == [
        f"codis/{name}" for name in ("000/1", "000/2", "001/1", "001/2")
    ]
    assert {row["edition"] for row in rows} == {"own"}
    assert not (home / "tables/codis").exists()
    assert not (home / "sources.toml").exists()  # which remembers what was evaluated


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
    assert {row["partial"] for row in lines(result)} == {"3 of 4 questions"}
    assert not list((used_home / "tables").rglob("somebody.parquet"))


@pytest.mark.long
def test_responses_to_all_questions_are_stored_like_any_evaluation(used_home):
    a, b = entry()["answer"].values()
    file = write_responses(used_home / "somebody.jsonl", answers(a, b, a, a))
    rows = lines(bench("evaluate", "codis", "--responses", file, "--json"))
    assert {row["model"] for row in rows} == {"somebody"}
    assert rows[1]["value"] == 0.75
    assert all("model=" in row["setup"] and "judge=rules:" in row["setup"] for row in rows)
    shown = lines(bench("tables", "show", "codis/metrics", "--model", "somebody", "--json"))
    assert [row["signature"] for row in shown] == [row["signature"] for row in rows]
    assert lines(bench("evaluate", "codis", "--model", "somebody", "--json")) == rows
    write_responses(file, answers(a, b, a, b))
    changed = lines(bench("evaluate", "codis", "--responses", file, "--json"))
    assert changed[1]["value"] == 1.0
    assert "somebody" in bench("leaderboard").stdout


def test_a_file_that_names_another_model_does_not_overwrite_its_tables(used_home):
    before = lines(bench("tables", "show", "codis/metrics", "--model", "random", "--json"))
    a, b = entry()["answer"].values()
    file = write_responses(used_home / "r.jsonl", answers(a, b, a, b, model="random"))
    (name,) = {
        row["model"] for row in lines(bench("evaluate", "codis", "--responses", file, "--json"))
    }
    assert name.startswith("random+")
    assert lines(bench("tables", "show", "codis/metrics", "--model", "random", "--json")) == before


def test_responses_of_which_none_is_used_are_an_error_that_names_one(used_home):
    file = write_responses(
        used_home / "other.jsonl", [{"question_id": "codis/777/1", "text": "up"}]
    )
    result = bench("evaluate", "codis", "--responses", file, fails=True)
    assert "no response answers a question of codis" in result.stderr
    assert "other.jsonl" in result.stderr
    assert "such as 'codis/777/1' (line 1)" in result.stderr


def test_a_condition_without_questions_says_what_it_needs(used_home):
    command = ("evaluate", "codis", "--model", "random", "--condition", "captions_for_images")
    result = bench(*command, fails=True)
    (message,) = [line for line in result.stderr.splitlines() if "captions" in line]
    assert "codis, condition captions_for_images: there are no questions" in message
    assert "put captions.jsonl beside data.json" in message


@pytest.mark.parametrize(
    ("scorer", "acc_q", "n_scored"),
    [
        pytest.param("strict", 0.5, 2, id="strict: right, wrong, and two that say neither"),
        pytest.param("official", 0.5, 4, id="official: a substring", marks=pytest.mark.long),
    ],
)
def test_a_recorded_judge_is_read_as_the_command_says(used_home, scorer, acc_q, n_scored):
    responses = answers("w", "x", "y", "z")
    for response, word in zip(
        responses, ["right", "wrong", "not right", "Right, perhaps"], strict=True
    ):
        response["judge_response"] = word
    file = write_responses(used_home / "r.jsonl", responses)
    command = ("evaluate", "codis", "--responses", file, "--judge", "recorded")
    rows = lines(bench(*command, "--scorer", scorer, "--json"))
    assert (rows[1]["value"], rows[1]["n_scored"]) == (acc_q, n_scored)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--responses", "f.jsonl", "--limit", "3"), id="--limit"),
        pytest.param(("--responses", "f.jsonl", "--category", "x"), id="--category"),
        pytest.param(("--responses", "f.jsonl", "--condition", "no_context"), id="--condition"),
        pytest.param(("--responses", "f.jsonl", "--dry-run"), id="--dry-run"),
        pytest.param(("--responses", "f.jsonl", "--keep-going"), id="--keep-going"),
        pytest.param(("--model", "m", "--keep-going", "--limit", "3"), id="--limit of a backfill"),
        pytest.param(("--model", "m", "--keep-going", "--category", "x"), id="of a category"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(home, arguments):
    result = bench("evaluate", "codis", *arguments, fails=True)
    assert result.exit_code == 2
    assert "cannot be combined with" in result.stderr


def test_a_backfill_uses_the_scorer_that_is_named_and_a_dry_run_of_it_asks_nothing(used_home):
    options = ("--model", "random", "--scorer", "official", "--keep-going", "--json")
    before = lines(bench("tables", "show", "codis/metrics", "--json"))
    (row,) = lines(bench("evaluate", "codis", *options, "--dry-run"))
    assert (row["asked"], row["requests"]) == ("model", 4)
    assert lines(bench("tables", "show", "codis/metrics", "--json")) == before
    (done,) = lines(bench("evaluate", "codis", *options))
    assert done["error"] == ""
    after = lines(bench("tables", "show", "codis/metrics", "--json"))
    assert {"scorer:official" in row["signature"] for row in after} == {True}


def test_a_task_that_fails_stops_no_later_suite_and_every_reason_is_printed(used_home, monkeypatch):
    calls = []

    def evaluate_suite(bench, suite, askings):
        calls.append(suite)
        failures = [BenchError(f"{suite}: {n}") for n in ("first", "second")]
        return whole.SuiteEvaluation(
            names=[suite], metrics=[], outcomes=[], rejected=[], failures=failures
        )

    monkeypatch.setattr(whole, "evaluate_suite", evaluate_suite)
    result = bench("evaluate", "codis", "blink", "--model", "random", fails=True)
    assert calls == ["codis", "blink"]
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert errors == [f"error: {suite}: {n}" for suite in calls for n in ("first", "second")]


def test_a_model_that_is_no_encoder_is_noticed_before_another_suite_is_evaluated(used_home):
    model = "tiny-vlm/step-6840"
    result = bench("evaluate", "codis", "journeybench/retrieval", "--model", model, fails=True)
    assert f"no encoder in {used_home / 'bench.toml'} named '{model}'" in result.stderr
    assert model not in bench("tables", "show", "codis/metrics", "--json").stdout


def test_the_leaderboard_of_a_read_only_home_marks_what_is_stale(used_home, monkeypatch):
    with (used_home / "bench.toml").open("a") as file:
        file.write('[suites.codis]\nscorer = "official"\n')
    monkeypatch.setattr(os, "access", lambda *_: False)
    rows = lines(bench("leaderboard", "codis", "--json"))
    (stale,) = [row["stale"] for row in rows if row["model"] == "random"]
    assert "scorer" in stale


def test_a_table_of_all_models_shows_the_rows_of_one_or_says_that_it_has_none(used_home):
    bench("evaluate", "codis", "--model", "most-frequent")
    for table in ("leaderboard", "codis/metrics"):
        rows = lines(bench("tables", "show", table, "--model", "random", "--json"))
        assert {row["model"] for row in rows} == {"random"}
    stderr = bench("tables", "show", "codis/questions", "--model", "random", fails=True).stderr
    assert stderr == "error: codis/questions: has no rows of one model. Leave --model out\n"


def test_a_number_that_is_not_there_cannot_be_evaluated(used_home):
    result = bench("bundle", "reproduce", "codis", "nobody", fails=True)
    assert (result.exit_code, result.stderr[:21]) == (2, "cannot be evaluated: ")
