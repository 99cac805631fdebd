"""Faults to plant in an exam: each function returns a changed copy of the evidence."""

from dataclasses import replace
from string import ascii_uppercase

import numpy as np
from PIL import Image

from bench_assets.audit.framework.text_normalization import right_texts
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.clusters import cluster_questions
from tests.audit.memory_evidence import MemoryEvidence, MemoryTrainingData, file_digest


def change_questions(evidence, change):
    return replace(evidence, questions=[change(question) for question in evidence.questions])


def first_image(evidence: MemoryEvidence) -> str:
    return next(image for question in evidence.questions for image in question.images)


def one_key(evidence: MemoryEvidence) -> MemoryEvidence:
    """Give all questions the same key: A or, without letters, the first answer of the kind."""
    answers: dict[str, tuple[str, ...]] = {"choice": ("A",), "choices": ("A",)}
    for question in evidence.questions:
        answers.setdefault(question.kind, question.answer)

    def change(question):
        options = () if question.kind == "text" else question.options
        return replace(question, answer=answers[question.kind], options=options)

    return change_questions(evidence, change)


def answer_in_all_questions(evidence: MemoryEvidence) -> MemoryEvidence:
    def change(question):
        return replace(question, text=f"{question.text} {' '.join(right_texts(question))}.")

    return change_questions(evidence, change)


def answer_in_one_question(evidence: MemoryEvidence) -> MemoryEvidence:
    first, *others = evidence.questions
    leaking = replace(first, text=f"{first.text} (Answer: {right_texts(first)[0]})")
    return replace(evidence, questions=[leaking, *others])


def answer_in_file_name(evidence: MemoryEvidence) -> MemoryEvidence:
    """Name each image after the answers to its questions."""
    answers: dict[str, list[str]] = {}
    for question in evidence.questions:
        for image in question.images:
            answers.setdefault(image, []).extend(right_texts(question))
    names = {image: f"{', '.join(texts)}.png" for image, texts in answers.items()}
    return replace(evidence, image_names=names)


def longest_option_is_right(evidence: MemoryEvidence) -> MemoryEvidence:
    """Repeat the text of every right option three times."""

    def change(question):
        lengthened = {text: f"{text}, {text}, {text}" for text in right_texts(question)}
        options = tuple(lengthened.get(option, option) for option in question.options)
        answer = question.answer
        if question.kind == "text":
            answer = tuple(lengthened[text] for text in answer)
        return replace(question, options=options, answer=answer)

    return change_questions(evidence, change)


def largest_number_is_right(evidence: MemoryEvidence) -> MemoryEvidence:
    """Make the options two-digit numbers, the largest of which is right."""

    def change(question):
        right_index = ascii_uppercase.index(question.answer[0])
        values = [40 + 3 * n for n in range(len(question.options))]
        values[right_index] = 90
        return replace(question, options=tuple(map(str, values)))

    return change_questions(evidence, change)


def letters_take_turns(evidence: MemoryEvidence) -> MemoryEvidence:
    questions = []
    for n, question in enumerate(evidence.questions):
        letter = ascii_uppercase[n % len(question.options)]
        questions.append(replace(question, answer=(letter,)))
    return replace(evidence, questions=questions)


def right_options_are_denials(evidence: MemoryEvidence) -> MemoryEvidence:
    """Add "no" to every right option and another word to the wrong ones."""

    def change(question):
        right_index = ascii_uppercase.index(question.answer[0])
        options = [f"{option} xx" for option in question.options]
        options[right_index] = f"{question.options[right_index]} no"
        return replace(question, options=tuple(options))

    return change_questions(evidence, change)


def blank_image(evidence: MemoryEvidence) -> MemoryEvidence:
    blank = Image.new("RGB", (300, 200), (120,) * 3)
    return replace(evidence, images={**evidence.images, first_image(evidence): blank})


def contradicting_paraphrase(evidence: MemoryEvidence) -> MemoryEvidence:
    """Ask a question again in other words that mean the same, with another answer."""
    planted = contradicting_key(evidence)
    *others, repeated = planted.questions
    text = repeated.text.replace("Which thing lies", "Which things do lie")
    paraphrased = replace(repeated, text=f"{text.removesuffix('?')} in the picture?")
    return replace(planted, questions=[*others, paraphrased])


