"""What a Label Studio does that the port must make good: run against the scripted and the real."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from bench_assets.annotation.answers.validation import open_units, resolve_answers
from bench_assets.annotation.tasks import Answer, Unit, UnitCounts
from tests.resources.annotation.label_studio.annotators import Annotators
from tests.resources.annotation.port_cases import FORM, A, B, unit


def _sorted_out(hands: Annotators, units: Sequence[Unit]) -> tuple[list[str], list[str]]:
    """Who counts, and why the others do not."""
    counted = resolve_answers(FORM, units, hands.people.answers(FORM))
    return [one.person for one in counted.answers], [one.complaint for one in counted.refused]


def _only_project(hands: Annotators) -> int:
    return hands.projects()[-1]


def authors_own_vote(hands: Annotators) -> None:
    """An author's own vote does not count, and one person more is served the unit."""
    hands.people.ask(FORM, [B])
    project = _only_project(hands)
    for person in ("ana", "ben"):
        hands.answer(FORM, B, person, correct="yes")
    assert hands.served(project, "cem") is None
    people, why = _sorted_out(hands, [B])
    assert people == ["ben"]
    assert why == ["'ana' may not answer: they made the unit"]
    assert hands.served(project, "cem") == "b"
    hands.answer(FORM, B, "cem", correct="yes")
    assert _sorted_out(hands, [B])[0] == ["ben", "cem"]
    assert hands.served(project, "dora") is None
    hands.people.ask(FORM, [B])
    assert hands.served(project, "dora") is None


def misfit(hands: Annotators) -> None:
    """What does not fit the task does not count, and one person more is served the unit."""
    hands.people.ask(FORM, [A])
    project = _only_project(hands)
    hands.answer(FORM, A, "ana", correct="perhaps")
    hands.answer(FORM, A, "ben", correct="yes")
    people, why = _sorted_out(hands, [A])
    assert people == ["ben"]
    assert why == ["correct: 'perhaps' is none of yes, no"]
    assert hands.served(project, "cem") == "a"


def unchecked(hands: Annotators) -> None:
    """Unknown fields, empty results and shapes of another kind are refused one by one."""
    hands.people.ask(FORM, [replace(A, needed=5)])
    task = hands.task(A)["id"]
    hands.submit(task, "ana", correct="yes", colour="red")
    hands.submit(task, "ben")
    other = [{"from_name": "correct", "to_name": "unit", "type": "rating", "value": {"rating": 3}}]
    hands.say("cem", "POST", f"/api/tasks/{task}/annotations", {"result": other})
    hands.answer(FORM, A, "dora", correct="no")
    people, why = _sorted_out(hands, [A])
    assert people == ["dora"]
    assert len(why) == 3
    told = "; ".join(why)
    for part in ("no field 'colour'", "correct: empty", "expected choices, text or a region"):
        assert part in told


def two_answers(hands: Annotators) -> None:
    """A second answer beside the first is the last word, and does not take another's place."""
    hands.people.ask(FORM, [A])
    project, task = _only_project(hands), hands.task(A)["id"]
    hands.submit(task, "ana", correct="yes")
    hands.submit(task, "ana", correct="no")
    counted = resolve_answers(FORM, [A], hands.people.answers(FORM)).answers
    assert [one.values for one in counted] == [{"correct": ("no",)}]
    assert hands.served(project, "ben") == "a"
    assert hands.served(project, "ana") is None


def in_anothers_name(hands: Annotators) -> None:
    """Who answers in somebody else's name is found out."""
    hands.people.ask(FORM, [A])
    hands.submit(hands.task(A)["id"], "ben", correct="yes", completed_by=hands.number("ana"))
    assert _sorted_out(hands, [A]) == ([], ["changed by 'ben', not by its annotator"])


def edit_asked_again(hands: Annotators) -> None:
    """An answer that another changed is asked of one more; the person's own word mends it."""
    hands.people.ask(FORM, [A])
    project = _only_project(hands)
    for person in ("ana", "ben"):
        hands.answer(FORM, A, person, correct="yes")
    hands.people.answers(FORM)
    hands.edit_by_another(FORM, A, "ana", "ben", correct="no")
    assert _sorted_out(hands, [A])[0] == ["ben"]
    assert hands.served(project, "cem") == "a"
    hands.answer(FORM, A, "ana", correct="yes")
    assert _sorted_out(hands, [A])[0] == ["ana", "ben"]


