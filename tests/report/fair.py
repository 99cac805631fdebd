"""A small home with metrics of a quiz: honest models, a run, and names that mean harm."""

from dataclasses import replace
from pathlib import Path

from bench_assets.catalog import Catalog
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.tables.leaderboard import rank_task
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Condition, Task
from bench_assets.report.building import make_report, parts
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz

HOSTILE = "<script>alert(1)</script>"
RIGHT_TO_LEFT = "\u202eנמל"
OUTSIDE = "../../../etc/passwd"
QUESTIONS = quiz(6, categories=3)
CATEGORIES = ("kind 0", "kind 1", "kind 2")

_PRINTED = """task,model,condition,metric,category,value,printed,source,note
quiz,GPT-4V,main,accuracy,all,0.7,70.0,"A Paper, Table 1",
quiz,GPT-4V,main,accuracy,kind 0,0.8,80.0,"A Paper, Table 1",
quiz,Human,main,accuracy,all,0.9,90.0,"A Paper, Table 1",five people
"""


def blind_quiz() -> Task:
    """The quiz with a second condition, ``blind``, whose prompt is empty."""
    blind = Condition(prompt=lambda q: Prompt.of(""), about="Nothing is asked.")
    return replace(TASK, conditions={**TASK.conditions, "blind": blind})


def catalog(folder: Path, lower_is_better: frozenset[str] = frozenset()) -> Catalog:
    """A catalog of that task alone; a paper's numbers of it are written into the folder."""
    printed = folder / "published.csv"
    printed.write_text(_PRINTED, encoding="utf-8")
    task = replace(blind_quiz(), lower_is_better=lower_is_better)
    suite = Suite(name="quiz", tasks=(task,), assets=list, published=printed)
    return Catalog(suites=(suite,))


def metric(model: str, value: float, category: str = "all", condition: str = "main") -> Metric:
    """A metric of the quiz whose interval reaches 0.1 to both sides."""
    return Metric(
        task="quiz",
        model=model,
        condition=condition,
        metric="accuracy",
        category=category,
        value=value,
        low=max(0.0, value - 0.1),
        high=min(1.0, value + 0.1),
        n_scored=6,
        n_unscored=0,
        n_failed=0,
        edition="own",
        data=short_digest(digest(QUESTIONS)),
        constant=0.25,
        signature=f"quiz|v1|{condition}|data:{short_digest(digest(QUESTIONS))}|model:{model}|n:6",
    )


def write_metrics(tables: TableFiles, model: str, value: float, condition: str = "main") -> None:
    """Write a model's metrics: the same value over all questions and in each category."""
    key = ["quiz", "metrics"] if condition == "main" else ["quiz", condition, "metrics"]
    rows = [metric(model, value, category, condition) for category in ("all", *CATEGORIES)]
    tables.write(key, rows, Metric, model)


def build_fair_home(folder: Path) -> Path:
    """Build a home and its report; return the report's first page."""
    tables = TableFiles(folder=str(folder / "tables"))
    tables.write(["quiz", "questions"], QUESTIONS, Question)
    for model, value in (
        ("random", 0.25),
        ("run/step-100", 0.3),
        ("run/step-900", 0.8),
        (HOSTILE, 0.5),
        (RIGHT_TO_LEFT, 0.4),
        (OUTSIDE, 0.1),
    ):
        write_metrics(tables, model, value)
    write_metrics(tables, "run/step-900", 0.2, "blind")
    return build_report(folder, tables, catalog(folder))


def build_report(folder: Path, tables: TableFiles, suites: Catalog) -> Path:
    """Build the report of the home's present tables; return its first page."""
    published, _ = suites.published()
    ranked = [row for task in suites.tasks for row in rank_task(task, tables, published)]
    settings = load_settings(folder)
    return make_report(settings, tables, suites, parts(ranked, suites, settings), print)
