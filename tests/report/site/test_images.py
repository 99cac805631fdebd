from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.catalog import Catalog
from bench_assets.evaluation.suite import Suite
from bench_assets.report.site.images import restricted_suites
from tests.fakes.quiz import TASK
from tests.fakes.rows import question
from tests.report.quiz_report import QuizReport


@pytest.mark.parametrize(
    ("edition", "by_hand", "restricted"),
    [
        pytest.param(
            "published", "ask them", ["quiz"], id="released data of which a copy is asked"
        ),
        pytest.param("own", "ask them", ["quiz"], id="a part of them"),
        pytest.param("mini", "ask them", [], id="what is drawn here is anybody's"),
        pytest.param("published", "", [], id="data that anybody may fetch"),
    ],
)
def test_a_suite_with_images_of_data_to_be_asked_for_is_restricted(
    tmp_path: Path, edition: str, by_hand: str, restricted: list[str]
) -> None:
    report = QuizReport(tmp_path)
    report.write_questions(question(question_id="quiz/1", task="quiz", edition=edition))
    assert restricted_suites(report.tables, catalog_of_two_suites(by_hand)) == restricted


def test_suites_without_questions_are_not_restricted(tmp_path: Path) -> None:
    report = QuizReport(tmp_path)
    assert restricted_suites(report.tables, catalog_of_two_suites("ask them")) == []


def catalog_of_two_suites(by_hand: str) -> Catalog:
    """The quiz, and a suite of which no test writes questions."""
    quiz = Suite(name="quiz", tasks=(TASK,), assets=tuple, by_hand=by_hand)
    empty = replace(quiz, name="empty", tasks=(replace(TASK, name="empty"),))
    return Catalog(suites=(quiz, empty))
