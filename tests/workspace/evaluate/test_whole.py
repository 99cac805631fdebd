import os

import pytest

from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.evaluate import whole
from tests.cases import read_cases
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


def test_recorded_responses_are_scored_and_those_that_do_not_fit_are_reported(used_home, evaluated):
    first_key, second_key = entry()["answer"].values()
    file, source = used_home / "somebody.jsonl", evaluated / "codis"
    unknown = {"question_id": "codis/777/1", "text": first_key}
    write_responses(file, [*answers(first_key, second_key, first_key), unknown])
    result = bench("evaluate", "codis", "--responses", file, "--source", source, "--json")
    acc_p, acc_q, *_ = lines(result)
    assert acc_p["metric"] == "acc_p"
    assert (acc_p["value"], acc_p["n_scored"], acc_p["n_unscored"]) == (1.0, 1, 1)
    assert (acc_q["value"], acc_q["n_scored"], acc_q["n_failed"]) == (1.0, 3, 1)
    assert {row["model"] for row in lines(result)} == {"somebody"}
    assert "1 of 4 questions have no response, such as codis/001/2" in result.stderr
    assert "1 responses to unknown questions left out, such as codis/777/1" in result.stderr
    assert {row["partial"] for row in lines(result)} == {"3 of 4 questions"}
    assert not list((used_home / "tables").rglob("somebody.parquet"))


@pytest.mark.long
def test_responses_to_all_questions_are_stored_like_any_evaluation(used_home):
    first_key, second_key = entry()["answer"].values()
    file = used_home / "somebody.jsonl"
    write_responses(file, answers(first_key, second_key, first_key, first_key))
    rows = lines(bench("evaluate", "codis", "--responses", file, "--json"))
    assert {row["model"] for row in rows} == {"somebody"}
    _, acc_q, *_ = rows
    assert acc_q["value"] == 0.75  # three of four
    assert all("model=" in row["setup"] and "judge=rules:" in row["setup"] for row in rows)

    stored = lines(bench("tables", "show", "codis/metrics", "--model", "somebody", "--json"))
    assert [row["signature"] for row in stored] == [row["signature"] for row in rows]
    assert lines(bench("evaluate", "codis", "--model", "somebody", "--json")) == rows
    assert "somebody" in bench("leaderboard").stdout


@pytest.mark.long
def test_a_file_of_responses_that_changed_is_evaluated_again(used_home):
    first_key, second_key = entry()["answer"].values()
    file = used_home / "somebody.jsonl"
    write_responses(file, answers(first_key, second_key, first_key, first_key))
    bench("evaluate", "codis", "--responses", file)
    write_responses(file, answers(first_key, second_key, first_key, second_key))
    _, acc_q, *_ = lines(bench("evaluate", "codis", "--responses", file, "--json"))
    assert acc_q["value"] == 1.0


def test_a_file_that_names_another_model_does_not_overwrite_its_tables(used_home):
    before = lines(bench("tables", "show", "codis/metrics", "--model", "random", "--json"))
    first_key, second_key = entry()["answer"].values()
    responses = answers(first_key, second_key, first_key, second_key, model="random")
    file = write_responses(used_home / "r.jsonl", responses)
    first_row, *_ = lines(bench("evaluate", "codis", "--responses", file, "--json"))
    assert first_row["model"].startswith("random+")
    assert lines(bench("tables", "show", "codis/metrics", "--model", "random", "--json")) == before


def test_a_file_of_responses_to_other_questions_is_an_error_that_names_one(used_home):
    unknown = {"question_id": "codis/777/1", "text": "up"}
    file = write_responses(used_home / "other.jsonl", [unknown])
    result = bench("evaluate", "codis", "--responses", file, fails=True)
    assert "no response answers a question of codis" in result.stderr
    assert "other.jsonl" in result.stderr
    assert "such as 'codis/777/1'." in result.stderr


