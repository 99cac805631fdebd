"""Why a score moved, in Chromium, of any two models: the causes of ``bench tables diff``."""

from dataclasses import replace
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING

import pytest

from bench_assets.catalog import Catalog
from bench_assets.comparison.difference import decompose_difference
from bench_assets.comparison.sides import EvaluationLocation
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Condition
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import random_side, side
from tests.fakes.measures import both_halves
from tests.fakes.quiz import TASK, quiz
from tests.report.fair import catalog, report

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

OLD, NEW = "run/step-1", "run/step-20"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of 40 questions 20 were right; 10 more are, whose prompt is another, as the model is of all.

    One that was right no longer is: 20 + 10 - 1.
    """
    home: Path = tmp_path_factory.mktemp("home")
    tables = TableFiles(folder=str(home / "tables"))
    questions = quiz(40, categories=3)
    tables.write(["quiz", "questions"], questions, Question)
    for name, right in ((OLD, range(20)), (NEW, range(1, 30))):
        texts = {f"quiz/{n}": "x" if n in right else "y" for n in range(40)}
        one = side(questions, texts, name=name, decoding=f"{name}|t=0,max=8")
        rows = [
            replace(row, prompt_sha256="q")
            if name == NEW and 20 <= int(row.question_id.partition("/")[2]) < 30
            else row
            for row in one.predictions
        ]
        if name == NEW:  # the one that is no longer right
            rows[0] = replace(rows[0], text="", raw_text="<think>It never ends")
        tables.write(["quiz", "predictions"], rows, Prediction, name)
        tables.write(["quiz", "scores"], one.scores, Score, name)
        tables.write(["quiz", "metrics"], one.metrics, Metric, name)
    return report(home, tables, catalog(home)).as_uri()


def test_each_cause_says_what_it_did(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role(
        "link", name="Compare", exact=True
    ).click()  # the first and the last checkpoint, without a choice
    page.get_by_role("heading", name="Why the score moved").wait_for()
    page.get_by_text("10 questions gained points, 1 lost some, of 40 that both have").wait_for()
    table = page.get_by_role("table", name="Why the score moved")
    both = table.get_by_role("row", name="prompt + model")
    both.get_by_text("+0.250", exact=True).wait_for()  # 10 of 40
    alone = table.get_by_role("row").filter(
        has=page.get_by_role("rowheader", name="model", exact=True)
    )
    alone.get_by_text("−0.025", exact=True).wait_for()  # 1 of 40
    alone.get_by_role("link", name="quiz/0").click()
    page.get_by_text("What is 0?").first.wait_for()


def test_the_other_way_round_effects_change_their_signs(page: "Page", address: str) -> None:
    page.goto(f"{address}#/compare?a={NEW}&b={OLD}")
    page.get_by_text("1 questions gained points, 10 lost some, of 40 that both have").wait_for()
    table = page.get_by_role("table", name="Why the score moved")
    both = table.get_by_role("row", name="prompt + model")
    both.get_by_text("−0.250", exact=True).wait_for()
    page.get_by_text(f"bench tables diff {NEW} {OLD} --suite quiz").wait_for()


FEWER = Condition(prompt=lambda q: Prompt.of(q.text), about="Fewer.", own_questions=True)
POINTS = replace(TASK, conditions={**TASK.conditions, "fewer": FEWER})
PAIRS = replace(TASK, name="pairs", title="pairs", measures={"acc_p": both_halves})
QUESTIONS = quiz(30, categories=3)
CHANGED = replace(QUESTIONS[7], text="What else?", answer=("y",), labels={"checked": "yes"})
OTHERS = [*QUESTIONS[4:7], CHANGED, *QUESTIONS[8:], *quiz(34, categories=3)[30:]]
MODELS = ("one", "two", "three")
TABLES = {"predictions": Prediction, "judgements": Judgement, "scores": Score, "metrics": Metric}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> "tuple[str, TableFiles]":
    """Three models, of whose responses anything may differ; under two conditions, and in pairs."""
    folder: Path = tmp_path_factory.mktemp("home")
    tables = TableFiles(folder=str(folder / "tables"))
    rng = Random(5)
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    tables.write(["quiz", "fewer", "questions"], OTHERS, Question)
    for name in MODELS:
        write(tables, ["quiz"], name, QUESTIONS, rng)
        write(tables, ["quiz", "fewer"], name, OTHERS, rng)
    paired = [replace(one, task="pairs") for one in quiz(6, group=2)]
    tables.write(["pairs", "questions"], paired, Question)
    write_pairs(tables, paired)
    suites = (
        Suite(name="quiz", tasks=(POINTS,), assets=list),
        Suite(name="pairs", tasks=(PAIRS,), assets=list),
    )
    return report(folder, tables, Catalog(suites=suites)).as_uri(), tables


def write(
    tables: TableFiles, key: list[str], name: str, questions: list[Question], rng: Random
) -> None:
    """What a model said: by chance, as are most things that it depends on."""
    one = random_side(questions, name, rng)
    condition = key[1] if key[1:] else "main"
    metrics = [replace(row, condition=condition) for row in one.metrics]
    rows = dict(zip(TABLES, (one.predictions, one.judgements, one.scores, metrics), strict=True))
    for table, row_type in TABLES.items():
        tables.write([*key, table], rows[table], row_type, name)


def write_pairs(tables: TableFiles, questions: list[Question]) -> None:
    """Of three pairs: one stays right, one is won by model and prompt, one lost by the model."""
    for name, right, prompts in (("one", "110111", "pppppp"), ("two", "111110", "pppqpp")):
        texts = {f"quiz/{n}": "x" if one == "1" else "y" for n, one in enumerate(right)}
        one = side(questions, texts, task=PAIRS, name=name, decoding=f"{name}|t=0,max=8")
        rows = zip(one.predictions, prompts, strict=True)
        predictions = [replace(row, prompt_sha256=prompt) for row, prompt in rows]
        tables.write(["pairs", "predictions"], predictions, Prediction, name)
        tables.write(["pairs", "scores"], one.scores, Score, name)
        tables.write(["pairs", "metrics"], one.metrics, Metric, name)


def shown(page: "Page") -> list[tuple[str, ...]]:
    """Cause, effect, questions, better and worse: as the table has them."""
    page.get_by_role("heading", name="Why the score moved").wait_for()
    rows = page.get_by_role("table", name="Why the score moved").locator("tbody tr").all()
    return [tuple(row.locator("th, td").all_inner_texts()[:5]) for row in rows]


def signed(value: float | None) -> str:
    if value is None:
        return "not told apart"
    return f"{value:+.3f}".replace("-", "−") if value else "0.000"


ALL = [(model, condition) for condition in ("main", "fewer") for model in MODELS]
SOME = [pair for n, pair in enumerate(permutations(ALL, 2)) if n % 5 == 0]


def test_the_page_says_what_the_command_says(page: "Page", home: "tuple[str, TableFiles]") -> None:
    address, tables = home
    for (a, ca), (b, cb) in SOME:
        page.goto("about:blank")
        page.goto(f"{address}#/compare?task=quiz&a={a}&ca={ca}&b={b}&cb={cb}")
        before, after = (
            EvaluationLocation(tables, POINTS, *one).read() for one in ((ca, a), (cb, b))
        )
        _, *rows = decompose_difference(POINTS, before, after)
        wanted = [
            (row.cause, signed(row.effect), *map(str, (row.n, row.n_better, row.n_worse)))
            for row in rows
        ]
        assert len(wanted) > 3
        assert shown(page) == wanted, (a, ca, b, cb)


def test_what_counts_together_has_its_causes_together(
    page: "Page", home: "tuple[str, TableFiles]"
) -> None:
    page.goto(f"{home[0]}#/compare?task=pairs&a=one&b=two")
    assert shown(page) == [
        ("prompt + model", "+0.333", "2", "1", "0"),
        ("model", "−0.333", "4", "0", "1"),
    ]
