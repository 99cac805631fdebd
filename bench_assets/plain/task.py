"""A benchmark without Python as a task."""

from functools import partial

from bench_assets.core.errors import SettingsError
from bench_assets.core.rows import Question
from bench_assets.plain import prompts, scoring
from bench_assets.task import RULES, ByModel, ByRules, Condition, Judge, Task, by_category
from resources.settings.benchmarks import JUDGED, PlainBenchmark


def task_of(name: str, benchmark: PlainBenchmark, section: str) -> Task:
    """Make the task that a section of bench.toml describes.

    Raises:
        SettingsError: If its prompt is no template; begins with the name of the section.
    """
    try:
        prompts.fields_of(benchmark.prompt)
    except SettingsError as why:
        raise SettingsError(f"{section}, {why}") from why
    judges: dict[str, Judge] = {
        RULES: ByRules(scoring.judge_by_rules, each=True),
        "model": ByModel(scoring.judge),
    }
    main = partial(prompts.main, template=benchmark.prompt)
    return Task(
        name=name,
        title=benchmark.title or name,
        version=3,
        conditions={
            "main": Condition(prompt=main, about="The pictures, then the prompt."),
            "no_image": Condition(
                prompt=partial(prompts.no_image, template=benchmark.prompt),
                about="The pictures are taken away: what is answered then was not seen.",
            ),
            "options_shuffled": Condition(
                prompt=main,
                about="The options in another order, drawn once: an answer should not go by place.",
                own_questions=True,
                needs="none of its questions has options",
            ),
        },
        readings=scoring.readings_of(benchmark.metric),
        measures=scoring.measures_of(benchmark.metric),
        judges=judges if benchmark.metric in JUDGED else {},
        slices=partial(_slices, labels=benchmark.slices),
    )


def _slices(question: Question, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The category, and each label with its name: two of them may have the same values."""
    named = {name: question.labels.get(name, "") for name in labels}
    return (*by_category(question), *(f"{name} {value}" for name, value in named.items() if value))
