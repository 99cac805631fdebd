"""What people's verdicts say of judges, read off the tables of a home as they are now."""

from collections.abc import Iterable

from bench_assets.core.errors import TableError
from bench_assets.core.rows import Judgement, Prediction, Question
from bench_assets.people.forms import Answer
from bench_assets.soundness.judge_figures import JudgeFigure
from bench_assets.soundness.judge_people import Replies, figures_of_people
from bench_assets.task import Task
from resources.home.tables import TableFiles


def figures_by_people(tables: TableFiles, tasks: Iterable[Task]) -> list[JudgeFigure]:
    """Measure the judges of all tasks whose replies people judged; nothing where nobody did.

    A table that cannot be read is left out: ``bench verify`` tells of it.
    """
    found = []
    for task in tasks:
        try:
            found += _figures(tables, task)
        except TableError:
            continue
    return found


def _figures(tables: TableFiles, task: Task) -> list[JudgeFigure]:
    verdicts_form = next(iter(task.reply_forms), None)
    if verdicts_form is None or not task.is_judged:
        return []
    key = verdicts_form.table("answers").split("/")
    if not tables.exists(key):
        return []
    answers = [one for one in tables.read(key, Answer) if not one.complaint]
    verdicts = verdicts_form.to_rows(answers)
    about = {one.question_id for one in verdicts}
    if not about:
        return []
    folder = task.name.split("/")
    asked = {one.question_id: one for one in tables.read([*folder, "questions"], Question)}
    judged = [*folder, "judgements"]
    replies = [
        Replies(
            tables.read([*folder, "predictions"], Prediction, model, about),
            tables.read(judged, Judgement, model, about),
        )
        for model in sorted(tables.partitions(judged))
    ]
    at = max(answer.changed_at for answer in answers)
    return figures_of_people(task, asked, replies, verdicts, at)
