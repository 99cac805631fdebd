"""Annotation tasks of an edition of CODIS (section 3.4), and the error codes of its models.

Images, questions, votes, revisions and votes on revisions: each task is about what an earlier one
has decided. The rules are the paper's, in words of our own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench_assets.annotation.responses.error_analysis import CodeBook, ErrorCode
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SuiteAnnotationTask,
    TableOf,
    Unit,
    yes_or_no,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.codis.dataset import ContextPair, SubmissionVote
from bench_assets.suites.codis.selection import CATEGORIES
from bench_assets.suites.codis.votes import CRITERIA, ballots, decide

N_ANNOTATORS = 5  # section 3.4
N_IMAGES = 75  # that each of them may bring: 377 of five people in the paper

_RULES = """\
The image must be open to more than one reading, and only something that is not in it can decide \
between them.
1. The question is about what is unclear in the image. Nobody can answer it from the \
image alone.
2. Two contexts, as alike as you can make them, lead to two different answers. The image alone \
is not enough for either answer, and the context alone is not either.
3. The answers are facts rather than opinions, and short. Name in the question what there is to \
choose from, where you can."""


WRITTEN = (
    Field(name="question", kind="text", label="Question", most=500),
    Field(name="context_1", kind="text", label="First context", most=500),
    Field(name="answer_1", kind="text", label="Answer in the first context", most=200),
    Field(name="context_2", kind="text", label="Second context", most=500),
    Field(name="answer_2", kind="text", label="Answer in the second context", most=200),
    Field(name="category", kind="choice", label="What the context tells of", choices=CATEGORIES),
)

BRING = AnnotationTask(
    name="codis/images",
    title="CODIS: images that need a context",
    instructions="Bring an image that can be understood in several ways, where only something that"
    " is not in the image tells which is right. Look twice: many images seem open and are not."
    " Bring only images that you may pass on.",
    fields=(Field(name="image", kind="image", label="Image"),),
    about="section 3.4, image collection",
)
SUBMIT = AnnotationTask(
    name="codis/submissions",
    title="CODIS: a question with two contexts",
    instructions=f"Write a question about the image, and two contexts.\n{_RULES}\n"
    "Skip an image for which you find none.",
    fields=WRITTEN,
    about="section 3.4, design of questions, context and answers",
)
VOTE = AnnotationTask(
    name="codis/votes",
    title="CODIS: votes on the others' questions",
    instructions="Check what another one wrote. All three have to hold, or it must be revised."
    f"\n{_RULES}",
    fields=(
        yes_or_no("correct", "In each context its answer is right"),
        yes_or_no("different", "It is clearly different from what there is already"),
        yes_or_no("within_rules", "It keeps the rules: image and context are both needed"),
        Field(name="comment", kind="text", label="Why not?", required=False, most=500),
    ),
    about="section 3.4, data verification",
)
REVISE = AnnotationTask(
    name="codis/revisions",
    title="CODIS: revisions",
    instructions="The others did not accept what you wrote. Write it again so that they can.\n"
    + _RULES,
    fields=WRITTEN,
    about="section 3.4, data verification",
)
VOTE_AGAIN = AnnotationTask(
    name="codis/revision_votes",
    title="CODIS: votes on revisions",
    instructions=VOTE.instructions,
    fields=VOTE.fields,
    about=VOTE.about,
)


def _image_items() -> list[Unit]:
    return [
        Unit(task=BRING.name, unit_id=f"image {number:02}", needed=N_ANNOTATORS)
        for number in range(1, N_IMAGES + 1)
    ]


def _submission_items(images: Sequence[StoredImage]) -> list[Unit]:
    return [
        Unit(task=SUBMIT.name, unit_id=one.name, images={"Image": one.sha256}) for one in images
    ]


def _vote_items(submitted: Sequence[ContextPair], images: Sequence[StoredImage]) -> list[Unit]:
    return _to_vote_on(VOTE, submitted, submitted, images)


def _revision_vote_items(
    submissions: Sequence[ContextPair],
    submitted: Sequence[ContextPair],
    images: Sequence[StoredImage],
) -> list[Unit]:
    before = {pair.pair_id for pair in submitted}
    revised = [pair for pair in submissions if pair.pair_id not in before]
    return _to_vote_on(VOTE_AGAIN, revised, submissions, images)


def _to_vote_on(
    task: AnnotationTask,
    pairs: Sequence[ContextPair],
    everything: Sequence[ContextPair],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Ask all others about each pair whose image is there; published ones are decided."""
    shown = {image.name: image.sha256 for image in images}
    everyone = {pair.annotator for pair in everything}
    asked = {pair.pair_id: pair for pair in reversed(pairs)}  # of two of one id the first
    return [
        Unit(
            task=task.name,
            unit_id=pair.pair_id,
            shown=_shown(pair),
            images={"Image": shown[pair.image]},
            needed=len(everyone - {pair.annotator}) or 1,
            barred=(pair.annotator,),
        )
        for pair in reversed(asked.values())
        if pair.annotator and pair.image in shown
    ]


