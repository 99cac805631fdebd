"""Annotation tasks of CODIS (section 3.4).

Five tasks in sequence: images, questions, votes, revisions, votes on revisions. The units of each
are built from the results of the ones before. ``annotation.toml`` states the paper's rules in our
own words.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import AnnotationTask, Answer, Unit, field_value, suite_task
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.codis.dataset import ContextPair, SubmissionVote
from bench_assets.suites.codis.votes import CRITERIA, ballots_by_submission, decide_submissions

N_ANNOTATORS = 5  # annotators (section 3.4)
N_IMAGES = 75  # uploads per annotator; the five of the paper collected 377 in all

_TASKS = read_tasks(Path(__file__).with_name("annotation.toml"))


def _image_units() -> list[Unit]:
    return [
        Unit(task=_TASKS["images"].name, unit_id=f"image {number:02}", needed=N_ANNOTATORS)
        for number in range(1, N_IMAGES + 1)
    ]


def _submission_units(images: Sequence[StoredImage]) -> list[Unit]:
    return [
        Unit(task=_TASKS["submissions"].name, unit_id=image.name, images={"Image": image.sha256})
        for image in images
    ]


def _vote_units(submitted: Sequence[ContextPair], images: Sequence[StoredImage]) -> list[Unit]:
    return _pair_vote_units(_TASKS["votes"], submitted, submitted, images)


def _revision_vote_units(
    submissions: Sequence[ContextPair],
    submitted: Sequence[ContextPair],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build the units of the revisions: those of ``submissions`` that are not ``submitted``."""
    submitted_ids = {pair.pair_id for pair in submitted}
    revisions = [pair for pair in submissions if pair.pair_id not in submitted_ids]
    return _pair_vote_units(_TASKS["revision_votes"], revisions, submissions, images)


def _pair_vote_units(
    task: AnnotationTask,
    pairs: Sequence[ContextPair],
    all_pairs: Sequence[ContextPair],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per pair with an author and a stored image, for every other annotator.

    The annotators are the authors of ``all_pairs``. Of pairs with the same id, the first counts.
    """
    digests = {image.name: image.sha256 for image in images}
    annotators = {pair.annotator for pair in all_pairs} - {""}
    return [
        Unit(
            task=task.name,
            unit_id=pair.pair_id,
            shown=_shown_fields(pair),
            images={"Image": digests[pair.image]},
            needed=max(1, len(annotators - {pair.annotator})),
            barred=(pair.annotator,),
        )
        for pair in _first_of_each_id(pairs)
        if pair.annotator and pair.image in digests
    ]


def _first_of_each_id(pairs: Sequence[ContextPair]) -> list[ContextPair]:
    by_id: dict[str, ContextPair] = {}
    for pair in pairs:
        by_id.setdefault(pair.pair_id, pair)
    return list(by_id.values())


def _revision_units(
    submitted: Sequence[ContextPair],
    first_votes: Sequence[SubmissionVote],
    voted_on: Sequence[Unit],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per pair with a stored image that was voted down, for its author to revise.

    Of pairs with the same id, the first counts.
    """
    pairs = _first_of_each_id(submitted)
    needed = max((unit.needed for unit in voted_on), default=None)
    decisions = decide_submissions(pairs, first_votes, needed=needed)
    digests = {image.name: image.sha256 for image in images}
    annotators = sorted({pair.annotator for pair in pairs})
    ballots = ballots_by_submission(pairs, first_votes)
    return [
        Unit(
            task=_TASKS["revisions"].name,
            unit_id=pair.pair_id,
            shown={**_shown_fields(pair), **_objections(ballots[pair.pair_id])},
            images={"Image": digests[pair.image]},
            barred=tuple(name for name in annotators if name != pair.annotator),
        )
        for pair, decision in zip(pairs, decisions, strict=True)
        if decision.outcome == "dropped"
        and decision.n_approving < decision.n_votes
        and pair.image in digests
    ]


def _objections(votes: Sequence[SubmissionVote]) -> dict[str, str]:
    """Count the votes against each criterion and join the comments, without annotators' names."""
    objections = {}
    for name, words in CRITERIA.items():
        n_against = sum(not getattr(vote, name) for vote in votes)
        if n_against:
            objections[f"Not {words}"] = str(n_against)
    comments = sorted({vote.comment for vote in votes if vote.comment})
    if comments:
        objections["Comments"] = "\n".join(comments)
    return objections


def _shown_fields(pair: ContextPair) -> dict[str, str]:
    first_context, second_context = pair.contexts
    first_answer, second_answer = pair.answers
    return {
        "Question": pair.question,
        "First context": first_context,
        "Answer in the first context": first_answer,
        "Second context": second_context,
        "Answer in the second context": second_answer,
        "Topic of the contexts": pair.category,
    }


def _to_images(answers: Sequence[Answer]) -> list[str]:
    """SHA-256 of the uploaded images, without duplicates."""
    return list(dict.fromkeys(field_value(answer, "image") for answer in answers))


def _to_pairs(answers: Sequence[Answer]) -> list[ContextPair]:
    pairs = []
    for answer in answers:
        pair_id = re.sub(r"[\s/]+", "_", f"{answer.unit_id}-{answer.person}")
        pairs.append(_pair(answer, pair_id=pair_id, image=answer.unit_id))
    return pairs


def _to_revisions(answers: Sequence[Answer]) -> list[ContextPair]:
    """Revisions of pairs that were voted down; ``add_images`` adds their images."""
    return [
        _pair(answer, pair_id=f"{answer.unit_id}-revised", image="", revises=answer.unit_id)
        for answer in answers
    ]


def add_images(
    revisions: Sequence[ContextPair], submitted: Sequence[ContextPair]
) -> list[ContextPair]:
    """Add to revisions the images of the pairs they revise; drop those of missing pairs."""
    images = {pair.pair_id: pair.image for pair in _first_of_each_id(submitted)}
    return [
        replace(revision, image=images[revision.revises])
        for revision in revisions
        if revision.revises in images
    ]


def _pair(answer: Answer, *, pair_id: str, image: str, revises: str = "") -> ContextPair:
    values = {field.name: field_value(answer, field.name) for field in _TASKS["submissions"].fields}
    return ContextPair(
        pair_id=pair_id,
        image=image,
        question=values["question"],
        contexts=(values["context_1"], values["context_2"]),
        answers=(values["answer_1"], values["answer_2"]),
        category=values["category"],
        annotator=answer.person,
        revises=revises,
    )


def _to_votes(answers: Sequence[Answer]) -> list[SubmissionVote]:
    return [
        SubmissionVote(
            submission=answer.unit_id,
            annotator=answer.person,
            correct=field_value(answer, "correct") == "yes",
            different=field_value(answer, "different") == "yes",
            within_rules=field_value(answer, "within_rules") == "yes",
            comment=field_value(answer, "comment"),
            seconds=answer.seconds,
            at=answer.at,
            tool=answer.tool,
        )
        for answer in answers
    ]


IMAGES = suite_task(_TASKS["images"], _image_units, _to_images)
SUBMISSIONS = suite_task(_TASKS["submissions"], _submission_units, _to_pairs)
VOTES = suite_task(_TASKS["votes"], _vote_units, _to_votes)
REVISIONS = suite_task(
    _TASKS["revisions"], _revision_units, _to_revisions, voted_on="annotation/votes_units"
)
REVISION_VOTES = suite_task(_TASKS["revision_votes"], _revision_vote_units, _to_votes)
ANNOTATION_TASKS = (IMAGES, SUBMISSIONS, VOTES, REVISIONS, REVISION_VOTES)
