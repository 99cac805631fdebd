"""Response review: exports unread and doubtful responses to a form for people."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from bench_assets.annotation.responses.units import response_name
from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.core.judging.verdict_requests import group_judgements
from bench_assets.core.reading.choices import lettered
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.evaluation.outcomes import is_unread
from bench_assets.evaluation.reviews import ReviewLine, format_lines, read_review
from bench_assets.evaluation.runner import Runner, StoredResponses
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import AnsweredQuestion, Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.storage.atomic_write import open_atomic


def write_review(
    bench: Workbench,
    task: Task,
    model: str,
    condition: str,
    file: Path,
    *,
    draw: int = 0,
) -> list[ReviewLine]:
    """Write the review form of one model's responses; filled-in lines are kept.

    Args:
        bench: The home.
        task: The task, with its scorers.
        model: The evaluated model; the form does not name it.
        condition: "main" or an ablation.
        file: The form.
        draw: Number of drawn lines, always the same ones; 0: all.

    Raises:
        TableError: If the model was not evaluated.
        SourceError: If the file is not a review form.
    """
    read = bench.tables.read
    existing = {(line.question_id, line.response): line for line in _existing(file)}
    judged = evaluation_key(task, condition, "judgements")
    lines = review_lines(
        task,
        read(questions_key(task, condition), Question),
        read(evaluation_key(task, condition, "predictions"), Prediction, model),
        read(judged, Judgement, model) if bench.tables.exists(judged, model) else [],
        bench.settings.suite(task.suite, SuiteSettings).scorer,
    )
    if draw:
        chosen = sorted(lines, key=_draw)[:draw]
        lines = [line for line in lines if line in chosen]
    new = {(line.question_id, line.response): line for line in lines}
    kept = {key: line for key, line in existing.items() if line.is_filled}
    form = list({**new, **kept}.values())
    with open_atomic(file) as out:
        out.write(format_lines(form).encode())
    return form


def review_lines(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    scorer: str = "",
) -> list[ReviewLine]:
    """List the unread and doubtful responses, without duplicates.

    A response is doubtful if two of the task's scorers parse different answers. With a model judge,
    responses with partial credit are left out, because a verdict cannot express it.
    """
    questions_by_id = {question.question_id: question for question in questions}
    names = dict.fromkeys((scorer or task.default_scorer, *task.scorers))
    runner = Runner(task=task, responses=StoredResponses(predictions))
    scores_by_scorer = [
        replace(runner, scorer=name).scores(questions, predictions, judgements) for name in names
    ]
    grouped = group_judgements(predictions, judgements)
    lines: dict[tuple[str, str], ReviewLine] = {}
    for prediction, verdicts, *scores in zip(predictions, grouped, *scores_by_scorer, strict=True):
        by_model = any(verdict.prompt_sha256 for verdict in verdicts)
        is_partial = by_model and scores[0].max_points != 1.0
        pair = AnsweredQuestion(questions_by_id[prediction.question_id], prediction)
        if not is_partial and (reason := _review_reason(pair, scores, verdicts)):
            line = _line(pair, reason, by_model=by_model)
            lines.setdefault((line.question_id, line.response), line)
    return list(lines.values())


def _draw(line: ReviewLine) -> bytes:
    return sha256(f"{line.question_id}/{line.response}".encode()).digest()


def _existing(file: Path) -> list[ReviewLine]:
    with suppress(FileNotFoundError):
        if file.stat().st_size:
            return read_review(file)
    return []


def _review_reason(
    pair: AnsweredQuestion, scores: Sequence[Score], verdicts: Sequence[Judgement]
) -> str:
    if is_unread(pair, scores[0], verdicts):
        return "unread"
    first, by_model = scores[0], any(verdict.prompt_sha256 for verdict in verdicts)
    if first.error or first.no_answer or pair.prediction.ranking or by_model:
        return ""
    return "doubtful" if len({score.answer for score in scores if score.answer}) > 1 else ""


def _line(pair: AnsweredQuestion, why: str, *, by_model: bool) -> ReviewLine:
    question, prediction = pair
    return ReviewLine(
        question_id=question.question_id,
        response=response_name(prediction.text),
        why=why,
        kind=question.kind,
        question=question.text,
        options=_option_lines(question),
        reference="\n".join(question.answer) if by_model else "",
        text=prediction.text,
        asked_for="verdict" if by_model else "answer",
    )


def _option_lines(question: Question) -> str:
    options = [" ".join(option.split()) for option in question.options]
    has_letters = question.kind in ("choice", "choices")
    return lettered(options) if has_letters else "\n".join(options)
