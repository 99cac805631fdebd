"""Provenance of points: digests of the inputs of each score, which the compare page pairs.

A thousand models have half a million pairs, so the inputs that ``causes.find_causes`` compares are
written once per model, and the page compares them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.comparison.causes import ORIGIN, signature_by_cause, split_model_part
from bench_assets.comparison.measurements import ConditionQuestions, measured_models
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.task import Task
from bench_assets.report.samples.questions import RUN, CodedColumn, Columns, dictionary_encode
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.tables.file_bytes import PER_MODEL
from bench_resources.tables.parquet import TableFiles, read_by_question

_FORMAT = "2"  # version of the page's data format
_DIGITS = 8  # hexadecimal digits of a digest, which is compared within one question only
_PREDICTION_COLUMNS = (
    "text",
    "ranking",
    "prompt_sha256",
    "decoding",
    "raw_text",
    "no_answer",
    "error",
)
_SCORE_COLUMNS = ("points", "max_points", "scorer")
_JUDGEMENT_COLUMNS = ("judge", "criterion", "verdict", "value")
_ID_COLUMNS = ("question_id", "sample")


class PointProvenance:
    """Writes ``origins-<questions>`` and ``origins-<task>-<model>``."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the provenance of every model's points; unreadable tables are left out."""
        for task in catalog.tasks:
            by_condition = {
                name: ConditionQuestions(tables, questions_key(task, name))
                for name in task.conditions
            }
            tables_by_key = {tuple(table.key): table for table in by_condition.values()}
            for table in tables_by_key.values():
                _put_questions(site, table, with_fields=len(tables_by_key) > 1)
            for model in measured_models(tables, task):
                _put_model(site, task, by_condition, model)


def input_digests(
    ids: Sequence[str], predictions: Columns, scores: Columns, judgements: Columns | None
) -> dict[str, Any]:
    """Digests of the inputs of each question's points, over all its samples.

    Args:
        ids: Ids of the questions, in order.
        predictions: Columns of ``Prediction``.
        scores: Columns of ``Score``.
        judgements: Columns of ``Judgement``; None without a judge.

    Returns:
        Columns encoded by ``dictionary_encode``; "" for missing values, such as ``points`` without
        scores.
    """
    model_parts = [split_model_part(decoding or "") for decoding in predictions["decoding"]]
    derived: dict[str, Sequence[Any]] = {
        "who": [model for model, _ in model_parts],
        "how": [decoding for _, decoding in model_parts],
        "failed": ["yes" if error else "" for error in predictions["error"]],
        "ranking": [tuple(names or ()) for names in predictions["ranking"]],
    }
    if judgements is None:
        judgements = {name: [] for name in (*_ID_COLUMNS, *_JUDGEMENT_COLUMNS)}
    responses = _QuestionSamples(ids, {**predictions, **derived})
    points = _QuestionSamples(ids, scores)
    verdicts = _QuestionSamples(ids, judgements)
    return {
        "failed": responses.names("failed"),
        "response": responses.digests("sample", "text", "ranking"),
        "prompt": responses.digests("prompt_sha256"),
        "raw": responses.digests("raw_text"),
        "cut": responses.digests("no_answer"),
        "who": responses.names("who"),
        "how": responses.names("how"),
        "points": points.digests("sample", "points", "max_points"),
        "scorers": points.names("scorer"),
        "judges": verdicts.names("judge"),
        "verdicts": verdicts.digests("sample", "criterion", "verdict", "value"),
    }


def question_columns(
    rows: Sequence[Question], table: ConditionQuestions, *, with_fields: bool = True
) -> dict[str, Any]:
    """Clusters and pairs of questions and, ``with_fields``, digests of their fields."""
    compared = [field.name for field in fields(Question) if field.name not in ORIGIN]
    digests = {name: CodedColumn() for name in (compared if with_fields else ())}
    for begin in range(0, len(rows), RUN):
        for name, column in digests.items():
            values = (getattr(row, name) for row in rows[begin : begin + RUN])
            column.add([_digest(_unordered(value)) for value in values])
    return {
        "clusters": table.cluster_of_each,
        "pairs": table.pair_of_each,
        "fields": {name: column.data() for name, column in digests.items()},
    }


def _put_questions(site: Site, questions: ConditionQuestions, *, with_fields: bool) -> None:
    """Write the clusters of questions and, ``with_fields``, digests of their fields."""
    inputs = combined_digest(
        _FORMAT, str(with_fields), site.stamps.of(questions.tables, questions.key)
    )
    name = f"origins-{slug('/'.join(questions.key))}"
    if site.has(name, inputs) or not questions.tables.exists(questions.key):
        return
    try:
        rows = questions.questions
    except TableError:
        return
    site.put(name, question_columns(rows, questions, with_fields=with_fields), inputs)


