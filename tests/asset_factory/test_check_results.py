import json
from pathlib import Path

import pytest

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.defs.checks.regression import regression_checks
from bench_assets.defs.checks.table_checks import task_checks
from tests.cases import read_rows
from tests.fakes.quiz import JUDGED_TASK, questions_asset, quiz, run_for


@pytest.mark.parametrize(
    ("problems", "description"),
    [
        pytest.param([], "All is well.", id="no problem"),
        pytest.param(
            ["t/1: no text"], "1 problem among 40 responses; t/1: no text", id="one problem"
        ),
        pytest.param(
            ["t/1: no text", "t/2: no text"],
            "2 problems among 40 responses; the first: t/1: no text",
            id="several problems",
        ),
        pytest.param(
            ["<b>" + "x" * 1_000_000],
            f"1 problem among 40 responses; &#60;b&#62;{'x' * 297} …",
            id="markup and a megabyte of text",
        ),
    ],
)
def test_a_result_is_described_in_a_sentence(problems, description):
    result = check_result(problems, n=40, noun="response", holds="All is well.")
    assert (result.passed, result.description) == (not problems, description)


def check_descriptions(home: Path) -> dict[str, str]:
    """Descriptions by table and check, for two questions with a recorded response each."""
    lines = [{"question_id": f"quiz/{n}", "text": "x"} for n in range(2)]
    (home / "responses.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (home / "bench.toml").write_text('[models.m]\nkind = "recorded"\nfile = "responses.jsonl"\n')
    checks = [*task_checks(JUDGED_TASK), *regression_checks(JUDGED_TASK)]
    assets = [questions_asset(quiz(2)), *evaluation_assets(JUDGED_TASK)]
    result = run_for("m", [*assets, *checks], home, raise_on_error=False)
    return {
        f"{evaluation.asset_key.path[-1]}: {evaluation.check_name}": evaluation.description or ""
        for evaluation in result.get_asset_check_evaluations()
    }


def test_passed_checks_describe_what_holds(tmp_path):
    assert check_descriptions(tmp_path) == dict(read_rows(__file__, "passed_checks.jsonl"))
