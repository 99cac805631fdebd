"""Annotation units and answers as assets, one step per task that bench.toml configures.

A task whose section was removed after the definitions were loaded gets empty tables.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.annotation.answers.validation import (
    ResolvedAnswers,
    find_misfits,
    resolve_answers,
    with_needed,
)
from bench_assets.annotation.tasks import (
    AnnotationBackend,
    AnnotationTask,
    AnnotationTerms,
    Answer,
    SuiteAnnotationTask,
    Unit,
    UnitCounts,
    Values,
    format_timestamp,
)
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.rows import Judgement, Prediction
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.json_records import read_lines, require_field
from bench_assets.evaluation.outcomes import is_by_people
from bench_assets.features import open_annotation_backend
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.watched import AnnotationTaskSettings
from bench_resources.tables.asset_types import preview
from bench_resources.tables.file_bytes import PER_MODEL
from bench_resources.tables.measured_figures import read_figures
from bench_resources.tables.parquet import TableFiles, table_output

_ROWS: Mapping[str, tuple[type[Any], str]] = {
    "units": (Unit, 'One row: one unit of the annotation task "{}".'),
    "answers": (
        Answer,
        'One row: one person\'s last answer about one unit of the annotation task "{}", and why '
        "it does not count, if so.",
    ),
}
_MAX_SHOWN = 5  # reasons that a run logs


def annotation_assets(task: SuiteAnnotationTask) -> dg.AssetsDefinition:
    """Build the step of a task: its units, their publication, and the answers."""
    keys = {name: task.table(name).split("/") for name in _ROWS}
    inputs = {dg.AssetKey(table_read.key.split("/")) for table_read in task.reads.values()}
    is_about_responses = any(key.path[-1] in PER_MODEL for key in inputs)
    # A model may pre-annotate units, and needs its pool; most tasks ask only people.
    stage = AssetFolder(f"{task.suite}/annotation").stage(
        "annotation", pool="judge", on_request=is_about_responses
    )
    stage["kinds"] = {"python"}

    @dg.multi_asset(
        name=task.table("task").replace("/", "__"),
        pool=stage["pool"],
        deps=sorted(inputs),
        outs={
            name: out(stage, row_type, description.format(task.task.title), keys[name][-1])
            for name, (row_type, description) in _ROWS.items()
        },
        internal_asset_deps={"units": inputs, "answers": {dg.AssetKey(keys["units"])}},
    )
    def annotation(
        context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings], tables: TableFiles
    ) -> Iterator[dg.Output[list[Any]]]:
        task_settings = settings.annotation.tasks.get(task.task.name)
        if task_settings is None:
            yield from (table_output([], name=name) for name in _ROWS)
            return
        units = build_units(task, task_settings, settings, tables)
        yield table_output(units, name="units")
        yield _publish_and_read(context, task.task, units, task_settings.terms, settings)

    return annotation


def _publish_and_read(
    context: dg.AssetExecutionContext,
    task: AnnotationTask,
    units: Sequence[Unit],
    terms: AnnotationTerms,
    settings: Settings,
) -> dg.Output[list[Answer]]:
    """Publish the units, then read the answers; reasons for refusal are logged."""
    backend = open_annotation_backend(settings)
    counts = _publish_units(backend, task, units, terms)
    published = counts._asdict() if counts else {"closed": terms.until}
    resolved = resolve_answers(task, units, backend.answers(task), terms)
    reasons = Counter(answer.complaint for answer in resolved.refused)
    for reason, n in reasons.most_common(_MAX_SHOWN):
        context.log.info(f"{n} refused: {reason}")
    return _answers_output(resolved, {f"units: {name}": n for name, n in published.items()})


def build_units(
    task: SuiteAnnotationTask,
    task_settings: AnnotationTaskSettings,
    settings: Settings,
    tables: TableFiles,
) -> list[Unit]:
    """Build the units from the present tables, with the settings of bench.toml.

    Raises:
        TableError: If an input table of the task was never materialized.
        SettingsError: If the file of attention checks cannot be used, or no answer can pass one.
    """
    partial_rows = _rows_judged_by_people(task, settings.home)
    inputs: dict[str, Sequence[Any]] = {
        name: _read_rows(tables, table_read.key, table_read.row, partial_rows.get(name, ()))
        for name, table_read in task.reads.items()
    }
    if task.is_drawn:
        suite_task = task.task.name.removesuffix("/verdicts")
        inputs["drawn"] = read_figures(settings.home, DrawnUnit, suite_task)
    units = task.units(**inputs)
    file = task_settings.gold
    gold = _read_gold(settings.resolve(file)) if file else {}
    if unknown_ids := sorted(gold.keys() - {unit.unit_id for unit in units}):
        raise SettingsError(f"{file}: unknown unit {unknown_ids[0]!r} in {task.task.name}")
    units_with_gold = [replace(unit, gold=gold.get(unit.unit_id, {})) for unit in units]
    for unit in units_with_gold:
        if problem := _gold_problem(task.task, unit):
            raise SettingsError(f"{file}: unit {unit.unit_id!r}: {problem}")
    return with_needed(units_with_gold, task_settings.terms)


def _gold_problem(task: AnnotationTask, unit: Unit) -> str:
    """Why no answer can pass an attention check; "" if one can."""
    gold_fields = tuple(field for field in task.fields if field.name in unit.gold)
    return "; ".join(find_misfits(unit.gold, replace(task, fields=gold_fields), unit.choices))


def _read_rows(
    tables: TableFiles, key: str, row_type: type[Any], partial_rows: Sequence[Any]
) -> list[Any]:
    """Rows of all partitions of a table, then those of partial evaluations."""
    path = key.split("/")
    partitions = tables.partitions(path) or ([] if partial_rows else [""])
    rows = [row for partition in partitions for row in tables.read(path, row_type, partition)]
    return [*rows, *partial_rows]


def _rows_judged_by_people(task: SuiteAnnotationTask, home: Path) -> dict[str, list[Any]]:
    """Predictions and judgements of the partial evaluations that people judge, by table."""
    tables, rows_by_table = partial_tables(home), defaultdict[str, list[Any]](list)
    if not {"predictions", "judgements"} <= task.reads.keys():
        return rows_by_table
    judgements_key = task.reads["judgements"].key.split("/")
    predictions_key = task.reads["predictions"].key.split("/")
    for model in tables.partitions(judgements_key):
        judgements = tables.read(judgements_key, Judgement, model)
        if is_by_people(judgements):
            rows_by_table["judgements"] += judgements
            rows_by_table["predictions"] += tables.read(predictions_key, Prediction, model)
    return rows_by_table


def _publish_units(
    backend: AnnotationBackend, task: AnnotationTask, units: Sequence[Unit], terms: AnnotationTerms
) -> UnitCounts | None:
    """Publish the units, or close the task after its deadline; then there are no counts."""
    if terms.until and format_timestamp(datetime.now(UTC)) > terms.until:
        backend.close(task)
        return None
    return backend.ask(task, units)


def _answers_output(
    resolved: ResolvedAnswers, published: Mapping[str, Any]
) -> dg.Output[list[Answer]]:
    """Output of the answers; its data version is that of the answers that count."""
    counts = {"counted": len(resolved.answers), "refused": len(resolved.refused), **published}
    return dg.Output(
        resolved.all,
        output_name="answers",
        data_version=dg.DataVersion(digest(resolved.answers)),
        metadata={**counts, "dagster/row_count": len(resolved.all), **preview(resolved.all)},
    )


def _read_gold(file: Path) -> dict[str, Values]:
    """Read the right answers of attention checks, by unit."""
    gold: dict[str, Values] = {}
    try:
        for line in read_lines(file):
            unit_id = require_field(line.entry, "unit", str, line.where)
            values = require_field(line.entry, "values", dict, line.where)
            gold[unit_id] = {
                name: tuple(map(str, value if isinstance(value, list) else [value]))
                for name, value in values.items()
            }
    except SourceError as error:
        raise SettingsError(f"attention checks: {error}") from error
    return gold