def _put_model(
    site: Site, task: Task, by_condition: Mapping[str, ConditionQuestions], model: str
) -> None:
    """Write the inputs of a model's points under each condition, unless they are up to date."""
    keys = {
        condition: {table: evaluation_key(task, condition, table) for table in PER_MODEL}
        for condition in by_condition
    }
    stamps = []
    for condition, questions in by_condition.items():
        stamps.append(site.stamps.of(questions.tables, questions.key))
        model_keys = keys[condition].values()
        stamps += [site.stamps.of(questions.tables, key, model) for key in model_keys]
    inputs = combined_digest(_FORMAT, *stamps)
    name = f"origins-{slug(task.name)}-{slug(model)}"
    if site.has(name, inputs):
        return
    points = {
        condition: _point_inputs(questions, keys[condition], model)
        for condition, questions in by_condition.items()
    }
    site.put(name, {condition: value for condition, value in points.items() if value}, inputs)


def _point_inputs(
    questions: ConditionQuestions, keys: Mapping[str, Sequence[str]], model: str
) -> dict[str, Any] | None:
    """Inputs of a model's points; None if unreadable, or not evaluated on these questions."""
    tables = questions.tables
    if not (tables.exists(keys["metrics"], model) and tables.exists(questions.key)):
        return None
    try:
        metrics = tables.read(keys["metrics"], Metric, model)
        if not metrics or metrics[0].questions != questions.data:
            return None
        columns = defaultdict[str, CodedColumn](CodedColumn)
        for ids, predictions, scores, judgements in _runs(questions, keys, model):
            digests = input_digests(ids, predictions, scores, judgements)
            for name, column in digests.items():
                columns[name].add_coded(column)
        signature_parts = signature_by_cause(Signature.parse(metrics[0].signature))
    except TableError:
        return None
    return {"spelled": signature_parts, **{name: column.data() for name, column in columns.items()}}


def _runs(
    questions: ConditionQuestions, keys: Mapping[str, Sequence[str]], model: str
) -> Iterator[tuple[Sequence[str], Columns, Columns, Columns | None]]:
    """Read runs of questions: their ids, predictions, scores and judgements."""
    tables, all_ids = questions.tables, questions.ids

    def read(table: str, row_type: type[Any], names: Sequence[str]) -> Iterator[Columns]:
        columns = (*_ID_COLUMNS, *names)
        return read_by_question(tables, keys[table], row_type, model, columns, all_ids, RUN)

    has_judgements = tables.exists(keys["judgements"], model)
    return zip(
        (all_ids.slice(begin, RUN).to_pylist() for begin in range(0, len(all_ids), RUN)),
        read("predictions", Prediction, _PREDICTION_COLUMNS),
        read("scores", Score, _SCORE_COLUMNS),
        read("judgements", Judgement, _JUDGEMENT_COLUMNS) if has_judgements else repeat(None),
        strict=False,  # without a judge, the last one has no end
    )


class _QuestionSamples:
    """The rows of each question, ordered by sample."""

    def __init__(self, ids: Sequence[str], columns: Columns) -> None:
        indices: dict[str, list[int]] = defaultdict(list)
        for index, question_id in enumerate(columns["question_id"]):
            indices[question_id].append(index)

        def sort_key(index: int) -> tuple[int, str]:
            return columns["sample"][index], repr([column[index] for column in columns.values()])

        for rows in indices.values():
            if len(rows) > 1:  # the key is slow
                rows.sort(key=sort_key)
        self._columns = columns
        self._rows = [indices.get(question_id, []) for question_id in ids]

    def digests(self, *names: str) -> dict[str, Any]:
        """Digest of these columns over the samples of each question; "" if all are empty."""
        columns = [self._columns[name] for name in names]
        rows = [
            tuple([tuple([column[index] for column in columns]) for index in indices])
            for indices in self._rows
        ]
        encoded = dictionary_encode(rows)
        values = [_digest(row) if _has_values(row) else "" for row in encoded["values"]]
        return {**encoded, "values": values}

    def names(self, name: str) -> dict[str, Any]:
        """Distinct values of a column for each question, joined by commas."""
        column = self._columns[name]
        rows = [tuple([column[index] for index in indices]) for indices in self._rows]
        encoded = dictionary_encode(rows)
        values = [", ".join(sorted({value or "" for value in row})) for row in encoded["values"]]
        return {**encoded, "values": values}


def _has_values(rows: Sequence[Sequence[Any]]) -> bool:
    return any(value not in ("", None, ()) for row in rows for value in row)


def _unordered(value: object) -> object:
    """Items of a mapping in the order of its keys; other values unchanged."""
    return sorted(value.items()) if isinstance(value, Mapping) else value


def _digest(value: object) -> str:
    return text_digest(repr(value))[:_DIGITS]
