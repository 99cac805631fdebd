"""Spatial relation: is a claim about two things in an image true? (section 3.2, appendix A.2).

Raw data: Visual Spatial Reasoning, ``all_vsr_validated_data.jsonl`` with ``image``, ``caption``,
``label`` (1 true, 0 false), ``vote_true_validator_id`` and ``vote_false_validator_id``: lists, or
lists written as a text ("[2, 67, 21]"), as they are published; images in ``images/``. The paper
had GPT-3.5 turn claims into questions; here rules do, which is enough for the one form that claims
of this data set have.
"""

import json
import re
from pathlib import Path
from random import Random

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field, read_lines
from bench_assets.suites.blink.dataset.draft import Candidates, Draft, DraftView, Marks, wording
from bench_assets.suites.blink.raw_formats.image_folders import image_file

_CLAIM = re.compile(
    r"(?P<subject>.+?) (?P<verb>is|are|has|have|contains|consists|faces) (?P<rest>.+)"
)
_BASE = {"has": "have", "contains": "contain", "consists": "consist", "faces": "face"}


def build(source: Path, rng: Random) -> Candidates:
    """Ask whether each claim holds, in drawn order.

    Raises:
        SourceError: If the list is missing or a line is not of the form above; names it.
    """
    file = source / "all_vsr_validated_data.jsonl"
    entries = list(read_lines(file))
    for entry, where in rng.sample(entries, len(entries)):
        yield _candidate(source, entry, where)


def as_question(claim: str) -> str | None:
    """Turn a claim into a yes/no question, or None if it is not of the known form.

    >>> as_question("The cow is ahead of the person.")
    'Is the cow ahead of the person?'
    """
    stated = " ".join(claim.split()).removesuffix(".")
    if (parts := _CLAIM.fullmatch(stated)) is None:
        return None
    subject, verb, rest = parts["subject"], parts["verb"], parts["rest"]
    subject = subject[0].lower() + subject[1:]
    if verb in ("is", "are"):
        return f"{verb.capitalize()} {subject} {rest}?"
    return f"{'Do' if verb == 'have' else 'Does'} {subject} {_BASE.get(verb, verb)} {rest}?"


def _votes(entry: Entry, name: str, where: str) -> list[int]:
    value = entry.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = entry[name]
    if not isinstance(value, list) or not all(isinstance(one, int) for one in value):
        raise SourceError(f"{where}: field {name!r} is {value!r:.60}, expected a list of numbers")
    return value


def _candidate(source: Path, entry: Entry, where: str) -> Draft | Rejection:
    label = field(entry, "label", int, where)
    if label not in (0, 1):
        raise SourceError(f"{where}: field 'label' is {label}, expected 0 or 1")
    against = "vote_false_validator_id" if label else "vote_true_validator_id"
    claim = field(entry, "caption", str, where)
    image = image_file(source / "images", field(entry, "image", str, where), where)
    name = f"{image.name}: {claim}"
    if dissent := len(_votes(entry, against, where)):
        return Rejection(entry=name, reason=f"ambiguous: {dissent} validators saw it otherwise")
    question = as_question(claim)
    if question is None:
        return Rejection(entry=name, reason="the claim has none of the verbs that rules can turn")

    def show(place: int, marks: Marks) -> DraftView:
        asked = wording("Spatial_Relation", question=question)
        return DraftView(asked=asked, images=(image.read_bytes(),), options=("yes", "no"))

    return Draft(
        entry=name, originals=(image,), n_options=2, places=(0 if label else 1,), show=show
    )
