from dataclasses import replace
from typing import Any

import pytest

from bench_assets.annotation.answers.validation import (
    attention_check_results,
    find_misfits,
    latest_answers,
    open_units,
    resolve_answers,
)
from bench_assets.annotation.tasks import AnnotationTask, AnnotationTerms, Answer, Field, Unit
from tests.cases import read_rows

FORM = AnnotationTask(
    name="t/votes",
    title="Votes",
    instructions="Say yes or no.",
    fields=(
        Field(name="right", kind="choice", label="Right?", choices=("yes", "no")),
        Field(name="which", kind="choices", label="Which?", choices=(), required=False, most=2),
        Field(name="why", kind="text", label="Why?", required=False, most=10),
    ),
)
ITEM = Unit(task="t/votes", unit_id="i", shown={"Text": "one"}, needed=2, barred=("author",))
GOLD = Unit(task="t/votes", unit_id="g", shown={"Text": "two"}, gold={"right": ("yes",)})


def vote(person: str, right: str = "yes", minute: int = 0, unit: Unit = ITEM) -> Answer:
    at = f"2026-11-22T16:{minute:02}:00.000Z"
    return Answer(
        task="t/votes",
        task_version=FORM.version,
        unit_id=unit.unit_id,
        unit_digest=unit.digest,
        person=person,
        values={"right": (right,)},
        at=at,
        changed_at=at,
    )


def test_the_last_answer_of_a_person_counts_in_any_order_of_answers() -> None:
    votes = [vote("ana", "yes", 3), vote("ana", "no", 5), vote("ana", "yes", 1)]
    assert latest_answers(votes) == latest_answers(votes[::-1]) == [votes[1]]


def test_a_person_has_one_vote_also_if_only_one_of_two_answers_names_the_version() -> None:
    # The digest is optional in files of answers; one without it is about the present version.
    first, last = replace(vote("ana", "yes", 1), unit_digest=""), vote("ana", "no", 2)
    assert resolve_answers(FORM, [ITEM], [first, last]).all == [last]
    until_first = AnnotationTerms(until=first.at)
    assert resolve_answers(FORM, [ITEM], [first, last], until_first).all == [first]


@pytest.mark.parametrize(
    ("fields", "reason"), read_rows(__file__, "refused_answers.jsonl", tuples=True)
)
def test_an_invalid_answer_is_refused_with_its_reason(fields: dict[str, Any], reason: str) -> None:
    resolved = resolve_answers(FORM, [ITEM], [replace(vote("ana"), **fields), vote("ben")])
    assert [answer.person for answer in resolved.answers] == ["ben"]
    assert [refused.complaint for refused in resolved.refused] == [reason]
    assert len(resolved.all) == 2


@pytest.mark.parametrize(
    ("which", "is_valid"),
    [
        pytest.param(("a", "b"), True, id="two of the unit's choices"),
        pytest.param(("a", "b", "c"), False, id="too many"),
        pytest.param(("a", "a"), False, id="the same twice"),
        pytest.param(("d",), False, id="no choice of the unit"),
    ],
)
def test_choices_of_the_unit_replace_the_form_s(which: tuple[str, ...], *, is_valid: bool) -> None:
    unit = replace(ITEM, choices={"which": ("a", "b", "c")})
    answer = replace(vote("ana", unit=unit), values={"right": ("yes",), "which": which})
    assert bool(resolve_answers(FORM, [unit], [answer]).answers) is is_valid


def test_the_last_answer_before_the_deadline_counts() -> None:
    votes = [vote("ana", "yes", 1), vote("ana", "no", 9), vote("ben", "no", 9)]
    terms = AnnotationTerms(until="2026-11-22T16:05:00.000Z")
    resolved = resolve_answers(FORM, [ITEM], votes, terms)
    assert resolved.answers == [votes[0]]
    (refused,) = resolved.refused
    assert refused.person == "ben"
    assert refused.complaint == "after the deadline, 2026-11-22T16:05:00.000Z"


def test_the_first_answers_of_a_person_with_too_many_count() -> None:
    units = [replace(ITEM, unit_id=name, shown={"Text": name}) for name in "abc"]
    votes = [vote("ana", minute=n, unit=unit) for n, unit in enumerate(reversed(units))]
    resolved = resolve_answers(FORM, units, votes, AnnotationTerms(most_answers=2))
    assert [answer.unit_id for answer in resolved.answers] == ["b", "c"]
    assert resolved.refused[0].complaint == "beyond the 2 answers that a person may give"


