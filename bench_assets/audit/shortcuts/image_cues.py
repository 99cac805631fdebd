"""Cues in the images, without understanding them: file sizes, formats and statistics."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np

from bench_assets.audit.framework.evidence import Evidence, Floats
from bench_assets.audit.framework.findings import AuditFinding, SkippedCheckError, audit_check
from bench_assets.audit.framework.text_normalization import content_words
from bench_assets.audit.shortcuts.key_guesser import (
    MIN_QUESTIONS,
    Cue,
    Guess,
    Guessable,
    guess_finding,
    guess_keys,
)
from bench_assets.audit.shortcuts.option_cues import extremes, group_cues, one_hot, places
from bench_assets.core.schema.rows import Question


@audit_check("image_files", "Do sizes or formats of image files reveal the answer?")
def image_files(evidence: Evidence) -> AuditFinding:
    """Guess by properties of image options, and of the first image."""
    stored = evidence.stored
    exam = Guessable.with_options(
        question
        for question in evidence.questions
        if question.images and all(i in stored for i in question.images)
    )
    if len(exam.questions) < MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(exam.questions)} questions with options and image files")
    first = [stored[question.images[0]] for question in exam.questions]
    groups: dict[str, Sequence[Hashable]] = {
        "images of the same measures": [(file.width, file.height) for file in first],
        "files of the same format": [file.format for file in first],
    }
    facts = {
        "file size": {name: float(file.n_bytes) for name, file in stored.items()},
        "image area": {name: float(file.width * file.height) for name, file in stored.items()},
        "aspect ratio": {name: file.width / max(1, file.height) for name, file in stored.items()},
    }
    guesses = [*fact_guesses(evidence.questions, facts), *_group_guesses(exam, groups)]
    if not guesses:
        raise SkippedCheckError("all image files are alike")
    return guess_finding(guesses, "a property of the image files")


@audit_check("image_statistics", "Does image brightness, contrast or sharpness reveal the answer?")
def image_statistics(evidence: Evidence) -> AuditFinding:
    """Guess by statistics of the pixels."""
    images = list(
        dict.fromkeys(image for question in evidence.questions for image in question.images)
    )
    measured = evidence.statistics(images)
    facts = {
        name: {image: float(getattr(of, name)) for image, of in measured.items()}
        for name in ("brightness", "contrast", "sharpness")
    }
    guesses = fact_guesses(evidence.questions, facts)
    if not guesses:
        raise SkippedCheckError(
            f"fewer than {MIN_QUESTIONS} questions with images and answers to guess"
        )
    return guess_finding(guesses, "a statistic of the images")


def fact_guesses(
    questions: Sequence[Question], facts: Mapping[str, Mapping[str, float]]
) -> list[Guess]:
    """Guess by numbers of images, over all questions and each large category.

    Args:
        questions: Questions; those with an image without a number are left out.
        facts: Name of a number -> image -> value.
    """
    known = [
        question
        for question in questions
        if question.images and all(i in of for of in facts.values() for i in question.images)
    ]
    exam = Guessable.with_options(known)
    ids = {question.question_id for question in exam.questions}
    without = [question for question in known if question.question_id not in ids]
    free = Guessable.with_frequent_answers(without, "text")
    return [
        *(
            guess
            for fitting, n_before in _with_image_options(exam)
            for guess in guess_keys(
                fitting, [_image_option_cue(fitting, n_before, *item) for item in facts.items()]
            )
        ),
        *_group_guesses(exam, _thirds(exam.questions, facts)),
        *_group_guesses(free, _thirds(free.questions, facts)),
    ]


def _group_guesses(exam: Guessable, groups: Mapping[str, Sequence[Hashable]]) -> list[Guess]:
    """Guess the place, and the text, that is right in other questions of a group."""
    if len(exam.questions) < MIN_QUESTIONS:
        return []
    guesses = guess_keys(exam, group_cues(groups, places(exam))) if exam.is_ordered.all() else []
    if not exam.about:  # otherwise places stand for texts
        texts = one_hot(exam, [list(map(content_words, options)) for options in exam.options])
        cues = group_cues({f"the answer for {name}": of for name, of in groups.items()}, texts)
        guesses += guess_keys(exam, cues, [Cue("", texts)])
    return guesses


def _thirds(
    questions: Sequence[Question], facts: Mapping[str, Mapping[str, float]]
) -> dict[str, Sequence[Hashable]]:
    """Group by thirds of each number of the first image, and of the first minus the last."""
    groups: dict[str, Sequence[Hashable]] = {}
    for name, of in facts.items() if questions else ():
        first = np.array([of[question.images[0]] for question in questions])
        groups[f"images of like {name}"] = _third_of_each(first)
        if all(len(question.images) > 1 for question in questions):
            last = [of[question.images[-1]] for question in questions]
            groups[f"images of like difference in {name}"] = _third_of_each(first - last)
    return groups


def _third_of_each(values: Floats) -> list[int]:
    edges = np.quantile(values, [1 / 3, 2 / 3])
    return [int(np.searchsorted(edges, value)) for value in values]


def _with_image_options(exam: Guessable) -> Iterator[tuple[Guessable, int]]:
    """Questions whose options are images, and the number of images before these."""
    for n_before in (0, 1):
        rows = [
            row
            for row, question in enumerate(exam.questions)
            if len(question.images) - len(question.options) == n_before
        ]
        if len(rows) >= MIN_QUESTIONS:
            yield exam.of(rows), n_before


def _image_option_cue(exam: Guessable, n_before: int, name: str, of: Mapping[str, float]) -> Cue:
    """The greatest and the least number, and that nearest to the first image's or farthest."""
    values = np.full(exam.is_offered.shape, np.nan)
    for row, question in enumerate(exam.questions):
        values[row, : len(question.options)] = [of[i] for i in question.images[n_before:]]
    features, guesses = extremes(values), [f"the greatest {name}", f"the least {name}"]
    if n_before:
        first = np.array([of[question.images[0]] for question in exam.questions])
        distances = extremes(np.abs(values - first[:, None]))
        features = np.concatenate([features, distances], axis=2)
        guesses += [f"the farthest {name}", f"the nearest {name}"]
    return Cue("", features.__getitem__, guesses)
