"""Steps of the evaluation assets, around the pure pipeline."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice

import dagster as dg

from bench_assets.asset_factory.asset_metadata import results_page, results_table
from bench_assets.asset_factory.configured_runner import (
    configured_responses,
    configured_runner,
    configured_verdicts,
)
from bench_assets.asset_factory.partial_results import CONSTANTS, snapshot_while_running
from bench_assets.asset_factory.suite_assets import AssetFolder, StepModels
from bench_assets.core.judging.second_look import is_reader
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import (
    Judgement,
    Metric,
    Prediction,
    Question,
    Rejection,
    Score,
)
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.schema.training_runs import is_same_run
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.blind_baselines import BestConstant, best_constants, chance_level
from bench_assets.evaluation.judged_responses import JudgedResponses
from bench_assets.evaluation.runner import StoredResponses
from bench_assets.evaluation.task import RULES, Task
from bench_resources.config.bench_toml import Settings
from bench_resources.images.previews import mistakes_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_MAX_JUDGED = 500_000  # judged responses read for blind baselines; of more, the latest


def run_predictions(
    context: dg.AssetExecutionContext,
    models: Models,
    task: Task,
    condition: str,
    questions: Sequence[Question],
) -> tuple[list[Prediction], dict[str, int | float]]:
    """Run the model of this partition; returns the rows and their metadata.

    Raises:
        BenchError: If the model cannot be called.
    """
    name = context.partition_key
    models.bring(name, (image for question in questions for image in question.images))
    settings = models.settings
    opened = StepModels(context, models)

    @contextmanager
    def open_partition() -> Generator[ChatModel]:
        with (
            opened.open_session(name, condition) as session,
            snapshot_while_running(settings, task, condition, questions, session, responses.setup),
        ):
            yield session.model

    responses = configured_responses(task, models, name, open_partition)
    rows = configured_runner(task, settings, responses, condition=condition).predictions(questions)
    return rows, opened.metadata()


def run_judge(
    context: dg.AssetExecutionContext,
    models: Models,
    task: Task,
    judge: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> tuple[list[Judgement], dict[str, int | float]]:
    """Judge predictions with the configured judge; returns the rows and their metadata.

    Raises:
        BenchError: If the task has no such judge, or the judge cannot be called.
    """
    opened = StepModels(context, models)
    evaluated = context.partition_key if context.has_partition_key else ""
    verdicts = configured_verdicts(task, models, judge, opened.open, evaluated)
    rows = verdicts.judgements(task, questions, predictions)
    if not (progress := opened.metadata()):
        return rows, {}
    return rows, {**progress, "responses_failed": sum(bool(row.error) for row in rows)}


def constants_asset(task: Task, below: str = "") -> dg.AssetsDefinition:
    """Build the asset that scores constant responses to a task's questions, without a model.

    ``below`` names the condition whose own questions they are.
    """
    asset_folder = AssetFolder(task.name, "+".join((str(task.version), *task.extensions)))

    @dg.asset(
        name=CONSTANTS,
        ins=asset_folder.ins(questions=f"./{below}/questions"),
        description=(
            "One row: the value of the best constant response in one cell of the results, by a "
            "scorer of the task. A metric that is not better says nothing about images."
        ),
        op_tags={"dagster/priority": "-1"},  # only metrics read it: predictions run first
        **asset_folder.stage("constants", below=below),
    )
    def constants(questions: list[Question]) -> dg.Output[list[BestConstant]]:
        return table_output(best_constants(task, questions))

    return constants


def scores_output(
    task: Task,
    settings: Settings,
    image_store: ImageStore,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
) -> dg.Output[list[Score]]:
    """Score one model's responses; the metadata shows its mistakes with their images."""
    runner = configured_runner(task, settings, StoredResponses(predictions))
    rows = runner.scores(questions, predictions, judgements)
    return table_output(
        rows, mistakes_preview(questions, predictions, judgements, rows, image_store)
    )


def metrics_output(
    task: Task, questions: Sequence[Question], rows: list[Metric], others: Sequence[Metric] = ()
) -> dg.Output[list[Metric]]:
    """Build the output of one model's metrics, with a page and a table as metadata.

    ``others`` are metrics of other steps of its run, in the order written.
    """
    overall = {
        f"metric/{row.metric}": row.value
        for row in rows
        if row.category == "all" and row.n_scored > 0
    }
    metadata = {"table": dg.MetadataValue.md(results_table(rows))}
    if any((row.metric, row.category) == (task.primary_metric, "all") for row in rows):
        page = results_page(rows, task.primary_metric, others, chance_level(task, questions))
        metadata = {"results": dg.MetadataValue.md(page), **metadata}
    return table_output(rows, {**overall, **metadata})


