"""File benchmarks as suites with one task each."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Condition, Task, by_category
from bench_assets.file_benchmarks import prompts
from bench_assets.file_benchmarks.scoring import scoring_of
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings


def task_of(name: str, benchmark: FileBenchmarkSettings, section: str) -> Task:
    """Build the task of a section of bench.toml.

    Raises:
        SettingsError: If its settings do not fit together; names the section.
    """
    try:
        scoring = scoring_of(benchmark)
        prompt_settings = prompts.settings_of(benchmark, scoring.answers)
    except SettingsError as error:
        raise SettingsError(f"{section}, {error}") from error
    main = partial(prompts.main, settings=prompt_settings)
    return Task(
        name=name,
        rejections=f"{name}/rejections",
        title=benchmark.title or name,
        version=9,
        n_published=benchmark.published_questions,
        conditions={
            "main": Condition(prompt=main, about="The images, then the prompt."),
            "no_image": Condition(
                prompt=partial(prompts.no_image, settings=prompt_settings),
                about="Without the images: what is answered right then needs no image.",
            ),
            "options_shuffled": Condition(
                prompt=main,
                about="The options in another order, drawn once: tests for position bias.",
                own_questions=True,
                needs="none of its questions has options",
            ),
        },
        scorers=scoring.scorers,
        unjudged_scorers=frozenset({"official"}),
        measures=scoring.measures,
        lower_is_better=scoring.metric.lower_is_better,
        right_from=scoring.metric.right_from,
        judges=scoring.judges,
        answer_form=scoring.answer_form,
        slices=partial(_slices, labels=benchmark.slices),
    )


def _slices(question: Question, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Slices: the category, and each label prefixed by its name, since values may coincide."""
    values = {name: question.labels.get(name, "") for name in labels}
    return (*by_category(question), *(f"{name} {value}" for name, value in values.items() if value))


def file_benchmark_suites(settings: Settings) -> list[tuple[str, Suite]]:
    """Build a suite for each ``[benchmarks.<name>]``; each follows its section, for messages.

    Raises:
        SettingsError: If settings do not fit together; names file and entry.
    """
    suites = []
    for name, benchmark in settings.benchmarks.items():
        section = settings.section(name)
        task = task_of(name, benchmark, section)
        suite = Suite(name=name, tasks=(task,), assets=partial(_assets, name, benchmark))
        suites.append((section, suite))
    return suites


def _assets(name: str, benchmark: FileBenchmarkSettings) -> Sequence[Any]:
    from bench_assets.file_benchmarks.assets import assets_of

    return assets_of(name, benchmark)
