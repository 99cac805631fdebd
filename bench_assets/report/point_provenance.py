"""Provenance of points: digests of the inputs of each score, which the compare page pairs.

A thousand models have half a million pairs, so the inputs that ``causes.find_causes`` compares are
written once per model, and the page compares them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice, repeat
from typing import Any

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.comparison.causes import ORIGIN, signature_by_cause, split_model_part
from bench_assets.comparison.measurements import ConditionQuestions
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.task import Task
from bench_assets.report.samples.questions import RUN, CodedColumn, Columns, dictionary_encode
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.tables.file_bytes import PER_MODEL
from bench_resources.tables.parquet import TableFiles, read_by_question

_FORM = "2"  # version of the data, increased when the page's format changes
_DIGITS = 8  # of a digest; only two digests of the same question are ever compared
_RESPONSE = ("text", "ranking", "prompt_sha256", "decoding", "raw_text", "no_answer", "error")
_SCORED = ("points", "max_points", "scorer")
_JUDGED = ("judge", "criterion", "verdict", "value")
_NAMED = ("question_id", "sample")


class PointProvenance:
    """Writes ``origins-<questions>`` and ``origins-<task>-<model>``."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the provenance of every model's points; unreadable tables are left out."""
        for task in catalog.tasks:
            by_condition = {
                name: ConditionQuestions(tables, questions_key(task, name))
                for name in task.conditions
            }
            own_responses = {
                tuple(model_points.key): model_points for model_points in by_condition.values()
            }
            for responses in own_responses.values():
                _put_questions(site, responses, several=len(own_responses) > 1)
            keys = [evaluation_key(task, name, "metrics") for name in task.conditions]
            for model in sorted({model for key in keys for model in tables.partitions(key)}):
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
        Columns encoded by ``coded``; "" for missing values, such as ``points`` without scores.
    """
    model_parts = [split_model_part(prediction or "") for prediction in predictions["decoding"]]
    more: dict[str, Sequence[Any]] = {
        "who": [model for model, _ in model_parts],
        "how": [decoding for _, decoding in model_parts],
        "failed": ["yes" if prediction else "" for prediction in predictions["error"]],
        "ranking": [tuple(names or ()) for names in predictions["ranking"]],
    }
    responses = _QuestionSamples(ids, {**predictions, **more})
    read = _QuestionSamples(ids, scores)
    judged = _QuestionSamples(ids, judgements or {name: [] for name in (*_NAMED, *_JUDGED)})
    return {
        "failed": responses.names("failed"),
        "response": responses.digests("sample", "text", "ranking"),
        "prompt": responses.digests("prompt_sha256"),
        "raw": responses.digests("raw_text"),
        "cut": responses.digests("no_answer"),
        "who": responses.names("who"),
        "how": responses.names("how"),
        "points": read.digests("sample", "points", "max_points"),
        "scorers": read.names("scorer"),
        "judges": judged.names("judge"),
        "verdicts": judged.digests("sample", "criterion", "verdict", "value"),
    }


def question_columns(
    rows: Sequence[Question], table: ConditionQuestions, *, several: bool = True
) -> dict[str, Any]:
    """Clusters and pairs of questions; digests of fields if the task has several tables."""
    compared = [field.name for field in fields(Question) if field.name not in ORIGIN]
    digests = {name: CodedColumn() for name in (compared if several else ())}
    each = iter(rows if digests else ())
    while run := list(islice(each, RUN)):
        for name, column in digests.items():
            column.add([_digest(_unordered(getattr(row, name))) for row in run])
    written = {name: column.data() for name, column in digests.items()}
    return {"clusters": table.cluster_of_each, "pairs": table.pair_of_each, "fields": written}


def _put_questions(site: Site, condition_questions: ConditionQuestions, *, several: bool) -> None:
    """Write the clusters of questions and, if a task has several tables, their digests."""
    inputs = combined_digest(
        _FORM, str(several), site.stamps.of(condition_questions.tables, condition_questions.key)
    )
    name = f"origins-{slug('/'.join(condition_questions.key))}"
    if site.has(name, inputs) or not condition_questions.tables.exists(condition_questions.key):
        return
    try:
        rows = condition_questions.questions
    except TableError:
        return
    site.put(name, question_columns(rows, condition_questions, several=several), inputs)


def _put_model(
    site: Site, task: Task, by_condition: Mapping[str, ConditionQuestions], model: str
) -> None:
    tables = {
        condition: {name: evaluation_key(task, condition, name) for name in PER_MODEL}
        for condition in by_condition
    }
    stamps = [
        site.stamps.of(responses.tables, key, of)
        for condition, responses in by_condition.items()
        for key, of in ((responses.key, ""), *((key, model) for key in tables[condition].values()))
    ]
    inputs = combined_digest(_FORM, *stamps)
    name = f"origins-{slug(task.name)}-{slug(model)}"
    if site.has(name, inputs):
        return
    points_by_condition = {
        name: _of_model(responses, tables[name], model) for name, responses in by_condition.items()
    }
    site.put(name, {name: points for name, points in points_by_condition.items() if points}, inputs)


def _of_model(
    condition_questions: ConditionQuestions, keys: Mapping[str, Sequence[str]], model: str
) -> dict[str, Any] | None:
    """Inputs of a model's points; None if it was not evaluated on these questions."""
    tables = condition_questions.tables
    if not (tables.exists(keys["metrics"], model) and tables.exists(condition_questions.key)):
        return None
    try:
        measured = tables.read(keys["metrics"], Metric, model)
        if not measured or measured[0].questions != condition_questions.data:
            return None
        columns = defaultdict[str, CodedColumn](CodedColumn)
        for run in _runs(condition_questions, keys, model):
            for name, digest in input_digests(*run).items():
                columns[name].add_coded(digest)
        spelled = signature_by_cause(Signature.parse(measured[0].signature))
    except TableError:
        return None
    return {"spelled": spelled, **{name: column.data() for name, column in columns.items()}}


