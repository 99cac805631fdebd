"""The index of a model card, read back as the hub reads cards."""

from dataclasses import replace
from functools import partial

import pytest
from huggingface_hub import ModelCard

from bench_assets.core.schema.rows import Metric
from bench_assets.export.model_index import results
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import MODEL, leaving, measure, questions, write

WRITE = partial(write, "model-index")


@pytest.fixture
def whole(home):
    """A home in which every question has its response."""
    tables = TableFiles(folder=str(home / "tables"))
    key = ["quiz", "metrics"]
    rows = tables.read(key, Metric, MODEL)
    tables.write(key, [replace(row, n_failed=0) for row in rows], Metric, MODEL)
    return home


def card(path):
    return ModelCard(f"---\n{path.read_text(encoding='utf-8')}---\n").data


def test_a_card_says_what_was_measured_on_what_and_that_nobody_verified_it(whole):
    (path,) = WRITE(leaving(whole, whole / "out"))
    read = card(path)
    (result,) = read.eval_results
    assert read.model_name == MODEL
    assert (result.metric_type, result.metric_value, result.verified) == ("accuracy", 1 / 3, False)
    assert (result.dataset_type, result.dataset_name) == ("org/quiz", "A quiz")
    assert result.dataset_args == {"edition": "published", "questions": 4}
    assert result.metric_args["signature"].startswith(
        f"quiz|v3|main|data:{result.dataset_revision}"
    )
    assert (result.metric_args["constant"], result.metric_args["shuffled"]) == (1.0, 0.25)
    assert path.name == "run%2Fstep-0150.yml"


def test_another_edition_is_never_taken_for_the_data_set_of_the_release(whole):
    measure(TableFiles(folder=str(whole / "tables")), questions("mini"))
    (one,) = leaving(whole, whole / "out").gathered.evaluations()
    (result,) = results(one, "hf:org/quiz@main")
    assert result.dataset_type == "quiz-mini"
    assert result.dataset_name == "A quiz (mini edition)"
    assert result.metric_name == "accuracy (mini edition)"


def test_a_metric_of_which_lower_is_better_says_so(whole):
    (one,) = leaving(whole, whole / "out").gathered.evaluations()
    task = replace(one.task, lower_is_better=frozenset({"accuracy"}))
    (errors,), (points,) = results(replace(one, exam=replace(one.exam, task=task))), results(one)
    assert errors.metric_args
    assert errors.metric_args["lower_is_better"] is True
    assert "lower_is_better" not in (points.metric_args or {})


def test_a_model_without_all_responses_is_reported_and_has_no_result(home):
    leaves = leaving(home, home / "out")
    assert WRITE(leaves) == []
    assert leaves.gathered.left_out == [f"quiz of {MODEL}: 1 questions have no response"]


def test_a_model_that_is_not_measured_is_reported_and_has_no_result(home):
    (file,) = (home / "tables/quiz/metrics").iterdir()
    file.unlink()
    leaves = leaving(home, home / "out")
    assert WRITE(leaves) == []
    assert leaves.gathered.left_out == [f"quiz of {MODEL}: it is not measured"]
