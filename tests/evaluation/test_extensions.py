from dataclasses import replace

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation.extensions import Extension, extend
from bench_assets.evaluation.task import ByRules, Condition
from bench_assets.plugins import EXTENSIONS
from bench_assets.suites.codis.task import TASK as CODIS
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.distributions import write_distribution
from tests.fakes.fridge import install_fridge
from tests.fakes.quiz import TASK as QUIZ
from tests.fakes.quiz import call_right

ALOUD = Condition(prompt=lambda question: Prompt.of(f"{question.text}!"), about="Aloud.")


def mean_answer_length(scored):
    return mean(ScoredPoint(float(len(score.answer))) for _, score in scored)


ACME = Extension(
    name="acme",
    task="codis",
    conditions={"aloud": ALOUD},
    measures={"words": mean_answer_length},
    judges={"kind": ByRules(call_right)},
)


def test_an_extension_comes_after_the_conditions_and_measures_of_the_paper():
    task = extend(CODIS, ACME)
    assert list(task.conditions) == [*CODIS.conditions, "aloud"]
    assert list(task.measures) == [*CODIS.measures, "words"]
    assert task.primary_metric == CODIS.primary_metric


def test_an_extension_keeps_the_task_s_name_and_is_named_in_its_title():
    task = extend(CODIS, ACME)
    assert (task.name, task.display_title) == ("codis", "CODIS+acme")


@pytest.mark.parametrize(
    ("fields", "expected_message"),
    [
        pytest.param({"conditions": {"main": ALOUD}}, "the condition 'main' is taken", id="main"),
        pytest.param(
            {"measures": {"acc_p": mean_answer_length}},
            "the measure 'acc_p' is taken",
            id="a measure",
        ),
        pytest.param(
            {"judges": {"rules": ByRules(call_right)}}, "the judge 'rules' is taken", id="rules"
        ),
        pytest.param({"name": "a+b"}, r"extension 'a\+b': expected", id="a plus sign"),
        pytest.param(
            {"judges": {"a:b": ByRules(call_right)}}, "judge 'a:b': expected", id="a colon"
        ),
        pytest.param(
            {"conditions": {"more": replace(ALOUD, own_questions=True)}},
            "condition 'more': an extension cannot have its own questions",
            id="own questions",
        ),
    ],
)
def test_an_extension_that_does_not_fit_its_task_is_refused(fields, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        extend(CODIS, replace(ACME, **fields))


def test_a_task_without_a_judge_cannot_get_one():
    with pytest.raises(SettingsError, match="quiz is scored without a judge"):
        extend(QUIZ, ACME)


ACME_MODULE = """
from bench_assets.core.stats.means import Mean
from bench_assets.evaluation.extensions import Extension
from pathlib import Path


def kelvin(scored):
    return Mean(value=7.0, low=7.0, high=7.0, n_scored=len(scored), n_unscored=0)


FRIDGE = Extension(name="acme", task="fridge", measures={"kelvin": kelvin})
OVEN = Extension(name="acme", task="oven")
SHELF = Extension(name="acme", task="fridge/shelf")
JUDGE = Extension(name="judge", task="codis", judges={"kind": kelvin})
NUMBER = Extension(name="acme", task=7)
LIST = Extension(name="acme", task="codis", measures=[kelvin])
NOT_WANTED = Extension(name="acme", task="blink")
"""


def install_acme(site, module: str, *names: str) -> None:
    entry_points = {EXTENSIONS: {name.lower(): f"{module}:{name}" for name in names}}
    write_distribution(site, module.replace("_", "-"), entry_points, **{module: ACME_MODULE})


def test_the_code_of_an_extension_counts_as_code_of_its_suite_alone(site):
    install_fridge(site, "fridge_whose_code_counts")
    install_acme(site, "acme_whose_code_counts", "FRIDGE")
    code = {suite.name: [path.name for path in suite.code] for suite in load_catalog().suites}
    shipped = ("blink", "codis", "cogbench", "journeybench", "multi")
    assert code == {name: [name] for name in shipped} | {
        "fridge": ["fridge_whose_code_counts.py", "acme_whose_code_counts.py"]
    }


@pytest.mark.long
def test_an_installed_extension_is_measured_and_on_the_leaderboard(site, home):
    install_fridge(site, "fridge_extended")
    install_acme(site, "acme_fridge", "FRIDGE", "NOT_WANTED")
    with Workbench(load_settings(home), ["fridge"]) as bench:
        bench.refresh_questions("fridge")
        bench.evaluate(["fridge"], "random")
        assert {row.metric: row.value for row in bench.metrics("fridge", "random")} == {
            "degrees": 280.0,
            "kelvin": 7.0,
        }
        bench.refresh_leaderboard()
        (standing,) = bench.rows("leaderboard")
        assert (standing.task, standing.metric) == ("fridge+acme", "degrees")


def test_an_unusable_extension_is_reported_and_its_task_loads_without_it(site):
    install_fridge(site, "fridge_of_the_extended")
    install_acme(site, "acme_odd", "OVEN", "SHELF", "JUDGE", "NUMBER", "LIST")
    catalog = load_catalog()
    judge, measures, number, oven, shelf = catalog.problems
    assert judge.startswith("acme-odd 1.0, entry point judge = ")
    assert "extension acme is left out: AttributeError: 'int' object" in number
    assert "task codis: measures: expected a mapping, it is of type list" in measures
    assert "extension judge is left out: task codis: judge 'kind': expected ByRules" in judge
    assert "extension acme is left out: no suite named 'oven'; known: blink, " in oven
    assert "extension acme is left out: no task named 'fridge/shelf'; known: fridge" in shelf
    extensions = {task.name: task.extensions for task in catalog.tasks}
    assert extensions["fridge"] == extensions["codis"] == ()