def _runs(
    condition_questions: ConditionQuestions, keys: Mapping[str, Sequence[str]], model: str
) -> Iterator[tuple[Sequence[str], Columns, Columns, Columns | None]]:
    """Read runs of questions: their ids, predictions, scores and judgements."""

    def read(table: str, row_type: type[Any], names: Sequence[str]) -> Iterator[Columns]:
        arguments = condition_questions.tables, keys[table], row_type, model, (*_NAMED, *names)
        return read_by_question(*arguments, condition_questions.ids, RUN)

    judged = condition_questions.tables.exists(keys["judgements"], model)
    return zip(
        (
            condition_questions.ids.slice(begin, RUN).to_pylist()
            for begin in range(0, len(condition_questions.ids), RUN)
        ),
        read("predictions", Prediction, _RESPONSE),
        read("scores", Score, _SCORED),
        read("judgements", Judgement, _JUDGED) if judged else repeat(None),
        strict=False,
    )


class _QuestionSamples:
    """The rows of each question, ordered by sample."""

    def __init__(self, ids: Sequence[str], columns: Columns) -> None:
        places: dict[str, list[int]] = defaultdict(list)
        for at, name in enumerate(columns["question_id"]):
            places[name].append(at)
        for several in (rows for rows in places.values() if len(rows) > 1):
            several.sort(key=lambda at: (columns["sample"][at], repr(self._row(columns, at))))
        self._columns = columns
        self._rows = [places.get(name, []) for name in ids]

    def digests(self, *names: str) -> dict[str, Any]:
        """Digest of these columns over the samples of each question; "" if all are empty."""
        columns = [self._columns[name] for name in names]
        encoded = dictionary_encode(
            [tuple([tuple([c[at] for c in columns]) for at in rows]) for rows in self._rows]
        )
        return {
            **encoded,
            "values": [
                _digest(values) if _has_values(values) else "" for values in encoded["values"]
            ],
        }

    def names(self, name: str) -> dict[str, Any]:
        """Distinct values of a column for each question."""
        column = self._columns[name]
        encoded = dictionary_encode([tuple([column[at] for at in rows]) for rows in self._rows])
        return {
            **encoded,
            "values": [
                ", ".join(sorted({value or "" for value in values})) for values in encoded["values"]
            ],
        }

    @staticmethod
    def _row(columns: Columns, at: int) -> list[Any]:
        return [column[at] for column in columns.values()]


def _has_values(rows: Sequence[Sequence[Any]]) -> bool:
    return any(value not in ("", None, ()) for row in rows for value in row)


def _unordered(value: object) -> object:
    return sorted(value.items()) if isinstance(value, Mapping) else value


def _digest(value: object) -> str:
    return text_digest(repr(value))[:_DIGITS]
