"""Faults that are planted in an exam of whatever suite: each a function of what is held."""

from dataclasses import replace
from string import ascii_uppercase

import numpy as np
from PIL import Image

from bench_assets.audit.framework.text_normalization import right_texts
from bench_assets.core.schema.rows import Prediction
from bench_assets.core.stats.clusters import cluster_questions
from tests.audit.held import Held, Trained, stored_as


def with_questions(held: Held, change) -> Held:
    return replace(held, questions=[change(one) for one in held.questions])


def one_key(held: Held) -> Held:
    """Make A the key of all; without letters, one answer."""
    some = next((one.answer for one in held.questions if one.kind == "text"), ())
    blanks = next((one.answer for one in held.questions if one.kind == "blanks"), ())

    def change(one):
        answers = {"choice": ("A",), "choices": ("A",), "text": some, "blanks": blanks}
        options = () if one.kind == "text" else one.options
        return replace(one, answer=answers[one.kind], options=options)

    return with_questions(held, change)


def answer_in_question(held: Held) -> Held:
    return with_questions(
        held, lambda one: replace(one, text=f"{one.text} {' '.join(right_texts(one))}.")
    )


def key_in_a_text(held: Held) -> Held:
    """Say it of a single question."""
    first, *others = held.questions
    leaking = replace(first, text=f"{first.text} (Answer: {right_texts(first)[0]})")
    return replace(held, questions=[leaking, *others])


def answer_in_file_name(held: Held) -> Held:
    """Name each image by what is right of its questions."""
    answers: dict[str, list[str]] = {}
    for one in held.questions:
        for image in one.images:
            answers.setdefault(image, []).extend(right_texts(one))
    named = {
        image: replace(file, name=f"{', '.join(answers[image])}.png") if image in answers else file
        for image, file in held.stored.items()
    }
    return replace(held, stored=named)


def longest_is_right(held: Held) -> Held:
    """Write all of the right options three times."""

    def change(one):
        right = set(right_texts(one))
        longer = {option: f"{option}, {option}, {option}" for option in right}
        options = tuple(longer.get(option, option) for option in one.options)
        answer = tuple(longer[text] for text in one.answer) if one.kind == "text" else one.answer
        return replace(one, options=options, answer=answer)

    return with_questions(held, change)


def largest_is_right(held: Held) -> Held:
    """Make the options numbers of one length, the largest of which is right."""

    def change(one):
        key = ascii_uppercase.index(one.answer[0])
        values = [40 + 3 * n for n in range(len(one.options))]
        values[key] = 90
        return replace(one, options=tuple(map(str, values)))

    return with_questions(held, change)


def letters_take_turns(held: Held) -> Held:
    changed = [
        replace(one, answer=(ascii_uppercase[n % len(one.options)],), options=one.options)
        for n, one in enumerate(held.questions)
    ]
    return replace(held, questions=changed)


def right_ones_are_denials(held: Held) -> Held:
    """Write the right option with a no that stands where the others have a word of their own."""

    def change(one):
        right = ascii_uppercase.index(one.answer[0])
        options = [f"{option} xx" for option in one.options]
        options[right] = f"{one.options[right]} no"
        return replace(one, options=tuple(options))

    return with_questions(held, change)


def blank_image(held: Held) -> Held:
    blank = next(image for one in held.questions for image in one.images)
    return replace(held, images={**held.images, blank: Image.new("RGB", (300, 200), (120,) * 3)})


def contradicting_paraphrase(held: Held) -> Held:
    """Ask a question again in words that change nothing, with another answer."""
    planted = contradicting_key(held)
    *others, again = planted.questions
    text = f"Please look: {again.text[0].lower()}{again.text[1:-1]} in the picture?"
    text = text.replace("Please look: which thing lies", "Which things do lie")
    return replace(planted, questions=[*others, replace(again, text=text)])


def missing_image(held: Held) -> Held:
    gone = next(image for one in held.questions for image in one.images)
    left = {image: decoded for image, decoded in held.images.items() if image != gone}
    return replace(held, images=left)


def forgotten_image(held: Held) -> Held:
    """Leave the images of one question out."""
    first = next(one for one in held.questions if one.images)
    return with_questions(held, lambda one: replace(one, images=()) if one is first else one)


def duplicate_image(held: Held) -> Held:
    """Show one question's image to a question of another group too, compressed anew."""
    clusters = cluster_questions(held.questions)
    first = next(one for one in held.questions if one.images)
    other = next(
        one
        for one in held.questions
        if one.images and clusters[one.question_id] != clusters[first.question_id]
    )
    copy = held.images[first.images[-1]]
    file = stored_as(copy, "copy.jpg", "JPEG")
    changed = replace(other, images=(*other.images[:-1], file.sha256))
    return replace(
        held,
        questions=[changed if one is other else one for one in held.questions],
        images={**held.images, file.sha256: copy},
        hashes={**held.hashes, file.sha256: held.hashes[first.images[-1]]},
        stored={**held.stored, file.sha256: file},
    )


def repeated_question(held: Held) -> Held:
    first = held.questions[0]
    again = replace(first, question_id=f"{first.question_id}/again", text=f"{first.text.upper()} ")
    return replace(held, questions=[*held.questions, again])


def contradicting_key(held: Held) -> Held:
    """Ask a question again, with another answer."""
    first = held.questions[0]
    letters = [one for one in ascii_uppercase[: len(first.options)] if one not in first.answer]
    wrong = [one for one in first.options if one not in first.answer]
    other = {"choice": letters[:1], "choices": letters[:1]}.get(first.kind, wrong[:1] or ["quite"])
    again = replace(first, question_id=f"{first.question_id}/again", answer=tuple(other))
    return replace(held, questions=[*held.questions, again])


def trained_on_image(held: Held) -> Held:
    image = next(image for one in held.questions for image in one.images)
    return replace(held, training=Trained(of_images=[image]))


def trained_on_look(held: Held) -> Held:
    """Have two bits of an image's look differ, as after compression."""
    image = next(image for one in held.questions for image in one.images)
    look = int(held.hashes[image], 16) ^ 0b1001
    return replace(held, training=Trained(of_looks=[f"{look:016x}"]))


def trained_on_texts(held: Held) -> Held:
    return replace(
        held,
        training=Trained(
            of_texts=[f"And then: {one.text} {one.context}" for one in held.questions[::3]]
        ),
    )


def responses(held: Held, model: str, condition: str, solved: float, decoding: str = "m"):
    """Responses of a model that solves a share of the questions by knowing, no others."""
    rng = np.random.default_rng(len(model) + 7)
    knows = rng.random(len(held.questions)) < solved
    return [
        Prediction(
            question_id=one.question_id,
            model=model,
            condition=condition,
            text=_right(one) if known else "I cannot tell.",
            decoding=decoding,
        )
        for one, known in zip(held.questions, knows, strict=True)
    ]


def _right(one) -> str:
    return "".join(one.answer) if one.kind == "choices" else one.answer[0]


def answered(held: Held, blind: float) -> Held:
    """Two models that see, and the same two without images."""
    predictions = [
        *responses(held, "good", "main", 0.9),
        *responses(held, "better", "main", 0.95),
        *responses(held, "good", "no_image", blind),
        *responses(held, "better", "no_image", blind),
    ]
    return replace(held, responses=predictions)


def solved_blind(held: Held) -> Held:
    return answered(held, 0.9)