def _revision_items(
    submitted: Sequence[ContextPair],
    first_votes: Sequence[SubmissionVote],
    voted_on: Sequence[Unit],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Ask the authors to write anew what all others voted on, and did not accept."""
    needed = max((unit.needed for unit in voted_on), default=0) or None
    decisions = decide(submitted, first_votes, needed=needed)
    shown = {image.name: image.sha256 for image in images}
    everyone = sorted({pair.annotator for pair in submitted})
    cast = ballots(submitted, first_votes).counted
    return [
        Unit(
            task=REVISE.name,
            unit_id=pair.pair_id,
            shown={**_shown(pair), **_objections(cast[pair.pair_id])},
            images={"Image": shown[pair.image]},
            barred=tuple(name for name in everyone if name != pair.annotator),
        )
        for pair, decision in zip(submitted, decisions, strict=True)
        if decision.outcome == "dropped" and decision.n_votes and pair.image in shown
    ]


def _objections(cast: Sequence[SubmissionVote]) -> dict[str, str]:
    """What the others said, of whom the author learns no name."""
    against = {
        f"Not {words}": str(n)
        for name, words in CRITERIA.items()
        if (n := sum(not getattr(vote, name) for vote in cast))
    }
    said = "\n".join(sorted({vote.comment for vote in cast if vote.comment}))
    return against | ({"The others say": said} if said else {})


def _shown(pair: ContextPair) -> dict[str, str]:
    return {
        "Question": pair.question,
        "First context": pair.contexts[0],
        "Answer in the first context": pair.answers[0],
        "Second context": pair.contexts[1],
        "Answer in the second context": pair.answers[1],
        "What the context tells of": pair.category,
    }


def _to_images(answers: Sequence[Answer]) -> list[str]:
    """SHA-256 of each image that somebody brought, once."""
    return list(dict.fromkeys(_said(one.values, "image") for one in answers))


def _to_pairs(answers: Sequence[Answer]) -> list[ContextPair]:
    return [
        _pair(one, pair_id=_plain(f"{one.unit_id}-{one.person}"), image=one.unit_id)
        for one in answers
    ]


def _to_revisions(answers: Sequence[Answer]) -> list[ContextPair]:
    """What stands in the place of what was voted down; ``with_images`` adds the image."""
    return [
        _pair(one, pair_id=f"{one.unit_id}-revised", image="", revises=one.unit_id)
        for one in answers
    ]


def with_images(
    revisions: Sequence[ContextPair], submitted: Sequence[ContextPair]
) -> list[ContextPair]:
    """Give revisions the images of what they revise; what is there no more cannot be revised."""
    images = {pair.pair_id: pair.image for pair in reversed(submitted)}
    return [replace(one, image=images[one.revises]) for one in revisions if one.revises in images]


def _pair(answer: Answer, *, pair_id: str, image: str, revises: str = "") -> ContextPair:
    said = {name: _said(answer.values, name) for name in (field.name for field in WRITTEN)}
    return ContextPair(
        pair_id=pair_id,
        image=image,
        question=said["question"],
        contexts=(said["context_1"], said["context_2"]),
        answers=(said["answer_1"], said["answer_2"]),
        category=said["category"],
        annotator=answer.person,
        revises=revises,
    )


def _to_votes(answers: Sequence[Answer]) -> list[SubmissionVote]:
    return [
        SubmissionVote(
            submission=one.unit_id,
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
_SUBMITTED = TableOf("codis/submitted", ContextPair)

IMAGES = SuiteAnnotationTask(task=BRING, reads={}, units=_image_items, row=str, to_rows=_to_images)
SUBMISSIONS = SuiteAnnotationTask(
    task=SUBMIT,
    reads={"images": _IMAGES},
    units=_submission_items,
    row=ContextPair,
    to_rows=_to_pairs,
)
VOTES = SuiteAnnotationTask(
    task=VOTE,
    reads={"submitted": _SUBMITTED, "images": _IMAGES},
    units=_vote_items,
    row=SubmissionVote,
    to_rows=_to_votes,
)
REVISIONS = SuiteAnnotationTask(
    task=REVISE,
    reads={
        "submitted": _SUBMITTED,
        "first_votes": TableOf("codis/first_votes", SubmissionVote),
        "voted_on": TableOf(VOTES.table("units"), Unit),
        "images": _IMAGES,
    },
    units=_revision_items,
    row=ContextPair,
    to_rows=_to_revisions,
)
REVISION_VOTES = SuiteAnnotationTask(
    task=VOTE_AGAIN,
    reads={
        "submissions": TableOf("codis/submissions", ContextPair),
        "submitted": _SUBMITTED,
        "images": _IMAGES,
    },
    units=_revision_vote_items,
    row=SubmissionVote,
    to_rows=_to_votes,
)
ANNOTATION_TASKS = (IMAGES, SUBMISSIONS, VOTES, REVISIONS, REVISION_VOTES)

CODE_BOOK = CodeBook(
    "sections 4.2, 5.1 and 5.2",
    (
        ErrorCode("image", "what the context makes important is not seen in the image (5.1)"),
        ErrorCode("context passed over", "the answer is the one without the context (4.2)"),
        ErrorCode(
            "context misread", "the context is used, and something else is taken out of it (4.2)"
        ),
        ErrorCode("favourite word", "one of two opposite words is said whatever is shown (5.2)"),
        ErrorCode("reasoning", "image and context are understood, what follows is wrong"),
        ErrorCode("refusal", "it will not answer, or says that it cannot be told"),
        ErrorCode("judge", "the response is right, and was judged to be wrong"),
        ErrorCode("other", "something else: say what"),
    ),
)
"""What CODIS' authors find models to lack; they count no mistakes."""
