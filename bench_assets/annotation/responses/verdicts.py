"""Human verdicts on model responses: right, wrong or undecidable.

The responses are those that people judge, and those of a draw. Annotators see the question, the
reference and the response, but neither the model nor the judge's verdict.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from bench_assets.annotation.responses.units import (
    images_of,
    judgeable_predictions,
    question_fields,
    response_name,
    response_tables,
)
from bench_assets.annotation.tasks import (
    PEOPLE,
    AnnotationTask,
    Answer,
    Field,
    SourceTable,
    SuiteAnnotationTask,
    Unit,
    field_value,
    split_unit_id,
    unit_id,
)
from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.stats.rater_agreement import majority

VERDICTS = {"yes": True, "no": False, "unclear": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseVerdict:
    """A person's verdict on a response, whichever models gave it."""

    question_id: str
    response: str  # see ``response_name``
    person: str
    verdict: bool | None  # None: unclear


def verdicts_task(task: str, title: str, *, judged: bool) -> SuiteAnnotationTask:
    """Build the task that asks whether responses are right; judgements are read if ``judged``."""
    annotation_task = AnnotationTask(
        name=f"{task}/verdicts",
        title=f"{title}: is the response right?",
        instructions=(
            "Choose yes if the final answer of the response means the same as the reference, in any"
            " wording and length. Choose no if it means something else, or if the response gives"
            " several answers or none. Ignore other statements unless they contradict the answer."
            " Choose unclear if you cannot tell what the response means, or if the reference looks"
            " wrong."
        ),
        fields=(
            Field(name="verdict", kind="choice", label="Is it right?", choices=tuple(VERDICTS)),
            Field(name="note", kind="text", label="Why is it unclear?", required=False),
        ),
    )
    reads = {"judgements": SourceTable(f"{task}/judgements", Judgement)} if judged else {}
    return SuiteAnnotationTask(
        task=annotation_task,
        reads={**response_tables(task), **reads},
        units=partial(verdict_units, annotation_task),
        row=ResponseVerdict,
        to_rows=response_verdicts,
        is_drawn=True,
    )


def verdict_units(
    annotation_task: AnnotationTask,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement] = (),
    drawn: Sequence[DrawnUnit] = (),
) -> list[Unit]:
    """Build the units of responses judged by ``people``, then those of drawn ones, in their order.

    A response that changed since it was drawn is shown as it is now; it is left out if people can
    no longer judge it.
    """
    questions_by_id = {question.question_id: question for question in questions}
    judged_by_people = {_response_key(row) for row in judgements if row.judge == PEOPLE}
    selected = [row for row in predictions if _response_key(row) in judged_by_people]
    judgeable = {(row.question_id, row.model): row for row in judgeable_predictions(predictions)}
    for drawn_unit in drawn:
        for question_id in split_unit_id(drawn_unit.questions):
            if prediction := judgeable.get((question_id, drawn_unit.model)):
                selected.append(prediction)
    units = (
        verdict_unit(annotation_task, questions_by_id[row.question_id], row.text)
        for row in selected
        if row.question_id in questions_by_id
    )
    return list({unit.unit_id: unit for unit in units}.values())


def verdict_unit(annotation_task: AnnotationTask, question: Question, response: str) -> Unit:
    """Build the unit of a response: the same for all models that gave it."""
    return Unit(
        task=annotation_task.name,
        unit_id=unit_id(question.question_id, response_name(response)),
        shown={**question_fields(question), "Response": response},
        images=images_of(question),
    )


def _response_key(row: Prediction | Judgement) -> tuple[str, str, int]:
    return row.question_id, row.model, row.sample


def response_verdicts(answers: Sequence[Answer]) -> list[ResponseVerdict]:
    """Extract the verdicts from each person's answers."""
    verdicts = []
    for answer in answers:
        question_id, response = split_unit_id(answer.unit_id)
        verdicts.append(
            ResponseVerdict(
                question_id=question_id,
                response=response,
                person=answer.person,
                verdict=VERDICTS[field_value(answer, "verdict")],
            )
        )
    return verdicts


def majority_verdicts(verdicts: Iterable[ResponseVerdict]) -> dict[tuple[str, str], bool]:
    """Compute the majority verdict by question and response, without ties and undecidable ones."""
    votes = defaultdict[tuple[str, str], list[bool | None]](list)
    for person_verdict in verdicts:
        votes[person_verdict.question_id, person_verdict.response].append(person_verdict.verdict)
    verdict_by_response = {key: majority(response_votes) for key, response_votes in votes.items()}
    return {key: verdict for key, verdict in verdict_by_response.items() if verdict is not None}