def test_a_condition_without_questions_is_refused_with_what_it_needs(used_home):
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
def test_recorded_judgements_are_read_by_the_scorer_of_a_command(
    used_home, scorer, acc_q, n_scored
):
    responses = answers("w", "x", "y", "z")
    judgements = ("right", "wrong", "not right", "Right, perhaps")
    for response, judgement in zip(responses, judgements, strict=True):
        response["judge_response"] = judgement
    file = write_responses(used_home / "r.jsonl", responses)
    command = ("evaluate", "codis", "--responses", file, "--judge", "recorded")
    _, row, *_ = lines(bench(*command, "--scorer", scorer, "--json"))
    assert (row["metric"], row["value"], row["n_scored"]) == ("acc_q", acc_q, n_scored)


@pytest.mark.parametrize("arguments", read_cases(__file__, "ignored_options.jsonl"))
def test_an_option_that_would_be_ignored_is_refused(home, arguments):
    result = bench("evaluate", "codis", *arguments, fails=True)
    assert result.exit_code == 2
    assert "cannot be combined with" in result.stderr


@pytest.mark.parametrize(
    ("suite", "options", "reason"),
    [
        pytest.param(
            "codis", ("--judge", "helper"), "its judge judges every response", id="judged"
        ),
        pytest.param(
            "journeybench/retrieval",
            (),
            "its answers have no form that a reader could find",
            id="ranked",
        ),
        pytest.param(
            "blink", ("--scorer", "official"), "the scorer official uses none", id="other scorer"
        ),
    ],
)
def test_a_reader_that_would_not_be_asked_is_refused(home, suite, options, reason):
    options = ("--model", "random", *options, "--reader", "helper")
    result = bench("evaluate", suite, *options, fails=True)
    assert result.stderr == (
        f"error: reader helper: {suite} asks no reader: {reason}. Leave it out\n"
    )


def test_a_judge_that_would_not_be_asked_is_refused(home):
    command = ("evaluate", "multi", "--model", "random", "--judge", "helper")
    result = bench(*command, fails=True)
    assert result.stderr == "error: judge helper: multi asks no judge. Leave it out\n"


def test_a_dry_run_of_a_backfill_counts_requests_and_changes_no_table(used_home):
    options = ("--model", "random", "--scorer", "official", "--keep-going", "--json")
    metrics_before = lines(bench("tables", "show", "codis/metrics", "--json"))
    (row,) = lines(bench("evaluate", "codis", *options, "--dry-run"))
    assert (row["asked"], row["requests"]) == ("model", 4)
    assert lines(bench("tables", "show", "codis/metrics", "--json")) == metrics_before


def test_a_backfill_uses_the_scorer_that_is_named(used_home):
    options = ("--model", "random", "--scorer", "official", "--keep-going", "--json")
    (result,) = lines(bench("evaluate", "codis", *options))
    assert result["error"] == ""
    metrics = lines(bench("tables", "show", "codis/metrics", "--json"))
    assert metrics
    assert all("scorer:official" in row["signature"] for row in metrics)


def test_a_task_that_fails_stops_no_later_suite_and_every_error_is_printed(used_home, monkeypatch):
    def fail_both_tasks(bench, suite, askings):
        failures = [BenchError(f"{suite}: first"), BenchError(f"{suite}: second")]
        return whole.SuiteEvaluation(
            names=[suite], metrics=[], outcomes=[], rejected=[], failures=failures
        )

    monkeypatch.setattr(whole, "evaluate_suite", fail_both_tasks)
    result = bench("evaluate", "codis", "blink", "--model", "random", fails=True)
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert errors == [
        "error: codis: first",
        "error: codis: second",
        "error: blink: first",
        "error: blink: second",
    ]


def test_a_model_that_is_no_encoder_is_refused_before_another_suite_is_evaluated(used_home):
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


@pytest.mark.parametrize("table", ["leaderboard", "codis/metrics"])
def test_a_table_of_several_models_is_shown_with_the_rows_of_one(used_home, table):
    bench("evaluate", "codis", "--model", "most-frequent")
    rows = lines(bench("tables", "show", table, "--model", "random", "--json"))
    assert {row["model"] for row in rows} == {"random"}


def test_a_table_that_no_model_has_rows_in_is_not_shown_for_one(used_home):
    stderr = bench("tables", "show", "codis/questions", "--model", "random", fails=True).stderr
    assert stderr == "error: codis/questions: has no rows of one model. Leave --model out\n"
