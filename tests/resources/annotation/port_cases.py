"""The contract of annotation backends: cases that run against each implementation."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pytest

from bench_assets.annotation.answers.validation import latest_answers, open_units, resolve_answers
from bench_assets.annotation.tasks import (
    AnnotationBackend,
    AnnotationError,
    AnnotationTask,
    Answer,
    Field,
    Unit,
    UnitCounts,
)

FORM = AnnotationTask(
    name="codis/votes",
    title="Is the submission right?",
    instructions="Look at the image first.",
    fields=(
        Field(name="correct", kind="choice", label="Is it correct?", choices=("yes", "no")),
        Field(name="comment", kind="text", label="What is wrong?", required=False),
    ),
)


class Annotators(Protocol):
    """People who answer with a browser, an editor or an annotation tool."""

    @property
    def backend(self) -> AnnotationBackend:
        """The backend that publishes the units and reads the answers."""
        ...

    def answer(self, task: AnnotationTask, unit: Unit, person: str, **values: str) -> None:
        """Answer a unit, again if the person did before."""
        ...

    def edit_by_another(
        self, task: AnnotationTask, unit: Unit, person: str, editor: str, **values: str
    ) -> None:
        """Let somebody else change a person's answer, where the tool lets them."""
        ...

    def delete(self, task: AnnotationTask, unit: Unit, person: str) -> None:
        """Delete a person's answer."""
        ...


def unit(unit_id: str, question: str = "", **fields: Any) -> Unit:
    """A unit of the form that shows a question and needs two answers."""
    shown = {"Question": question or f"About {unit_id}?"}
    return Unit(task=FORM.name, unit_id=unit_id, shown=shown, **{"needed": 2, **fields})


A, B = unit("a"), unit("b", barred=("ana",))


def _latest_choices(backend: AnnotationBackend) -> dict[tuple[str, str], str]:
    """The last choice of each person for each unit, by unit and person."""
    return {
        (answer.unit_id, answer.person): answer.values.get("correct", ("",))[0]
        for answer in latest_answers(backend.answers(FORM))
    }


def _counted_answers(backend: AnnotationBackend, units: Sequence[Unit]) -> list[Answer]:
    return resolve_answers(FORM, units, backend.answers(FORM)).answers


def publishing_again_changes_nothing(annotators: Annotators) -> None:
    backend = annotators.backend
    assert backend.answers(FORM) == []
    assert backend.ask(FORM, [A, B]) == UnitCounts(new=2, there=0, changed=0, withdrawn=0)
    unchanged = UnitCounts(new=0, there=2, changed=0, withdrawn=0)
    assert backend.ask(FORM, [A, B]) == unchanged
    annotators.answer(FORM, A, "ana", correct="yes")
    assert backend.ask(FORM, [A, B]) == unchanged
    assert _latest_choices(annotators.backend) == {("a", "ana"): "yes"}