@pytest.mark.parametrize(
    ("n_right", "n_checks", "least", "expected_people"),
    [
        (1, 2, 0.5, ["ana", "ben"]),
        (1, 2, 0.6, ["ben"]),
        (0, 1, 0.0, ["ana", "ben"]),
        (3, 4, 0.75, ["ana", "ben"]),
    ],
)
def test_answers_of_people_who_fail_attention_checks_do_not_count(
    n_right: int, n_checks: int, least: float, expected_people: list[str]
) -> None:
    checks, votes = vote_on_checks(n_right, n_checks)
    terms = AnnotationTerms(least_gold=least)
    resolved = resolve_answers(FORM, [ITEM, *checks], [*votes, vote("ana"), vote("ben")], terms)
    assert [answer.person for answer in resolved.answers] == expected_people


def vote_on_checks(n_right: int, n_checks: int) -> tuple[list[Unit], list[Answer]]:
    """Attention checks and ana's answers to them."""
    checks = [replace(GOLD, unit_id=f"g{i}") for i in range(n_checks)]
    votes = [
        vote("ana", "yes" if i < n_right else "no", unit=check) for i, check in enumerate(checks)
    ]
    return checks, votes


def test_failed_attention_checks_are_counted_and_named() -> None:
    checks, votes = vote_on_checks(1, 2)
    terms = AnnotationTerms(least_gold=0.6)
    resolved = resolve_answers(FORM, [ITEM, *checks], [*votes, vote("ana")], terms)
    assert "1 of 2 attention checks right" in resolved.refused[-1].complaint
    units = {check.unit_id: check for check in checks}
    assert attention_check_results(votes, units) == {"ana": [True, False]}


def test_units_are_open_until_enough_people_answered() -> None:
    assert open_units([ITEM], [vote("ana"), vote("ana", "no", 1)]) == {"i": 1}
    assert open_units([ITEM], [vote("ana"), vote("ben")]) == {}
    assert open_units([ITEM], [vote("ana"), vote("ben"), vote("cem")]) == {}


def test_a_unit_s_digest_changes_only_with_what_people_see() -> None:
    unseen = replace(ITEM, unit_id="another", needed=7, barred=(), gold={"right": ("no",)})
    assert unseen.digest == ITEM.digest
    changed = [
        replace(ITEM, shown={"Text": "two"}),
        replace(ITEM, shown={"Other": "one"}),
        replace(ITEM, images={"Text": "one"}, shown={}),
        replace(ITEM, choices={"which": ("a",)}),
    ]
    assert len({unit.digest for unit in [ITEM, *changed]}) == 5


def test_a_form_s_version_changes_only_with_what_people_see() -> None:
    assert replace(FORM, about="section 3").version == FORM.version
    changed = [
        replace(FORM, instructions="Say no."),
        replace(FORM, title="V"),
        replace(FORM, fields=FORM.fields[:2]),
    ]
    assert len({task.version for task in [FORM, *changed]}) == 4


MARKS_FORM = AnnotationTask(
    name="t/marks",
    title="",
    instructions="",
    fields=(
        Field(name="points", kind="points", label="", least=2, most=2, required=False),
        Field(name="boxes", kind="boxes", label="", most=2, required=False),
    ),
)


@pytest.mark.parametrize("mark", ["1.01 0", "-0.1 0", "0.5", "0.5 0.5 0.5", "nan 0"])
def test_a_text_that_is_no_point_of_the_image_is_named(mark: str) -> None:
    misfits = find_misfits({"points": (mark, "0.5 0.5")}, MARKS_FORM, {})
    assert misfits == [f"points: {mark!r} is not a point of the image"]


@pytest.mark.parametrize("mark", ["0.5 0 1.2 1", "0.5 0 0.5 1", "0.5 0.9 0.6 0.1", "0.5 0"])
def test_a_text_that_is_no_box_of_the_image_is_named(mark: str) -> None:
    misfits = find_misfits({"boxes": (mark,)}, MARKS_FORM, {})
    assert misfits == [f"boxes: {mark!r} is not a box of the image"]


def test_the_number_of_marks_is_that_of_the_form() -> None:
    values = {"points": ("0 0",), "boxes": ("0 0 1 1",) * 3}
    assert find_misfits(values, MARKS_FORM, {}) == [
        "points: 1 entry (expected 2 to 2)",
        "boxes: 3 entries (expected 1 to 2)",
    ]
