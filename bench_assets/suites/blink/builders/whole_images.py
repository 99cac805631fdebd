"""Tasks about unchanged images: counting, IQ test, spatial relation (section 3.2).

Raw data, one folder per task; ``image`` is a path below it:

* Counting: TallyQA, ``test.json``: a list of ``{image, question, answer, question_id, issimple}``;
* IQ_Test: ``puzzles.jsonl`` with ``id``, ``image`` (the examples and the images A to D are in it),
  ``answer`` ("A" to "D") and ``explanation``;
* Spatial_Relation: Visual Spatial Reasoning, ``all_vsr_validated_data.jsonl`` with ``image`` (in
  ``images/``), ``caption``, ``label`` (1 true, 0 false), ``vote_true_validator_id`` and
  ``vote_false_validator_id``: lists, or lists as text ("[2, 67, 21]"), as published.

Counting questions come in fours with the same numbers, each right for one of them. Otherwise small
numbers would be right most often, and blind guesses would do well. The paper had GPT-3.5 turn the
claims of Spatial_Relation into questions (appendix A.2); here rules do.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import (
    Entry,
    make_rows,
    read_entries,
    read_lines,
    require_field,
)
from bench_assets.suites.blink.builders.drafts import (
    Candidates,
    Draft,
    fixed_choice,
    make_entry_candidates,
    number_choice,
    wording,
)
from bench_assets.suites.blink.builders.raw_files import image_file

_PUZZLE_OPTIONS = ("picture A", "picture B", "picture C", "picture D")
_CLAIM = re.compile(
    r"(?P<subject>.+?) (?P<verb>is|are|has|have|contains|consists|faces) (?P<rest>.+)"
)
_SPREAD = 4  # maximum difference of a wrong number from the right one; not given by the paper
_BASE_FORMS = {"has": "have", "contains": "contain", "consists": "consist", "faces": "face"}


class _CountedImage(NamedTuple):
    entry: str
    image: Path
    question: str
    right: int
    simple: bool


def counting(source: Path, rng: Random) -> Candidates:
    """Ask each question with the right number and three wrong ones, in random order.

    Questions that fit no group of four come last, with random wrong numbers. Those that TallyQA
    calls simple, such as "How many dogs are there?", are rejected.
    """
    entries = list(read_entries(source / "test.json"))
    table = make_rows(rng.sample(entries, len(entries)), partial(_parse_counted_image, source))
    yield from table.rejections
    for image in table.rows:
        if image.simple:
            yield Rejection(entry=image.entry, reason="simple: a detector alone could answer it")
    yield from _count_drafts([image for image in table.rows if not image.simple], rng)


def _count_drafts(counted_images: Sequence[_CountedImage], rng: Random) -> Iterator[Draft]:
    """Draft the groups of four in random order, then the images that fit none."""
    groups = group_in_fours([image.right for image in counted_images], _SPREAD)
    for group in rng.sample(groups, len(groups)):
        numbers = [counted_images[index].right for index in group]
        for index in group:
            image = counted_images[index]
            wrong = rng.sample([number for number in numbers if number != image.right], 3)
            yield number_choice(image.question, image.entry, image.image, image.right, wrong)
    ungrouped = set(range(len(counted_images))).difference(*groups)
    for index in sorted(ungrouped):
        image = counted_images[index]
        near = range(max(0, image.right - _SPREAD), image.right + _SPREAD + 1)
        wrong = rng.sample([number for number in near if number != image.right], 3)
        yield number_choice(image.question, image.entry, image.image, image.right, wrong)


def iq_test(source: Path, rng: Random) -> Candidates:
    """Ask about each puzzle, in random order."""
    return make_entry_candidates(
        read_lines(source / "puzzles.jsonl"), rng, partial(_puzzle_draft, source)
    )


def spatial_relation(source: Path, rng: Random) -> Candidates:
    """Ask whether each claim that validators agree on is true, in random order."""
    lines = read_lines(source / "all_vsr_validated_data.jsonl")
    return make_entry_candidates(lines, rng, partial(_claim_draft, source))


def group_in_fours(numbers: Sequence[int], spread: int) -> list[tuple[int, ...]]:
    """Group indices of numbers, so that each group has four different ones within ``spread``.

    >>> group_in_fours([2, 7, 1, 3, 1, 0], 4)
    [(5, 2, 0, 3)]
    """
    indices: dict[int, list[int]] = defaultdict(list)  # of each number, until they are grouped
    for index, number in enumerate(numbers):
        indices[number].append(index)
    groups = []
    for lowest in sorted(indices):
        while indices[lowest]:
            near = [n for n in range(lowest, lowest + spread + 1) if indices.get(n)]
            if len(near) < 4:
                break
            groups.append(tuple(indices[number].pop(0) for number in near[:4]))
    return groups


def as_question(claim: str) -> str | None:
    """Turn a claim into a yes/no question; None if its form is unknown.

    >>> as_question("The cow is ahead of the person.")
    'Is the cow ahead of the person?'
    """
    sentence = " ".join(claim.split()).removesuffix(".")
    match = _CLAIM.fullmatch(sentence)
    if match is None:
        return None
    subject, verb, rest = match["subject"], match["verb"], match["rest"]
    subject = subject[0].lower() + subject[1:]
    if verb in ("is", "are"):
        return f"{verb.capitalize()} {subject} {rest}?"
    auxiliary = "Do" if verb == "have" else "Does"
    return f"{auxiliary} {subject} {_BASE_FORMS.get(verb, verb)} {rest}?"


def _parse_counted_image(source: Path, entry: Entry, where: str) -> _CountedImage:
    right = require_field(entry, "answer", int, where)
    if right < 0:
        raise SourceError(f"{where}: field 'answer' is {right}, expected 0 or more")
    return _CountedImage(
        entry=f"test.json, question {require_field(entry, 'question_id', int, where)}",
        image=image_file(source, require_field(entry, "image", str, where), where),
        question=require_field(entry, "question", str, where).strip(),
        right=right,
        simple=require_field(entry, "issimple", bool, where),
    )


def _puzzle_draft(source: Path, entry: Entry, where: str) -> Draft:
    answer = require_field(entry, "answer", str, where)
    if answer not in ("A", "B", "C", "D"):
        raise SourceError(f"{where}: field 'answer' is {answer!r}, expected 'A', 'B', 'C' or 'D'")
    return fixed_choice(
        wording("IQ_Test"),
        f"puzzles.jsonl, id {require_field(entry, 'id', str, where)}",
        image_file(source, require_field(entry, "image", str, where), where),
        options=_PUZZLE_OPTIONS,
        place="ABCD".index(answer),
        explanation=require_field(entry, "explanation", str, where),
    )


def _claim_draft(source: Path, entry: Entry, where: str) -> Draft | Rejection:
    label = require_field(entry, "label", int, where)
    if label not in (0, 1):
        raise SourceError(f"{where}: field 'label' is {label}, expected 0 or 1")
    dissent_field = "vote_false_validator_id" if label else "vote_true_validator_id"
    claim = require_field(entry, "caption", str, where)
    image = image_file(source / "images", require_field(entry, "image", str, where), where)
    name = f"{image.name}: {claim}"
    n_dissenting = len(_read_votes(entry, dissent_field, where))
    if n_dissenting:
        reason = f"ambiguous: {n_dissenting} validators saw it otherwise"
        return Rejection(entry=name, reason=reason)
    question = as_question(claim)
    if question is None:
        return Rejection(entry=name, reason="the claim has none of the verbs that rules can turn")
    question_wording, place = wording("Spatial_Relation", question=question), 0 if label else 1
    return fixed_choice(question_wording, name, image, options=("yes", "no"), place=place)


def _read_votes(entry: Entry, name: str, where: str) -> list[int]:
    """Read a list of validators, or a list as text."""
    value = entry.get(name)
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, list) or not all(isinstance(vote, int) for vote in value):
        raise SourceError(f"{where}: field {name!r} is {value!r:.60}, expected a list of numbers")
    return value