def missing_image(evidence: MemoryEvidence) -> MemoryEvidence:
    missing = first_image(evidence)
    images = {name: image for name, image in evidence.images.items() if name != missing}
    return replace(evidence, images=images)


def forgotten_image(evidence: MemoryEvidence) -> MemoryEvidence:
    """Leave out the images of one question."""
    first, *others = evidence.questions
    return replace(evidence, questions=[replace(first, images=()), *others])


def duplicate_image(evidence: MemoryEvidence) -> MemoryEvidence:
    """Show one question's image, compressed anew, also to a question of another cluster."""
    clusters = cluster_questions(evidence.questions)
    first = evidence.questions[0]
    second = next(
        question
        for question in evidence.questions
        if clusters[question.question_id] != clusters[first.question_id]
    )
    image = evidence.images[first.images[-1]]
    copy = file_digest(image, "JPEG")
    changed = replace(second, images=(*second.images[:-1], copy))
    return replace(
        evidence,
        questions=[changed if q is second else q for q in evidence.questions],
        images={**evidence.images, copy: image},
        hashes={**evidence.hashes, copy: evidence.hashes[first.images[-1]]},
    )


def repeated_question(evidence: MemoryEvidence) -> MemoryEvidence:
    first, *_ = evidence.questions
    question_id, text = f"{first.question_id}/again", f"{first.text.upper()} "
    repeated = replace(first, question_id=question_id, text=text)
    return replace(evidence, questions=[*evidence.questions, repeated])


def contradicting_key(evidence: MemoryEvidence) -> MemoryEvidence:
    """Ask a question again, with another answer."""
    first = evidence.questions[0]
    has_letters = first.kind in ("choice", "choices")
    options = ascii_uppercase[: len(first.options)] if has_letters else first.options
    possible_answers = [*options, "quite"]
    wrong = next(answer for answer in possible_answers if answer not in first.answer)
    repeated = replace(first, question_id=f"{first.question_id}/again", answer=(wrong,))
    return replace(evidence, questions=[*evidence.questions, repeated])


def trained_on_image(evidence: MemoryEvidence) -> MemoryEvidence:
    training = MemoryTrainingData(image_digests=[first_image(evidence)])
    return replace(evidence, training=training)


def trained_on_similar_image(evidence: MemoryEvidence) -> MemoryEvidence:
    """Train on an image whose hash differs in two bits, as after compression."""
    image_hash = int(evidence.hashes[first_image(evidence)], 16) ^ 0b1001
    training = MemoryTrainingData(perceptual_hashes=[f"{image_hash:016x}"])
    return replace(evidence, training=training)


def trained_on_texts(evidence: MemoryEvidence) -> MemoryEvidence:
    """Train on texts that contain every third question."""
    texts = [f"And then: {q.text} {q.context}" for q in evidence.questions[::3]]
    return replace(evidence, training=MemoryTrainingData(training_texts=texts))


def responses(evidence: MemoryEvidence, model: str, condition: str, share: float):
    """Responses of a model that knows the answers to a ``share`` of the questions and no others."""
    rng = np.random.default_rng(len(model) + 7)
    is_known = rng.random(len(evidence.questions)) < share
    return [
        Prediction(
            question_id=question.question_id,
            model=model,
            condition=condition,
            text=_right_response(question) if known else "I cannot tell.",
            decoding="m",
        )
        for question, known in zip(evidence.questions, is_known, strict=True)
    ]


def _right_response(question: Question) -> str:
    return "".join(question.answer) if question.kind == "choices" else question.answer[0]


def undecided_solvable(evidence: MemoryEvidence) -> MemoryEvidence:
    """Two models that know nine of ten answers, with and without the images."""
    predictions = [
        *responses(evidence, "good", "main", 0.9),
        *responses(evidence, "better", "main", 0.95),
        *responses(evidence, "good", "no_image", 0.9),
        *responses(evidence, "better", "no_image", 0.9),
    ]
    return replace(evidence, responses=predictions)
