"""Values of annotation answers: majorities, votes, and the answers behind a question."""

from collections.abc import Collection, Iterable, Sequence
from string import ascii_uppercase

from bench_assets.annotation.tasks import Answer, Unit


def entries(answer: Answer, field: str) -> tuple[str, ...]:
    """Non-empty entries of a field, each on one line."""
    lines = (" ".join(entry.split()) for entry in answer.values.get(field, ()))
    return tuple(line for line in lines if line)


def answers_by_unit(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    """Group answers by unit: units in order of their ids, the answers to each in order of time."""
    by_unit: dict[str, list[Answer]] = {}
    for answer in sorted(answers, key=lambda answer: (answer.unit_id, answer.at, answer.person)):
        by_unit.setdefault(answer.unit_id, []).append(answer)
    return by_unit


def lettered_choices(options: Sequence[str]) -> tuple[str, ...]:
    """Prefix options with letters for a choice field, at most 26; see ``choice_letter``.

    >>> lettered_choices(["left", "right"])
    ('A. left', 'B. right')
    """
    return tuple(
        f"{letter}. {text}" for letter, text in zip(ascii_uppercase, options, strict=False)
    )


def choice_letter(choice: str) -> str:
    """Parse the letter of a chosen option.

    >>> choice_letter("B. right")
    'B'
    """
    return choice.partition(".")[0].strip()


def question_units(
    question_id: str, group_id: str, images: Collection[str], units: Sequence[Unit]
) -> list[Unit]:
    """Find the units behind a question.

    These are the units whose id is the group or a part of the question's id. If there are none,
    they are the units that show one of its images.

    Args:
        question_id: Such as "codis/s001/2".
        group_id: The question's group.
        images: SHA-256 of each of the question's images.
        units: All published units of a task.
    """
    id_parts = {*question_id.split("/"), group_id}
    if matching_units := [unit for unit in units if unit.unit_id in id_parts]:
        return matching_units
    return [unit for unit in units if not set(images).isdisjoint(unit.images.values())]


def unit_answers(units: Sequence[Unit], answers: Sequence[Answer]) -> list[Answer]:
    """Collect all answers to units in order of time, including those that do not count."""
    ids = {unit.unit_id for unit in units}
    return sorted(
        (answer for answer in answers if answer.unit_id in ids),
        key=lambda answer: answer.changed_at,
    )