def deleted(hands: Annotators) -> None:
    """A deleted answer is told of; a deleted task is asked anew."""
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.answer(FORM, B, "ben", correct="yes")
    assert len(hands.people.answers(FORM)) == 2
    hands.delete(FORM, A, "ana")
    hands.say("cem", "DELETE", f"/api/tasks/{hands.task(B)['id']}/")
    assert _sorted_out(hands, [A, B]) == ([], ["deleted in Label Studio"] * 2)
    assert hands.people.ask(FORM, [A, B]) == UnitCounts(new=1, there=1, changed=0, withdrawn=0)
    hands.answer(FORM, B, "ben", correct="no")
    assert _sorted_out(hands, [A, B]) == (["ben"], ["deleted in Label Studio"])


def earlier_words(hands: Annotators) -> None:
    """What a person said before is kept once it was seen."""
    hands.people.ask(FORM, [A])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.people.answers(FORM)
    hands.answer(FORM, A, "ana", correct="no")
    for _ in range(2):
        said = [one.values["correct"] for one in hands.people.answers(FORM)]
        assert said == [("yes",), ("no",)]


def skipped(hands: Annotators) -> None:
    """A skip is no answer and takes nobody's place."""
    hands.people.ask(FORM, [A])
    project = _only_project(hands)
    hands.submit(hands.task(A)["id"], "ana", was_cancelled=True)
    for person in ("ben", "cem"):
        assert hands.served(project, person) == "a"
        hands.answer(FORM, A, person, correct="yes")
    assert _sorted_out(hands, [A]) == (["ben", "cem"], ["skipped"])
    assert hands.served(project, "dora") is None


def nobody_is_shown(hands: Annotators) -> None:
    """What is withdrawn, changed or closed is shown to nobody; what comes back is."""
    hands.people.ask(FORM, [A, B])
    project = _only_project(hands)
    hands.people.ask(FORM, [B])
    assert hands.served(project, "cem") == "b"
    hands.people.close(FORM)
    assert hands.served(project, "cem") is None
    hands.people.ask(FORM, [A])
    assert hands.served(project, "cem") == "a"
    hands.people.ask(FORM, [])
    assert hands.served(project, "cem") is None


def another_need(hands: Annotators) -> None:
    """Units may need different numbers of answers, and other numbers later."""
    hands.people.ask(FORM, [A, B, replace(unit("c"), needed=1)])
    project = _only_project(hands)
    hands.answer(FORM, unit("c"), "ana", correct="yes")
    assert hands.served(project, "ben") in ("a", "b")
    for one in (A, B):
        hands.answer(FORM, one, "ben", correct="yes")
    assert hands.served(project, "ben") is None
    asked = hands.people.ask(FORM, [A, B, replace(unit("c"), needed=2)])
    assert asked == UnitCounts(new=0, there=3, changed=0, withdrawn=0)
    assert hands.served(project, "ben") == "c"


def tampered(hands: Annotators) -> None:
    """Answers to a task that somebody changed do not count, and it is asked anew."""
    hands.people.ask(FORM, [A])
    task = hands.task(A)
    data: dict[str, Any] = {**task["data"], "shown": [{"heading": "Question", "text": "Say yes!"}]}
    hands.say("cem", "PATCH", f"/api/tasks/{task['id']}/", {"data": data})
    hands.submit(task["id"], "ana", correct="yes")
    people, why = _sorted_out(hands, [A])
    assert people == []
    assert why == ["the content of its task was changed in Label Studio"]
    assert hands.people.ask(FORM, [A]) == UnitCounts(new=0, there=0, changed=1, withdrawn=0)
    assert hands.served(_only_project(hands), "ben") == "a"


def five_people_at_once(hands: Annotators) -> None:
    """Five people at once: every unit has as many answers as it needs, nobody's twice."""
    units = [replace(unit(f"{number}"), needed=3) for number in range(6)]
    hands.people.ask(FORM, units)
    project = _only_project(hands)
    tasks = {one.unit_id: hands.task(one)["id"] for one in units}

    def work(person: str) -> None:
        while (key := hands.served(project, person)) is not None:
            hands.submit(tasks[key], person, correct="yes")

    with ThreadPoolExecutor(5) as five:
        list(five.map(work, ("ana", "ben", "cem", "dora", "eli")))
    said: list[Answer] = resolve_answers(FORM, units, hands.people.answers(FORM)).answers
    assert open_units(units, said) == {}
    assert len({(one.unit_id, one.person) for one in said}) == len(said) >= 18


CASES: Mapping[str, Callable[[Annotators], None]] = {
    case.__doc__ or "": case
    for case in (
        authors_own_vote, misfit, unchecked, two_answers, in_anothers_name, edit_asked_again,
        deleted, earlier_words, skipped, nobody_is_shown, another_need, tampered,
        five_people_at_once,
    )
}  # fmt: skip
"""By the sentence that each shows."""
