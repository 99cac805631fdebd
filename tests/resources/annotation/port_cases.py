"""What every implementation of the port to people must do: one table, run against each."""

from collections.abc import Callable, Mapping, Sequence
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


class Hands(Protocol):
    """People who answer, from outside: what a browser, an editor or an annotation tool does."""

    @property
    def people(self) -> AnnotationBackend:
        """Where units are published and answers are read."""
        ...

    def answer(self, task: AnnotationTask, unit: Unit, person: str, **values: str) -> None:
        """Answer a unit, again if the person did before."""
        ...

    def edit_by_another(
        self, task: AnnotationTask, unit: Unit, person: str, other: str, **values: str
    ) -> None:
        """Let somebody else change a person's answer, where the tool lets them."""
        ...

    def delete(self, task: AnnotationTask, unit: Unit, person: str) -> None:
        """Take a person's answer away."""
        ...


def unit(name: str, text: str = "", **more: Any) -> Unit:
    """A unit of the task with one text."""
    shown = {"Question": text or f"About {name}?"}
    return Unit(task=FORM.name, unit_id=name, shown=shown, **{"needed": 2, **more})


A, B = unit("a"), unit("b", barred=("ana",))


def _latest_choices(people: AnnotationBackend) -> dict[tuple[str, str], str]:
    """What each person says last of each unit, as it stands."""
    return {
        (answer.unit_id, answer.person): answer.values.get("correct", ("",))[0]
        for answer in latest_answers(people.answers(FORM))
    }


def _counted(people: AnnotationBackend, units: Sequence[Unit]) -> list[Answer]:
    return resolve_answers(FORM, units, people.answers(FORM)).answers


def published_twice(hands: Hands) -> None:
    """Twice is as good as once, and of what was never asked there are no answers."""
    assert hands.people.answers(FORM) == []
    assert hands.people.ask(FORM, [A, B]) == UnitCounts(new=2, there=0, changed=0, withdrawn=0)
    assert hands.people.ask(FORM, [A, B]) == UnitCounts(new=0, there=2, changed=0, withdrawn=0)
    hands.answer(FORM, A, "ana", correct="yes")
    assert hands.people.ask(FORM, [A, B]) == UnitCounts(new=0, there=2, changed=0, withdrawn=0)
    assert _latest_choices(hands.people) == {("a", "ana"): "yes"}


def changed_text(hands: Hands) -> None:
    """What was said of the old text is kept, and does not count for the new one."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    new = unit("a", "Another question?")
    assert hands.people.ask(FORM, [new, B]) == UnitCounts(new=0, there=1, changed=1, withdrawn=0)
    hands.answer(FORM, new, "ben", correct="no")
    assert [(answer.person, answer.unit_digest) for answer in _counted(hands.people, [new, B])] == [
        ("ben", new.digest)
    ]
    refused = resolve_answers(FORM, [new, B], hands.people.answers(FORM)).refused
    assert [(one.person, one.complaint) for one in refused] == [
        ("ana", "given before the unit changed")
    ]


def withdrawn(hands: Hands) -> None:
    """A unit that is wanted no more keeps what was said of it; it may come back."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    assert hands.people.ask(FORM, [B]) == UnitCounts(new=0, there=1, changed=0, withdrawn=1)
    assert _counted(hands.people, [B]) == []
    hands.people.ask(FORM, [A, B])
    assert [answer.person for answer in _counted(hands.people, [A, B])] == ["ana"]


def second_answer(hands: Hands) -> None:
    """A person's last word counts, once."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.answer(FORM, A, "ana", correct="no", comment="on a second look")
    (only,) = _counted(hands.people, [A, B])
    assert only.values == {"correct": ("no",), "comment": ("on a second look",)}
    assert only.changed_at >= only.at


def edited_by_another(hands: Hands) -> None:
    """What somebody else made of an answer does not count as the person's."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.edit_by_another(FORM, A, "ana", "ben", correct="no")
    counted = _counted(hands.people, [A, B])
    assert [answer.values["correct"] for answer in counted] in ([], [("yes",)])
    assert not [answer for answer in counted if answer.changed_by not in ("", answer.person)]


def deletion(hands: Hands) -> None:
    """An answer that is taken away is open again."""
    hands.people.ask(FORM, [A, B])
    for person in ("ana", "ben"):
        hands.answer(FORM, A, person, correct="yes")
    assert "a" not in open_units([A, B], _counted(hands.people, [A, B]))
    hands.delete(FORM, A, "ana")
    assert open_units([A, B], _counted(hands.people, [A, B])) == {"a": 1, "b": 2}


def closed(hands: Hands) -> None:
    """What was said before the end stays; asking opens the task again."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.people.close(FORM)
    assert _latest_choices(hands.people) == {("a", "ana"): "yes"}
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ben", correct="yes")
    assert len(_counted(hands.people, [A, B])) == 2


def one_id_twice(hands: Hands) -> None:
    """Two units of one id are refused, and nothing was asked."""
    with pytest.raises(AnnotationError, match="'a'"):
        hands.people.ask(FORM, [A, unit("a", "Something else?")])
    assert hands.people.ask(FORM, [A]).new == 1


def another_form(hands: Hands) -> None:
    """Two tasks know nothing of each other's units."""
    other = AnnotationTask(
        name="codis/revisions", title="Revise", instructions="", fields=FORM.fields
    )
    hands.people.ask(FORM, [A])
    item = Unit(task=other.name, unit_id="a", shown={"Question": "?"}, needed=1)
    assert hands.people.ask(other, [item]).new == 1
    hands.answer(other, item, "ana", correct="no")
    assert hands.people.answers(FORM) == []
    assert len(hands.people.answers(other)) == 1


def elsewhere(unit: Unit, person: str, minute: int, **values: str) -> Answer:
    """What another tool collected; nothing is a skip."""
    at = f"2026-11-01T10:{minute:02}:00.000Z"
    return Answer(
        task=FORM.name,
        task_version=FORM.version,
        unit_id=unit.unit_id,
        unit_digest=unit.digest,
        person=person,
        values={name: (text,) for name, text in values.items()},
        at=at,
        changed_at=at,
        seconds=0.0,
        skipped=not values,
    )


def added(hands: Hands) -> None:
    """Answers that another tool collected are added, once however often they come."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ben", correct="no")
    collected = [
        elsewhere(A, "ana", 1, correct="yes"),
        elsewhere(A, "ana", 2, correct="no", comment="on a second look"),
        elsewhere(B, "cem", 3),
    ]
    assert hands.people.add(FORM, [*collected, collected[0]]) == 3
    assert hands.people.add(FORM, collected) == 0
    assert hands.people.add(FORM, [*collected, elsewhere(B, "dora", 4, correct="yes")]) == 1
    counted = {(answer.person, answer.unit_id): answer for answer in _counted(hands.people, [A, B])}
    assert sorted(counted) == [("ana", "a"), ("ben", "a"), ("dora", "b")]
    assert counted["ana", "a"].values == {"correct": ("no",), "comment": ("on a second look",)}
    assert counted["ana", "a"].seconds == 0.0
    assert open_units([A, B], counted.values()) == {"b": 1}
    (skip,) = [answer for answer in hands.people.answers(FORM) if answer.skipped]
    assert (skip.person, skip.unit_id, skip.values) == ("cem", "b", {})


CASES: Mapping[str, Callable[[Hands], None]] = {
    case.__doc__ or "": case
    for case in (
        published_twice, changed_text, withdrawn, second_answer, edited_by_another, deletion,
        closed, one_id_twice, another_form, added,
    )
}  # fmt: skip
"""By the sentence that each shows."""
