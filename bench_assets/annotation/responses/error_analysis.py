"""Error analysis: annotation of a sample of wrong responses with a code book."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from bench_assets.annotation.responses.draws import ranked
from bench_assets.annotation.responses.units import (
    group_by_response,
    images_of,
    question_fields,
    response_tables,
)
from bench_assets.annotation.task_files import CodeBook, ErrorCode
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SourceTable,
    SuiteAnnotationTask,
    Summary,
    Unit,
    split_unit_id,
    unit_id,
    word,
)
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.core.stats.rater_agreement import krippendorff_alpha

_SAMPLE_PER_CATEGORY = 10  # mistakes per category, as BLINK reviews per task (section 4.3)
_MAX_CODES = 3  # codes per mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedMistake:
    """A person's code for a mistake in a response."""

    question_id: str
    response: str  # see ``response_name``
    person: str
    codes: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCount:
    """Number of reviewed mistakes of one kind."""

    model: str  # name of a model, or "all"
    code: str
    n: int  # mistakes with this code by most of their annotators
    n_read: int  # reviewed mistakes
    share: float
    low: float  # of the 95 % interval
    high: float
    paper: float  # share in the paper; NaN if not reported
    alpha: float  # Krippendorff's, among annotators; NaN if each mistake had a single one


def mistakes_task(task: str, title: str, book: CodeBook) -> SuiteAnnotationTask:
    """Build the annotation task: the kind of mistake in a response."""
    codes = "; ".join(f"{code.name}: {code.about}" for code in book.codes)
    annotation_task = AnnotationTask(
        name=f"{task}/mistakes",
        title=f"{title}: what went wrong?",
        about=book.where,
        instructions=(
            "The response was scored as wrong. Look at the images, read the response to its "
            "end, and"
            " choose what went wrong: the first thing that did, and another only if it went wrong"
            f" by itself. The kinds are: {codes}."
        ),
        fields=(
            Field(
                name="codes",
                kind="choices",
                label="What went wrong?",
                choices=tuple(code.name for code in book.codes),
                most=_MAX_CODES,
            ),
            Field(name="note", kind="text", label="In your own words", required=False),
        ),
    )
    return SuiteAnnotationTask(
        task=annotation_task,
        reads={**response_tables(task), "scores": SourceTable(f"{task}/scores", Score)},
        units=partial(mistake_units, annotation_task),
        row=CodedMistake,
        to_rows=coded_mistakes,
        summary=Summary(
            "counts", "how many mistakes are of one kind", CodeCount, partial(count_codes, book)
        ),
    )


def mistake_units(
    annotation_task: AnnotationTask,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
    seed: int = 0,
) -> list[Unit]:
    """Sample ten mistakes per category, over all models."""
    questions_by_id = {question.question_id: question for question in questions}
    wrong = {
        (row.question_id, row.model)
        for row in scores
        if row.points == 0 < row.max_points and not row.sample
    }
    responses = {
        unit_id(*key): rows
        for key, rows in group_by_response(predictions).items()
        if key[0] in questions_by_id and any((key[0], row.model) in wrong for row in rows)
    }
    categories: dict[str, list[str]] = defaultdict(list)
    for name in responses:
        categories[questions_by_id[split_unit_id(name)[0]].category].append(name)
    chosen = [
        name for names in categories.values() for name in ranked(names, seed)[:_SAMPLE_PER_CATEGORY]
    ]
    return [
        Unit(
            task=annotation_task.name,
            unit_id=name,
            shown={**question_fields(question), "Response": responses[name][0].text},
            images=images_of(question),
        )
        for name in sorted(chosen)
        for question in [questions_by_id[split_unit_id(name)[0]]]
    ]


def coded_mistakes(answers: Sequence[Answer]) -> list[CodedMistake]:
    """Extract the codes from each person's answers."""
    return [
        CodedMistake(
            question_id=question_id,
            response=name,
            person=answer.person,
            codes=tuple(sorted(answer.values.get("codes", ()))),
            note=" ".join(word(answer, "note").split()),
        )
        for answer in answers
        for question_id, name in [split_unit_id(answer.unit_id)]
    ]


def count_codes(
    book: CodeBook, coded: Iterable[CodedMistake], predictions: Iterable[Prediction]
) -> list[CodeCount]:
    """Count the kinds of mistakes, over all models and by model.

    A mistake has a code if more than half of its annotators chose it.
    """
    read: dict[tuple[str, str], list[CodedMistake]] = defaultdict(list)
    for unit in coded:
        read[unit.question_id, unit.response].append(unit)
    by_model: dict[str, list[list[CodedMistake]]] = defaultdict(list)
    for key, rows in group_by_response(predictions).items():
        for model in sorted({row.model for row in rows} if key in read else ()):
            by_model[model].append(read[key])
    return [
        _count(model, code, units)
        for model, units in [("all", list(read.values())), *by_model.items()]
        if units
        for code in book.codes
    ]


def _count(model: str, code: ErrorCode, units: Sequence[Sequence[CodedMistake]]) -> CodeCount:
    unit_votes = [Counter(code.name in coding.codes for coding in unit) for unit in units]
    holds = [votes[True] > votes[False] for votes in unit_votes]
    share = mean(
        ScoredPoint(float(value), unit[0].question_id)
        for value, unit in zip(holds, units, strict=True)
    )
    return CodeCount(
        model=model,
        code=code.name,
        n=sum(holds),
        n_read=len(units),
        share=share.value,
        low=share.low,
        high=share.high,
        paper=code.paper,
        alpha=krippendorff_alpha(list(votes.elements()) for votes in unit_votes),
    )
