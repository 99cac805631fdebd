"""A study without rows says what it needs."""

import pytest

from bench_assets.asset_factory.suite_assets import NEEDS_KEY
from bench_assets.suites.blink.assets.studies import common_mistakes, human_score
from bench_assets.suites.blink.suite import SUITE as BLINK
from bench_assets.suites.codis.assets.studies import judge_agreement
from bench_assets.suites.codis.suite import SUITE as CODIS
from bench_assets.suites.cogbench.assets.description import evaluator_accuracy
from bench_assets.suites.cogbench.assets.vqa import human
from bench_assets.suites.cogbench.suite import SUITE as COGBENCH
from bench_assets.suites.journeybench.suite import SUITE as JOURNEYBENCH
from bench_assets.suites.multi.suite import SUITE as MULTI
from tests.fakes.commands import bench


@pytest.mark.parametrize(
    ("study", "needed"),
    [
        (judge_agreement, "second_judge or human_labels in [suites.codis]"),
        (evaluator_accuracy, "human_labels in [suites.cogbench]"),
        (human, "human_answers in [suites.cogbench]"),
        (human_score, "human_answers in [suites.blink]"),
        (common_mistakes, "bench evaluate blink"),
    ],
)
def test_a_study_that_may_be_empty_names_what_it_needs(study, needed):
    assert needed in study.metadata_by_key[study.key][NEEDS_KEY]


WITH_ALL_OF_MAIN = {("multi", "elite"), ("multi", "blank_image")}


def test_a_condition_that_may_have_no_questions_names_what_it_needs():
    tasks = [*BLINK.tasks, *CODIS.tasks, *COGBENCH.tasks, *JOURNEYBENCH.tasks, *MULTI.tasks]
    lacking = {
        (task.name, name)
        for task in tasks
        for name, condition in task.conditions.items()
        if condition.own_questions and "it needs " not in condition.needs
    }
    assert lacking <= WITH_ALL_OF_MAIN


@pytest.mark.long
def test_the_command_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    result = bench("tables", "paper", "codis", "judge_agreement", "--model", "random", fails=True)
    assert "codis/judge_agreement: no rows; it needs second_judge or human_labels" in result.stderr


@pytest.mark.long
def test_so_does_a_condition_whose_table_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    options = ("--condition", "captions_for_images", "--model", "random")
    result = bench("evaluate", "blink", *options, fails=True)
    assert "there are no questions; it needs captions of the images" in result.stderr
