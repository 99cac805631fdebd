"""Numbers of judges whose agreement nobody measured; and of those whose agreement is known."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.comparison.judge_agreement import judges_with_agreement, unmeasured_judges
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.evaluation.measured_figures import PEOPLE, PRECISION, JudgeFigure
from bench_assets.evaluation.task import ByRules
from bench_assets.suites.codis.task import TASK
from bench_resources.tables.measured_figures import add_figures
from bench_resources.tables.parquet import TableFiles
from tests.quiz import quiz
from tests.report.fair import catalog, metric
from tests.report.test_index import index_of, row_of

SIGNED = "codis|v4|main|data:0c|prompts:0c|model:m|t=0|judge:{}|scorer:strict|n:80"


def figure(name, judge="gpt", task="codis"):
    return JudgeFigure(
        task=task,
        judge=judge,
        setup="judge=paper:1",
        prompts="0c",
        at="2026-01-01",
        figure=name,
        value=0.8,
        low=0.7,
        high=0.9,
        n=100,
    )


@pytest.fixture
def tables(tmp_path):
    return TableFiles(folder=str(tmp_path / "tables"))


@pytest.mark.parametrize(
    ("judge", "who"),
    [
        pytest.param("gpt", "gpt", id="a model"),
        pytest.param("strict:gpt", "strict:gpt", id="a model asked in another way"),
        pytest.param("gpt+rules", "gpt", id="a model beside rules"),
        pytest.param("rules", "", id="rules"),
        pytest.param("none", "", id="nobody"),
    ],
)
def test_who_judged_is_read_from_the_signature(judge, who):
    assert unmeasured_judges("codis", SIGNED.format(judge), set()) == who


def test_an_older_row_without_a_signature_has_no_mark():
    assert unmeasured_judges("codis", "", set()) == ""


@pytest.mark.parametrize(
    ("figures", "who"),
    [
        pytest.param([figure(PEOPLE)], "", id="beside people"),
        pytest.param([figure(PRECISION)], "gpt", id="by its precision alone"),
        pytest.param([figure(PEOPLE, judge="other")], "gpt", id="another judge"),
        pytest.param([figure(PEOPLE, task="blink")], "gpt", id="in another task"),
    ],
)
def test_what_was_measured_takes_the_mark_away(tmp_path, tables, figures, who):
    add_figures(tmp_path, JudgeFigure, figures)
    assert (
        unmeasured_judges("codis", SIGNED.format("gpt"), judges_with_agreement(tables, [TASK]))
        == who
    )


def test_so_does_the_suites_own_comparison(tables):
    row = replace(metric("m", 0.9), signature="codis|v4|main|judges:gpt~people|data:0c|model:m")
    tables.write(["codis", "judge_agreement"], [row], Metric, "m")
    assert judges_with_agreement(tables, [TASK]) == {("codis", "gpt")}


def test_rules_of_a_package_need_no_measuring(tables):
    task = replace(TASK, judges={**TASK.judges, "begins_well": ByRules(lambda _: [])})
    known = judges_with_agreement(tables, [task])
    assert unmeasured_judges("codis", SIGNED.format("begins_well"), known) == ""
    assert unmeasured_judges("codis", SIGNED.format("begins_well:gpt"), known) == "begins_well:gpt"


def test_a_damaged_file_of_figures_ends_nothing(tmp_path, tables):
    (tmp_path / "judges.jsonl").write_text("{no JSON")
    assert judges_with_agreement(tables, [TASK]) == set()


def test_the_report_names_the_judge_beside_its_number(tmp_path: Path, tables):
    tables.write(["quiz", "questions"], quiz(6, categories=3), Question)
    for model, judge in (("judged", "gpt"), ("by-rules", "rules")):
        row = metric(model, 0.9)
        signed = row.signature.partition("|judge:")[0] + f"|judge:{judge}"
        tables.write(["quiz", "metrics"], [replace(row, signature=signed)], Metric, model)
    index = index_of(tmp_path, tables)
    assert catalog(tmp_path).tasks
    assert {m: row_of(index, m)["unmeasured"] for m in ("judged", "by-rules")} == {
        "judged": "gpt",
        "by-rules": "",
    }
