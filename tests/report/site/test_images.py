"""Of which suites somebody who sends a report is told."""

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
    ("edition", "by_hand", "notes"),
    [
        pytest.param(
            "published", "ask them", ["quiz"], id="released data of which a copy is asked"
        ),
        pytest.param("own", "ask them", ["quiz"], id="a part of them"),
        pytest.param("mini", "ask them", [], id="what is drawn here is anybody's"),
        pytest.param("published", "", [], id="data that anybody may fetch"),
        pytest.param("", "ask them", [], id="nothing to show"),
    ],
)
def test_whose_data_may_not_be_passed_on(
    tmp_path: Path, edition: str, by_hand: str, notes: list[str]
) -> None:
    report = QuizReport(tmp_path)
    if edition:
        report.ask(question(question_id="quiz/1", task="quiz", edition=edition))
    suite = Suite(name="quiz", tasks=(TASK,), assets=tuple, by_hand=by_hand)
    other = replace(suite, name="other", tasks=(replace(TASK, name="other"),))
    assert restricted_suites(report.tables, Catalog(suites=(suite, other))) == notes
