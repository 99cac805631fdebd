"""What people are asked when an edition of CODIS is built: pictures, questions, votes, revisions.

Each form asks only about what an earlier one has decided; the paper's rules are those of section
3.4, in words of our own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench_assets.core.rows import StoredImage
from bench_assets.people.forms import Answer, Form, Item
from bench_assets.people.suite_form import SuiteForm, TableOf
from bench_assets.suites.codis.people_forms import (
    BRING,
    N_ANNOTATORS,
    N_PICTURES,
    REVISE,
    SUBMIT,
    VOTE,
    VOTE_AGAIN,
    WRITTEN,
)
from bench_assets.suites.codis.source import Pair, Vote
from bench_assets.suites.codis.votes import CRITERIA, ballots, decide


def _picture_items() -> list[Item]:
    return [
        Item(form=BRING.name, item_id=f"picture {number:02}", needed=N_ANNOTATORS)
        for number in range(1, N_PICTURES + 1)
    ]


def _submission_items(images: Sequence[StoredImage]) -> list[Item]:
    return [
        Item(form=SUBMIT.name, item_id=one.name, pictures={"Picture": one.sha256}) for one in images
    ]


def _vote_items(submitted: Sequence[Pair], images: Sequence[StoredImage]) -> list[Item]:
    return _to_vote_on(VOTE, submitted, submitted, images)


def _revision_vote_items(
    submissions: Sequence[Pair], submitted: Sequence[Pair], images: Sequence[StoredImage]
) -> list[Item]:
    before = {pair.pair_id for pair in submitted}
    revised = [pair for pair in submissions if pair.pair_id not in before]
    return _to_vote_on(VOTE_AGAIN, revised, submissions, images)


def _to_vote_on(
    form: Form, pairs: Sequence[Pair], everything: Sequence[Pair], images: Sequence[StoredImage]
) -> list[Item]:
    """Ask all others about each pair whose picture is there; published ones are decided."""
    shown = {image.name: image.sha256 for image in images}
    everyone = {pair.annotator for pair in everything}
    asked = {pair.pair_id: pair for pair in reversed(pairs)}  # of two of one id the first
    return [
        Item(
            form=form.name,
            item_id=pair.pair_id,
            shown=_shown(pair),
            pictures={"Picture": shown[pair.image]},
            needed=len(everyone - {pair.annotator}) or 1,
            barred=(pair.annotator,),
        )
        for pair in reversed(asked.values())
        if pair.annotator and pair.image in shown
    ]


def _revision_items(
    submitted: Sequence[Pair],
    first_votes: Sequence[Vote],
    voted_on: Sequence[Item],
    images: Sequence[StoredImage],
) -> list[Item]:
    """Ask the authors to write anew what all others voted on, and did not accept."""
    needed = max((item.needed for item in voted_on), default=0) or None
    decisions = decide(submitted, first_votes, needed=needed)
    shown = {image.name: image.sha256 for image in images}
    everyone = sorted({pair.annotator for pair in submitted})
    cast = ballots(submitted, first_votes).counted
    return [
        Item(
            form=REVISE.name,
            item_id=pair.pair_id,
            shown={**_shown(pair), **_objections(cast[pair.pair_id])},
            pictures={"Picture": shown[pair.image]},
            barred=tuple(name for name in everyone if name != pair.annotator),
        )
        for pair, decision in zip(submitted, decisions, strict=True)
        if decision.outcome == "dropped" and decision.n_votes and pair.image in shown
    ]


def _objections(cast: Sequence[Vote]) -> dict[str, str]:
    """What the others said, of whom the author learns no name."""
    against = {
        f"Not {words}": str(n)
        for name, words in CRITERIA.items()
        if (n := sum(not getattr(vote, name) for vote in cast))
    }
    said = "\n".join(sorted({vote.comment for vote in cast if vote.comment}))
    return against | ({"The others say": said} if said else {})


def _shown(pair: Pair) -> dict[str, str]:
    return {
        "Question": pair.question,
        "First context": pair.contexts[0],
        "Answer in the first context": pair.answers[0],
        "Second context": pair.contexts[1],
        "Answer in the second context": pair.answers[1],
        "What the context tells of": pair.category,
    }


def _to_images(answers: Sequence[Answer]) -> list[str]:
    """SHA-256 of each picture that somebody brought, once."""
    return list(dict.fromkeys(_said(one.values, "picture") for one in answers))


def _to_pairs(answers: Sequence[Answer]) -> list[Pair]:
    return [
        _pair(one, pair_id=_plain(f"{one.item_id}-{one.person}"), image=one.item_id)
        for one in answers
    ]


def _to_revisions(answers: Sequence[Answer]) -> list[Pair]:
    """What stands in the place of what was voted down; ``with_pictures`` adds the picture."""
    return [
        _pair(one, pair_id=f"{one.item_id}-revised", image="", revises=one.item_id)
        for one in answers
    ]


def with_pictures(revisions: Sequence[Pair], submitted: Sequence[Pair]) -> list[Pair]:
    """Give revisions the pictures of what they revise; what is there no more cannot be revised."""
    images = {pair.pair_id: pair.image for pair in reversed(submitted)}
    return [replace(one, image=images[one.revises]) for one in revisions if one.revises in images]


def _pair(answer: Answer, *, pair_id: str, image: str, revises: str = "") -> Pair:
    said = {name: _said(answer.values, name) for name in (field.name for field in WRITTEN)}
    return Pair(
        pair_id=pair_id,
        image=image,
        question=said["question"],
        contexts=(said["context_1"], said["context_2"]),
        answers=(said["answer_1"], said["answer_2"]),
        category=said["category"],
        annotator=answer.person,
        revises=revises,
    )


def _to_votes(answers: Sequence[Answer]) -> list[Vote]:
    return [
        Vote(
            submission=one.item_id,
            annotator=one.person,
            correct=_said(one.values, "correct") == "yes",
            different=_said(one.values, "different") == "yes",
            within_rules=_said(one.values, "within_rules") == "yes",
            comment=_said(one.values, "comment"),
            seconds=one.seconds,
            at=one.at,
            tool=one.tool,
        )
        for one in answers
    ]


def _said(values: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(values.get(name, ())), "")


def _plain(name: str) -> str:
    return re.sub(r"[\s/]+", "_", name)


_IMAGES = TableOf("codis/images", StoredImage)
_SUBMITTED = TableOf("codis/submitted", Pair)

PICTURES = SuiteForm(form=BRING, reads={}, items=_picture_items, row=str, to_rows=_to_images)
SUBMISSIONS = SuiteForm(
    form=SUBMIT, reads={"images": _IMAGES}, items=_submission_items, row=Pair, to_rows=_to_pairs
)
VOTES = SuiteForm(
    form=VOTE,
    reads={"submitted": _SUBMITTED, "images": _IMAGES},
    items=_vote_items,
    row=Vote,
    to_rows=_to_votes,
)
REVISIONS = SuiteForm(
    form=REVISE,
    reads={
        "submitted": _SUBMITTED,
        "first_votes": TableOf("codis/first_votes", Vote),
        "voted_on": TableOf(VOTES.table("items"), Item),
        "images": _IMAGES,
    },
    items=_revision_items,
    row=Pair,
    to_rows=_to_revisions,
)
REVISION_VOTES = SuiteForm(
    form=VOTE_AGAIN,
    reads={
        "submissions": TableOf("codis/submissions", Pair),
        "submitted": _SUBMITTED,
        "images": _IMAGES,
    },
    items=_revision_vote_items,
    row=Vote,
    to_rows=_to_votes,
)
FORMS = (PICTURES, SUBMISSIONS, VOTES, REVISIONS, REVISION_VOTES)