def read_constants(
    tables: TableFiles, key: Sequence[str], task: Task, questions: Sequence[Question]
) -> list[BestConstant]:
    """Scores of constant responses to these questions, computed if their table has none."""
    known = tables.read(key, BestConstant) if tables.exists(key) else []
    data = short_digest(digest(questions))
    return [row for row in known if row.data == data] or best_constants(task, questions)


def read_judged_responses(
    tables: TableFiles,
    keys: Callable[[str], Sequence[str]],
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
) -> JudgedResponses | None:
    """Read the verdicts of a model's judge on these questions, for all models.

    Args:
        tables: The tables of the home.
        keys: Key of an evaluation table by its name.
        questions: The whole question table; the model may have answered a part of it.
        predictions: Predictions of the model.
        judgements: Judgements of the predictions; None is returned if rules judged them.
    """
    named = ((row.judge, row.setup) for row in judgements)
    judges = frozenset(one for one in named if one[0] != RULES and not is_reader(one[0]))
    if not judges:
        return None
    questions_digest, own = short_digest(digest(questions)), predictions[0].model
    names = sorted(
        tables.partitions(key := keys("judgements")), key=lambda one: -tables.written(key, one)
    )
    comparable = (
        one
        for one in names
        if one != own and _has_same_questions(tables, keys("metrics"), one, questions_digest)
    )
    others = list(islice(comparable, _MAX_JUDGED // max(1, len(questions))))
    known = chain([(predictions, judgements)], _read_evaluations(tables, keys, others))
    return JudgedResponses.of(known, judges)


def read_judged_before(
    tables: TableFiles,
    keys: Callable[[str], Sequence[str]],
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> JudgedResponses | None:
    """Like ``read_judged_responses``, with the model's stored judgements; None without them."""
    key, model = keys("judgements"), predictions[0].model if predictions else ""
    if not model or not tables.exists(key, model):
        return None
    rows = tables.read(key, Judgement, model)
    return read_judged_responses(tables, keys, questions, predictions, rows)


def _has_same_questions(tables: TableFiles, key: Sequence[str], model: str, asked: str) -> bool:
    """Whether the metrics of a model are about these questions."""
    with suppress(TableError):
        rows = tables.read(key, Metric, model) if tables.exists(key, model) else []
        return bool(rows) and rows[0].questions == asked
    return False


def _read_evaluations(
    tables: TableFiles, keys: Callable[[str], Sequence[str]], models: Iterable[str]
) -> Iterator[tuple[Sequence[Prediction], Sequence[Judgement]]]:
    for model in models:
        with suppress(TableError):  # unreadable tables: `bench home verify` names them
            yield (
                tables.read(keys("predictions"), Prediction, model),
                tables.read(keys("judgements"), Judgement, model),
            )


def rejection_tables(task: Task, condition: str = "main") -> list[str]:
    """Tables of rejected source rows: of a task, and of a condition's own files."""
    return [name for name in (task.rejections, task.condition(condition).rejections) if name]


def read_rejections(
    tables: TableFiles, task: Task, edition: str, condition: str = "main"
) -> dict[str, list[Rejection]]:
    """Rejected rows of a task's source by table, of the tables that exist.

    Empty for the mini edition, whose source contains invalid rows on purpose.
    """
    names = [] if edition == "mini" else rejection_tables(task, condition)
    keys = {name: name.split("/") for name in names}
    return {name: tables.read(key, Rejection) for name, key in keys.items() if tables.exists(key)}


def count_rejections(
    tables: TableFiles, task: Task, questions: Sequence[Question], condition: str = "main"
) -> int | None:
    """Number of rejected rows of the questions' source; None if it is not counted."""
    edition = questions[0].edition if questions else ""
    rejections = read_rejections(tables, task, edition, condition)
    return sum(map(len, rejections.values())) if rejections else None


def read_run(tables: TableFiles, key: Sequence[str], model: str) -> list[Metric]:
    """Metrics of the other steps of a model's run, in the order written.

    Tables that cannot be read are left out: `bench home verify` names them.
    """
    steps = [one for one in tables.partitions(key) if one != model and is_same_run(one, model)]
    found: list[Metric] = []
    for step in sorted(steps, key=lambda one: tables.written(key, one)):
        with suppress(TableError):
            found += tables.read(key, Metric, step)
    return found
