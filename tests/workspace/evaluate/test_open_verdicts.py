"""Evaluating with people as the judge: published, waited for, finished, and what is refused."""

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


def opened(home):
    return Workbench(load_settings(home), ["codis"])


def answer(home, n, *people):
    """Each person calls the first units right, and the others wrong."""
    folder = home / "annotation" / "codis" / "verdicts"
    units = [json.loads(line)["unit"] for line in (folder / "units.jsonl").read_text().splitlines()]
    lines = [
        {"unit": one, "person": who, "values": {"verdict": "yes" if number < n else "no"}}
        for number, one in enumerate(units)
        for who in people
    ]
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return len(units)


@pytest.mark.long
def test_people_get_units_are_waited_for_and_then_the_number_stands(home):
    with opened(home) as bench:
        with pytest.raises(
            OpenVerdictsError, match=r"4 responses need human verdicts; .* lacks 8 answers"
        ):
            evaluate_suite(bench, "codis", [("most-frequent", "main")])
        assert answer(home, 1, "ana") == 4
        with pytest.raises(
            OpenVerdictsError, match=r"4 responses need human verdicts; .* lacks 4 answers"
        ):
            evaluate_suite(bench, "codis", [("most-frequent", "main")])
        answer(home, 1, "ana", "bo")
        done = evaluate_suite(bench, "codis", [("most-frequent", "main")])
        rows = {row.metric: row for row in done.metrics if row.category == "all"}
        assert (rows["acc_q"].value, rows["acc_q"].n_scored) == (0.25, 4)
        assert (rows["raters"].value, rows["rater_agreement"].value) == (2, 1.0)
        assert "|judge:people|" in rows["acc_q"].signature
        answer(home, 2, "ana", "bo")  # they change their minds
        done = evaluate_suite(bench, "codis", [("most-frequent", "main")])
        assert next(row.value for row in done.metrics if row.metric == "acc_q") == 0.5


@pytest.mark.long
def test_after_a_deadline_nobody_is_sent_to_people(home):
    configuration = home / "bench.toml"
    configuration.write_text(f"{configuration.read_text()}until = 2999-12-24\n")
    with (
        opened(home) as bench,
        pytest.raises(OpenVerdictsError, match=r"lacks 8 answers by 2999-12-24\. "),
    ):
        evaluate_suite(bench, "codis", [("most-frequent", "main")])
    configuration.write_text(configuration.read_text().replace("2999", "1999"))
    with (
        opened(home) as bench,
        pytest.raises(BenchError, match=r"0 of 4 units were decided .* Extend until"),
    ):
        evaluate_suite(bench, "codis", [("most-frequent", "main")])


def test_without_its_section_nobody_gets_units(home):
    text = (home / "bench.toml").read_text()
    (home / "bench.toml").write_text(text.replace(SECTION, ""))
    with opened(home) as bench:
        assert bench.settings.suite("codis", SuiteSettings).judge == "people"
        with pytest.raises(SettingsError, match=r'Add a section \[annotation.tasks."codis/verd'):
            check_names(bench, ["codis"], ["most-frequent"])


def test_attention_checks_are_no_verdicts(home):
    with (home / "bench.toml").open("a") as file:
        file.write('gold = "gold.jsonl"\n')
    with opened(home) as bench, pytest.raises(SettingsError, match="Remove the entry"):
        check_names(bench, ["codis"], ["most-frequent"])


@pytest.mark.parametrize(
    ("task", "conditions", "why"),
    [
        pytest.param("codis", ["plain"], "condition main, not plain", id="an ablation"),
        pytest.param(
            "cogbench/description", [], "judged by rules, a model, not by 'people'", id="parts"
        ),
    ],
)
def test_people_are_no_judge_of_ablations_or_of_parts_of_a_response(home, task, conditions, why):
    with (home / "bench.toml").open("a") as file:
        file.write('\n[suites.cogbench]\njudge = "people"\n')
    suite = Workbench(load_settings(home), [task.split("/")[0]])
    with suite as bench, pytest.raises(SettingsError, match=why):
        check_names(bench, [task], ["most-frequent"], conditions)


@pytest.mark.long
def test_people_judge_a_subset_and_their_verdicts_count_for_the_whole(home):
    with opened(home) as bench:
        bench.refresh_questions("codis")
        arguments = (bench, ["codis"], [("most-frequent", "main")], QuestionSubset(limit=2))
        with pytest.raises(
            OpenVerdictsError, match=r"2 responses need human verdicts; .* lacks 4 answers"
        ):
            list(evaluate_suite_subsets(*arguments))
        assert answer(home, 1, "ana", "bo") == 2
        ((_, (evaluation,), _),) = evaluate_suite_subsets(*arguments)
        acc_q = next(row for row in evaluation.metrics if row.metric == "acc_q")
        assert (acc_q.value, acc_q.n_scored) == (0.5, 2)
        assert "|judge:people|" in acc_q.signature
        assert "judge=people:" in acc_q.setup
        with pytest.raises(
            OpenVerdictsError, match=r"2 responses need human verdicts; .* lacks 4 answers"
        ):
            evaluate_suite(bench, "codis", [("most-frequent", "main")])
