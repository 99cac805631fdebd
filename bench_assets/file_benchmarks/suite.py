"""File benchmarks as suites with one task each."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import (
    RULES,
    ByModel,
    ByRules,
    Condition,
    Judge,
    Task,
    by_category,
)
from bench_assets.file_benchmarks import prompts, scoring
from resources.config.bench_toml import Settings
from resources.config.sections.benchmarks import JUDGEABLE_METRICS, FileBenchmarkSettings


def task_of(name: str, benchmark: FileBenchmarkSettings, section: str) -> Task:
    """Build the task of a section of bench.toml.

    Raises:
        SettingsError: If its prompt is not a valid template; names the section.
    """
    try:
        prompts.fields_of(benchmark.prompt)
    except SettingsError as why:
        raise SettingsError(f"{section}, {why}") from why
    judges: dict[str, Judge] = {
        RULES: ByRules(scoring.judge_by_rules, each=True),
        "model": ByModel(scoring.judge),
    }
    asked = prompts.PromptSettings(benchmark.prompt, benchmark.system, bool(benchmark.shots))
    main = partial(prompts.main, settings=asked)
    return Task(
        name=name,
        rejections=f"{name}/rejections",
        title=benchmark.title or name,
        version=4,
        conditions={
            "main": Condition(prompt=main, about="The images, then the prompt."),
            "no_image": Condition(
                prompt=partial(prompts.no_image, settings=asked),
                about="The images are taken away: what is answered then was not seen.",
            ),
            "options_shuffled": Condition(
                prompt=main,
                about="The options in another order, drawn once: an answer should not go by place.",
                own_questions=True,
                needs="none of its questions has options",
            ),
        },
        scorers=scoring.scorers_of(benchmark.metric),
        measures=scoring.measures_of(benchmark.metric),
        judges=judges if benchmark.metric in JUDGEABLE_METRICS else {},
        slices=partial(_slices, labels=benchmark.slices),
    )


def _slices(question: Question, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Slices: the category, and each label prefixed by its name, since values may coincide."""
    named = {name: question.labels.get(name, "") for name in labels}
    return (*by_category(question), *(f"{name} {value}" for name, value in named.items() if value))


def plain_suites(settings: Settings) -> list[tuple[str, Suite]]:
    """Build a suite for each ``[benchmarks.<name>]``, with its location for messages.

    Raises:
        SettingsError: If a prompt is not a valid template; names file and entry.
    """
    return [
        (
            section,
            Suite(
                name=name,
                tasks=(task_of(name, benchmark, section),),
                assets=partial(_assets, name, benchmark),
            ),
        )
        for name, benchmark in settings.benchmarks.items()
        for section in [settings.section(name)]
    ]


def _assets(name: str, benchmark: FileBenchmarkSettings) -> Sequence[Any]:
    from bench_assets.file_benchmarks.assets import assets_of

    return assets_of(name, benchmark)
