"""Stores an evaluation that was not made by the graph in a home's tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature, short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.task import Evaluation
from bench_resources.tables.parquet import TableFiles


def store_evaluation(tables: TableFiles, one: Evaluation) -> None:
    """Write the tables of one evaluation, and update the metrics of earlier imports."""
    key = questions_key(one.task, one.condition)
    before = tables.read(key, Question) if tables.exists(key) else []
    questions = _merge_questions(before, one.questions, one.task.title)
    tables.write(key, questions, Question)
    for name, rows, row_type in (
        ("predictions", one.predictions, Prediction),
        ("judgements", [], Judgement),  # empty; read by audit checks
        ("scores", one.scores, Score),
        ("metrics", one.metrics, Metric),
    ):
        tables.write(evaluation_key(one.task, one.condition, name), rows, row_type, one.model)
    _renew_metrics(tables, one, questions)


def _renew_metrics(tables: TableFiles, one: Evaluation, questions: Sequence[Question]) -> None:
    """Update every model's metrics to the present questions, and count its missing responses."""
    key, data = evaluation_key(one.task, one.condition, "metrics"), short_digest(digest(questions))
    for model in tables.partitions(key):
        predictions = tables.read(
            evaluation_key(one.task, one.condition, "predictions"), Prediction, model
        )
        answered = {row.question_id for row in predictions if not row.error}
        n_failed = len(questions) - len(answered)
        rows = [
            replace(
                row,
                data=data,
                n_failed=n_failed if row.category == "all" else row.n_failed,
                signature=str(_with_data(row.signature, data, len(questions))),
            )
            for row in tables.read(key, Metric, model)
        ]
        tables.write(key, rows, Metric, model)


def _with_data(signature: str, data: str, n: int) -> Signature:
    parsed = Signature.parse(signature)
    return replace(parsed, parts={**parsed.parts, "data": data, "n": str(n)})


def _merge_questions(
    there: Sequence[Question], added: Sequence[Question], name: str
) -> list[Question]:
    """Merge the questions of earlier imports and of this one.

    Raises:
        SourceError: If a question has another text or answer now.
    """
    by_id = {question.question_id: question for question in there}
    for question in _changed(by_id, added):
        raise SourceError(
            f"{question.question_id}: other text, images or answer than when {name} was imported"
            " before; import it under another name"
        )
    return list({**by_id, **{question.question_id: question for question in added}}.values())


def _changed(existing: dict[str, Question], added: Sequence[Question]) -> Iterator[Question]:
    return (q for q in added if existing.get(q.question_id, q) != q)
