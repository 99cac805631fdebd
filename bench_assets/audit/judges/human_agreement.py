"""People's verdicts on models' responses, beside which a judge's are laid.

How far judges agree with the judge named people: verdicts that people gave in a form.

People saw a sample of responses and neither the model nor what its judge said; the figures are
those that ``bench check-judge --labels`` makes of a file.

The verdicts of models that judge, each beside that of rules on the same response.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bench_assets.annotation.responses.units import by_response
from bench_assets.annotation.responses.verdicts import PEOPLE, ResponseVerdict, decided
from bench_assets.audit.framework.evidence import Evidence, JudgeVerdict
from bench_assets.audit.framework.figures import JudgeFigure
from bench_assets.audit.framework.findings import sampled
from bench_assets.audit.judges.judge_summary import JudgeRun, figures_of_labels
from bench_assets.audit.judges.judge_trials import said_of
from bench_assets.audit.judges.prompt_injections import without_injections
from bench_assets.core.judging.verdict_requests import at_last
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.schema.signature import short
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import RULES, ByRules, Task

_HALF = 0.5  # of a response's points, above which it is called right


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsLabel:
    """One person's verdict on a model's response to one question."""

    question_id: str
    correct: bool
    model: str = ""  # "": whichever model is looked at
    annotator: str = ""


def read_labels(file: Path) -> list[PersonsLabel]:
    """Read people's verdicts: JSON lines; other fields than these four are left aside.

    Raises:
        SourceError: If the file cannot be read, or a line is no such object or repeats another
            one's annotator, model and question; names file and line.
    """
    return records(read_lines(file), PersonsLabel, unique=("question_id", "model", "annotator"))


def beside_people(
    task: Task,
    questions: Mapping[str, Question],
    predictions: Sequence[Prediction],
    judgements: Iterable[Judgement],
    labels: Iterable[PersonsLabel],
) -> list[tuple[bool, bool]]:
    """Pair what people say of one model's responses with what the judge says.

    People decide by majority; responses on which they are divided are left out, and those on which
    the judge says nothing readable.

    Returns:
        What people say, and what the judge says, of each response.
    """
    votes: dict[str, Counter[bool]] = defaultdict(Counter)
    for label in labels:
        votes[label.question_id][label.correct] += 1
    heard: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    for row in at_last(list(judgements)):
        if not row.criterion.endswith("thoughts included"):
            heard[row.question_id, row.sample].append(row)
    pairs = []
    for said in predictions:
        cast, about = votes[said.question_id], heard[said.question_id, said.sample]
        if said.error or not about or cast[True] == cast[False]:
            continue
        share = said_of(task, questions[said.question_id], said, about)
        if share is not None:
            pairs.append((cast[True] > cast[False], share > _HALF))
    return pairs


class PeopleVerdicts(NamedTuple):
    """What one model said, and what judges say of it."""

    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]


def labels_of(
    verdicts: Iterable[ResponseVerdict], predictions: Iterable[Prediction]
) -> list[PersonsLabel]:
    """Give what most people say of a response to every model that said it, word for word.

    Responses about which they are divided, or that most cannot judge, have no label.
    """
    truth = decided(verdicts)
    return [
        PersonsLabel(
            question_id=row.question_id, correct=truth[key], model=row.model, annotator=PEOPLE
        )
        for key, rows in by_response(predictions).items()
        if key in truth
        for row in rows
    ]


def figures_of_people(
    task: Task,
    questions: Mapping[str, Question],
    responses: Sequence[PeopleVerdicts],
    verdicts: Sequence[ResponseVerdict],
    at: str,
) -> list[JudgeFigure]:
    """Measure every judge of a task's responses by people's verdicts.

    Args:
        task: Whose responses they are.
        questions: By id.
        responses: Of each model.
        verdicts: Of people.
        at: When the last of them was given.
    """
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    rows: dict[str, list[Judgement]] = defaultdict(list)
    for said, judged in responses:
        labels = labels_of(verdicts, said)
        for judge in dict.fromkeys(row.judge for row in judged):
            own = [row for row in judged if row.judge == judge]
            rows[judge] += own
            pairs[judge] += beside_people(task, questions, said, own, labels)
    return [
        figure
        for judge, beside in pairs.items()
        if beside
        for figure in figures_of_labels(beside, _who(task, judge, rows[judge], at))
    ]


def _who(task: Task, judge: str, rows: Sequence[Judgement], at: str) -> JudgeRun:
    shown = sorted({row.prompt_sha256 for row in rows} - {""})
    return JudgeRun(
        task=task.name,
        judge=judge,
        setup="+".join(sorted({row.setup for row in rows})),
        prompts=short(sha256("\n".join(shown).encode()).hexdigest()),
        at=at,
    )


def verdicts(evidence: Evidence) -> list[JudgeVerdict]:
    """Readable verdicts of a model on measured models' responses.

    On all, or on a sample of many.
    """
    if not evidence.task.is_judged:
        return []
    models = evidence.results().models
    asked = sampled(evidence.questions, len(models))
    return [one for model in models for one in _verdicts_on(evidence, asked, model)]


def _verdicts_on(
    evidence: Evidence, asked: Sequence[Question], model: str
) -> Iterator[JudgeVerdict]:
    ids = {question.question_id for question in asked}
    rows = [
        row
        for row in at_last(evidence.judgements(model, of=ids))
        if not row.by_rules and row.verdict is not None
    ]
    if not rows:
        return
    said = evidence.predictions(model, of=ids)
    rules = _by_rules(evidence.task, asked, said)
    texts = {(row.question_id, row.sample): row.text for row in said}
    for row in rows:
        key = row.question_id, row.sample
        if key in texts:
            yield JudgeVerdict(model, row, texts[key], rules.get((*key, row.criterion)))


def _by_rules(
    task: Task, asked: Sequence[Question], said: Sequence[Prediction]
) -> dict[tuple[str, int, str], bool | None]:
    if not isinstance(task.judges.get(RULES), ByRules):
        return {}
    # What a response tells the judge is nothing that rules should read an answer out of.
    plain = [replace(row, text=without_injections(row.text)) for row in said]
    rows = pipeline.judge(task, asked, plain, None, RULES)
    return {(row.question_id, row.sample, row.criterion): row.verdict for row in rows}