def answers_to_an_earlier_text_do_not_count(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ana", correct="yes")
    changed = unit("a", "Another question?")
    counts = annotators.backend.ask(FORM, [changed, B])
    assert counts == UnitCounts(new=0, there=1, changed=1, withdrawn=0)
    annotators.answer(FORM, changed, "ben", correct="no")
    (counted,) = _counted_answers(annotators.backend, [changed, B])
    assert (counted.person, counted.unit_digest) == ("ben", changed.digest)
    answers = annotators.backend.answers(FORM)
    (refused,) = resolve_answers(FORM, [changed, B], answers).refused
    assert (refused.person, refused.complaint) == ("ana", "given before the unit changed")


def a_withdrawn_unit_keeps_its_answers(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ana", correct="yes")
    assert annotators.backend.ask(FORM, [B]) == UnitCounts(new=0, there=1, changed=0, withdrawn=1)
    assert _counted_answers(annotators.backend, [B]) == []
    annotators.backend.ask(FORM, [A, B])
    assert [answer.person for answer in _counted_answers(annotators.backend, [A, B])] == ["ana"]


def the_last_answer_of_a_person_counts(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ana", correct="yes")
    annotators.answer(FORM, A, "ana", correct="no", comment="on a second look")
    (counted,) = _counted_answers(annotators.backend, [A, B])
    assert counted.values == {"correct": ("no",), "comment": ("on a second look",)}
    assert counted.changed_at >= counted.at


def an_edit_by_another_person_does_not_count(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ana", correct="yes")
    annotators.edit_by_another(FORM, A, "ana", "ben", correct="no")
    counted = _counted_answers(annotators.backend, [A, B])
    # The backend may refuse the edit, or drop the edited answer.
    assert [answer.values["correct"] for answer in counted] in ([], [("yes",)])
    assert all(answer.changed_by in ("", answer.person) for answer in counted)


def a_unit_with_a_deleted_answer_is_open_again(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    for person in ("ana", "ben"):
        annotators.answer(FORM, A, person, correct="yes")
    assert "a" not in open_units([A, B], _counted_answers(annotators.backend, [A, B]))
    annotators.delete(FORM, A, "ana")
    assert open_units([A, B], _counted_answers(annotators.backend, [A, B])) == {"a": 1, "b": 2}


def a_closed_task_keeps_its_answers(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ana", correct="yes")
    annotators.backend.close(FORM)
    assert _latest_choices(annotators.backend) == {("a", "ana"): "yes"}
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ben", correct="yes")
    assert len(_counted_answers(annotators.backend, [A, B])) == 2


def two_units_of_one_id_are_refused(annotators: Annotators) -> None:
    with pytest.raises(AnnotationError, match="'a'"):
        annotators.backend.ask(FORM, [A, unit("a", "Something else?")])
    assert annotators.backend.ask(FORM, [A]).new == 1


def tasks_do_not_share_units(annotators: Annotators) -> None:
    revisions = AnnotationTask(
        name="codis/revisions", title="Revise", instructions="", fields=FORM.fields
    )
    revised = Unit(task=revisions.name, unit_id="a", shown={"Question": "?"}, needed=1)
    annotators.backend.ask(FORM, [A])
    assert annotators.backend.ask(revisions, [revised]).new == 1
    annotators.answer(revisions, revised, "ana", correct="no")
    assert annotators.backend.answers(FORM) == []
    assert len(annotators.backend.answers(revisions)) == 1


def collected_answer(unit: Unit, person: str, *, minute: int, **values: str) -> Answer:
    """An answer of another tool; without values, a skipped unit."""
    time = f"2026-11-01T10:{minute:02}:00.000Z"
    return Answer(
        task=FORM.name,
        task_version=FORM.version,
        unit_id=unit.unit_id,
        unit_digest=unit.digest,
        person=person,
        values={name: (text,) for name, text in values.items()},
        at=time,
        changed_at=time,
        seconds=0.0,
        skipped=not values,
    )


def collected_answers_are_added_once(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    annotators.answer(FORM, A, "ben", correct="no")
    collected = [
        collected_answer(A, "ana", minute=1, correct="yes"),
        collected_answer(A, "ana", minute=2, correct="no", comment="on a second look"),
        collected_answer(B, "cem", minute=3),
    ]
    assert annotators.backend.add(FORM, [*collected, collected[0]]) == 3
    assert annotators.backend.add(FORM, collected) == 0
    later = collected_answer(B, "dora", minute=4, correct="yes")
    assert annotators.backend.add(FORM, [*collected, later]) == 1
    counted = _counted_answers(annotators.backend, [A, B])
    people = sorted((answer.person, answer.unit_id) for answer in counted)
    assert people == [("ana", "a"), ("ben", "a"), ("dora", "b")]


def collected_answers_are_read_as_they_were_given(annotators: Annotators) -> None:
    annotators.backend.ask(FORM, [A, B])
    answer = collected_answer(A, "ana", minute=1, correct="no", comment="on a second look")
    annotators.backend.add(FORM, [answer, collected_answer(B, "cem", minute=3)])
    (counted,) = _counted_answers(annotators.backend, [A, B])
    assert (counted.person, counted.values, counted.seconds) == ("ana", answer.values, 0.0)
    (skip,) = [answer for answer in annotators.backend.answers(FORM) if answer.skipped]
    assert (skip.person, skip.unit_id, skip.values) == ("cem", "b", {})


CASES: tuple[Callable[[Annotators], None], ...] = (
    publishing_again_changes_nothing, answers_to_an_earlier_text_do_not_count,
    a_withdrawn_unit_keeps_its_answers, the_last_answer_of_a_person_counts,
    an_edit_by_another_person_does_not_count, a_unit_with_a_deleted_answer_is_open_again,
    a_closed_task_keeps_its_answers, two_units_of_one_id_are_refused,
    tasks_do_not_share_units, collected_answers_are_added_once,
    collected_answers_are_read_as_they_were_given,
)  # fmt: skip
