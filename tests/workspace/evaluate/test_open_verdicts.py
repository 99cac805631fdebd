import json

import pytest

from bench_assets.annotation.tasks import OpenVerdictsError
from bench_assets.asset_factory.question_subset import QuestionSubset
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.workspace.evaluate.subset import evaluate_suite_subsets
from bench_assets.workspace.evaluate.whole import evaluate_suite
from bench_assets.workspace.materialization.opening import check_names
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.codis_source import entry, write_release

SECTION = '[annotation.tasks."codis/verdicts"]\nneeded = 2\n'


@pytest.fixture
def home(tmp_path):
    pairs = [entry(id=f"{n:03}", question=f"Open or shut, {n}?") for n in range(2)]
    source = write_release(tmp_path / "source", pairs)
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "bench.toml").write_text(
        f'[sources]\ncodis = "{source}"\n\n[suites.codis]\njudge = "people"\n\n{SECTION}'
    )
    return folder


def open_codis(home):
    return Workbench(load_settings(home), ["codis"])


def write_verdicts(home, n_right, *people):
    """Write verdicts of people: the first ``n_right`` units are right, the others wrong.

    Returns the number of units, which an evaluation has published before.
    """
    folder = home / "annotation" / "codis" / "verdicts"
    units = [json.loads(line)["unit"] for line in (folder / "units.jsonl").read_text().splitlines()]
    verdicts = ["yes"] * n_right + ["no"] * (len(units) - n_right)
    answers = [
        {"unit": unit, "person": person, "values": {"verdict": verdict}}
        for unit, verdict in zip(units, verdicts, strict=True)
        for person in people
    ]
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in answers))
    return len(units)


def evaluate_codis(bench):
    return evaluate_suite(bench, "codis", [("most-frequent", "main")])


def expect_open_verdicts(n_responses, n_answers):
    """Expect that an evaluation waits for the answers of people."""
    message = rf"{n_responses} responses need human verdicts; .* lacks {n_answers} answers"
    return pytest.raises(OpenVerdictsError, match=message)


def overall_metrics(evaluation):
    return {row.metric: row for row in evaluation.metrics if row.category == "all"}


@pytest.mark.long
def test_an_evaluation_waits_for_two_verdicts_on_each_response(home):
    with open_codis(home) as bench:
        with expect_open_verdicts(4, 8):
            evaluate_codis(bench)
        assert write_verdicts(home, 1, "ana") == 4
        with expect_open_verdicts(4, 4):
            evaluate_codis(bench)

        write_verdicts(home, 1, "ana", "bo")
        metrics = overall_metrics(evaluate_codis(bench))

        assert (metrics["acc_q"].value, metrics["acc_q"].n_scored) == (0.25, 4)
        assert (metrics["raters"].value, metrics["rater_agreement"].value) == (2, 1.0)
        assert "|judge:people|" in metrics["acc_q"].signature

        write_verdicts(home, 2, "ana", "bo")  # they change their minds
        assert overall_metrics(evaluate_codis(bench))["acc_q"].value == 0.5


@pytest.mark.long
def test_responses_that_people_did_not_judge_by_the_deadline_are_an_error(home):
    configuration = home / "bench.toml"
    configuration.write_text(f"{configuration.read_text()}until = 2999-12-24\n")
    with (
        open_codis(home) as bench,
        pytest.raises(OpenVerdictsError, match=r"lacks 8 answers by 2999-12-24\. "),
    ):
        evaluate_codis(bench)
    configuration.write_text(configuration.read_text().replace("2999", "1999"))
    with (
        open_codis(home) as bench,
        pytest.raises(BenchError, match=r"0 of 4 units were decided .* Extend until"),
    ):
        evaluate_codis(bench)


def test_people_as_the_judge_need_a_section_of_their_task(home):
    text = (home / "bench.toml").read_text()
    (home / "bench.toml").write_text(text.replace(SECTION, ""))
    with open_codis(home) as bench:
        assert bench.settings.suite("codis", SuiteSettings).judge == "people"
        with pytest.raises(SettingsError, match=r'Add a section \[annotation.tasks."codis/verd'):
            check_names(bench, ["codis"], ["most-frequent"])


def test_a_task_of_verdicts_may_not_have_attention_checks(home):
    with (home / "bench.toml").open("a") as file:
        file.write('gold = "gold.jsonl"\n')
    with open_codis(home) as bench, pytest.raises(SettingsError, match="gold cannot"):
        check_names(bench, ["codis"], ["most-frequent"])


@pytest.mark.parametrize(
    ("task", "conditions", "expected_message"),
    [
        pytest.param("codis", ["plain"], "condition main, not plain", id="an ablation"),
        pytest.param(
            "cogbench/description", [], "judged by rules, a model, not by 'people'", id="parts"
        ),
    ],
)
def test_people_cannot_judge_ablations_or_parts_of_responses(
    home, task, conditions, expected_message
):
    with (home / "bench.toml").open("a") as file:
        file.write('\n[suites.cogbench]\njudge = "people"\n')
    suite, _, _ = task.partition("/")
    with (
        Workbench(load_settings(home), [suite]) as bench,
        pytest.raises(SettingsError, match=expected_message),
    ):
        check_names(bench, [task], ["most-frequent"], conditions)


@pytest.mark.long
def test_people_judge_a_subset_and_their_verdicts_count_for_the_whole(home):
    with open_codis(home) as bench:
        bench.refresh_questions("codis")
        arguments = (bench, ["codis"], [("most-frequent", "main")], QuestionSubset(limit=2))
        with expect_open_verdicts(2, 4):
            list(evaluate_suite_subsets(*arguments))
        assert write_verdicts(home, 1, "ana", "bo") == 2

        ((_, (evaluation,), _),) = evaluate_suite_subsets(*arguments)
        acc_q = overall_metrics(evaluation)["acc_q"]

        assert (acc_q.value, acc_q.n_scored) == (0.5, 2)
        assert "|judge:people|" in acc_q.signature
        assert "judge=people:" in acc_q.setup
        with expect_open_verdicts(2, 4):  # of the two other responses
            evaluate_codis(bench)
