"""Stores an evaluation that was not made by the graph in a home's tables."""

from collections.abc import Sequence
from dataclasses import replace

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature, short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.task import Evaluation, Task
from bench_resources.tables.parquet import TableFiles


def store_evaluation(tables: TableFiles, evaluation: Evaluation) -> None:
    """Write the tables of an evaluation, and update the metrics of earlier imports.

    Raises:
        SourceError: If a question differs from that of an earlier import.
    """
    task, condition = evaluation.task, evaluation.condition
    key = questions_key(task, condition)
    stored_questions = tables.read(key, Question) if tables.exists(key) else []
    questions = _merge_questions(stored_questions, evaluation.questions, task.title)
    tables.write(key, questions, Question)
    for name, rows, row_type in (
        ("predictions", evaluation.predictions, Prediction),
        ("judgements", [], Judgement),  # empty; read by audit checks
        ("scores", evaluation.scores, Score),
        ("metrics", evaluation.metrics, Metric),
    ):
        tables.write(evaluation_key(task, condition, name), rows, row_type, evaluation.model)
    _renew_metrics(tables, task, condition, questions)


def _renew_metrics(
    tables: TableFiles, task: Task, condition: str, questions: Sequence[Question]
) -> None:
    """Update all models' metrics to the present questions, and count their missing responses."""
    data = short_digest(digest(questions))
    metrics_key = evaluation_key(task, condition, "metrics")
    predictions_key = evaluation_key(task, condition, "predictions")
    for model in tables.partitions(metrics_key):
        predictions = tables.read(predictions_key, Prediction, model)
        answered = {row.question_id for row in predictions if not row.error}
        n_failed = len(questions) - len(answered)
        rows = [
            replace(
                row,
                data=data,
                n_failed=n_failed if row.category == "all" else row.n_failed,
                signature=_with_data(row.signature, data, len(questions)),
            )
            for row in tables.read(metrics_key, Metric, model)
        ]
        tables.write(metrics_key, rows, Metric, model)


def _with_data(text: str, data: str, n: int) -> str:
    """The text of a signature with other questions: their digest and number."""
    signature = Signature.parse(text)
    return str(replace(signature, parts={**signature.parts, "data": data, "n": str(n)}))


def _merge_questions(
    stored: Sequence[Question], added: Sequence[Question], title: str
) -> list[Question]:
    by_id = {question.question_id: question for question in stored}
    for question in added:
        if by_id.setdefault(question.question_id, question) != question:
            raise SourceError(
                f"{question.question_id}: other text, images or answer than when {title} was"
                " imported before; import it under another name"
            )
    return list(by_id.values())
