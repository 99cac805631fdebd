"""Forms that change, tasks that a model filled in, and a task with all kinds of fields."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationTask, Field, Unit, UnitCounts
from tests.resources.annotation.label_studio.annotators import Annotators
from tests.resources.annotation.port_cases import FORM, A, B

RICH = AnnotationTask(
    name="blink/a_form_whose_name_is_longer_than_a_title_may_be",
    title="Points & more",
    instructions="Mind <this>,\nplease.",
    fields=(
        Field(name="which", kind="choices", label='Which of "these"?', choices=(), most=3),
        Field(name="place", kind="points", label="Where is $it?", most=2),
        Field(name="why", kind="texts", label="Why & how?", most=3, required=False),
    ),
)


def changed_task(hands: Annotators) -> None:
    """A task that changed is a project of its own, and the old one is shown to nobody."""
    hands.people.ask(FORM, [A])
    old = hands.projects()[-1]
    hands.answer(FORM, A, "ana", correct="yes")
    new = replace(FORM, instructions="Look twice.")
    assert hands.people.ask(new, [A]) == UnitCounts(new=0, there=0, changed=1, withdrawn=0)
    assert hands.served(old, "ben") is None
    assert hands.served(hands.projects()[-1], "ana") == "a"
    counted = resolve_answers(new, [A], hands.people.answers(new))
    assert [one.complaint for one in counted.refused] == ["given to an earlier version of the task"]


def proposals(hands: Annotators) -> None:
    """What a model filled in is in the row of each answer, and may change while nobody answered."""
    first = replace(A, proposal={"correct": ("yes",)}, proposed_by="smol")
    hands.people.ask(FORM, [first, B])
    second = replace(A, proposal={"correct": ("no",)}, proposed_by="big")
    assert hands.people.ask(FORM, [second, B]) == UnitCounts(new=0, there=2, changed=0, withdrawn=0)
    hands.answer(FORM, second, "ben", correct="no")
    hands.answer(FORM, B, "ben", correct="no")
    said = {one.unit_id: one.proposed_by for one in hands.people.answers(FORM)}
    assert said == {"a": "big", "b": ""}


def rich_form(hands: Annotators) -> None:
    """Choices of a unit's own, places, lists of texts and odd signs come back as they were."""
    asked = Unit(
        task=RICH.name,
        unit_id="p/1",
        shown={"Price": "It is $5 <b>& more</b>"},
        images={"First": hands.keep_image("red"), "Second": hands.keep_image("blue")},
        choices={"which": ("$5 and more", "<i>", 'a "b"')},
    )
    hands.people.ask(RICH, [asked])
    task = hands.task(asked)
    labels = [one["value"] for one in task["data"]["choices_which"]]
    result = [
        {"from_name": "which", "to_name": "unit", "type": "choices",
         "value": {"choices": labels[:2]}},
        {"from_name": "place", "to_name": "image", "type": "keypointlabels",
         "original_width": 300, "original_height": 200,
         "value": {"x": 25, "y": 87.5, "width": 0.5, "keypointlabels": ["Where is $\u200bit?"]}},
        {"from_name": "why", "to_name": "unit", "type": "textarea",
         "value": {"text": ["one", "two\nlines"]}},
    ]  # fmt: skip
    hands.say("ana", "POST", f"/api/tasks/{task['id']}/annotations", {"result": result})
    (only,) = hands.people.answers(RICH)
    assert only.values == {
        "which": ("$5 and more", "<i>"),
        "place": ("0.250000 0.875000",),
        "why": ("one", "two\nlines"),
    }
    assert resolve_answers(RICH, [asked], [only]).refused == []


CASES: Mapping[str, Callable[[Annotators], None]] = {
    case.__doc__ or "": case for case in (changed_task, proposals, rich_form)
}
"""By the sentence that each shows."""
