"""Cues of images: each is tried, and scored on other clusters, beside chance."""

from string import ascii_uppercase

from bench_assets.audit.shortcuts.image_cues import fact_guesses
from tests.fakes.rows import question


def exam_question(n, right, images, options=("x", "y"), kind="choice", **fields):
    answer = ascii_uppercase[options.index(right)] if kind == "choice" else right
    return question(question_id=f"q/{n}", kind=kind, options=options, answer=(answer,),
                    images=images, **fields)  # fmt: skip


def rates(questions, values):
    return {guess.name: guess.rate for guess in fact_guesses(questions, {"light": values})}


VALUES = {f"i{n}": float(n * 7 % 30) for n in range(30)}


def test_the_greatest_and_the_least_are_tried_among_images_that_are_options():
    pairs = [(f"i{n}", f"i{n + 15}") for n in range(15)]
    exam = [
        exam_question(n, "x" if VALUES[a] > VALUES[b] else "y", (a, b))
        for n, (a, b) in enumerate(pairs)
    ]
    found = rates(exam, VALUES)
    assert found["the greatest light"].share == 1.0
    assert found["the greatest light"].is_significant


def test_a_letter_that_follows_the_statistic_is_learned_on_other_questions():
    exam = [exam_question(n, "x" if VALUES[f"i{n}"] < 15 else "y", (f"i{n}",)) for n in range(30)]
    rate = rates(exam, VALUES)["images of like light"]
    # The outer thirds are all right; of the middle one either letter is right as often.
    assert rate.share >= 2 / 3
    assert rate.chance == 0.5


def test_words_that_follow_the_statistic_are_learned_whatever_their_letter():
    exam = []
    for n in range(30):
        right = "day" if VALUES[f"i{n}"] >= 15 else "night"
        options = ("day", "night") if n % 2 else ("night", "day")
        exam.append(exam_question(n, right, (f"i{n}",), options))
    found = rates(exam, VALUES)
    assert found["the answer for images of like light"].share >= 2 / 3
    assert found["images of like light"].share < 0.65


def test_questions_about_one_image_teach_nothing_of_each_other():
    """Two questions about each image have one key: without the other one it is not known."""
    values = {f"i{n}": float(n) for n in range(6)}
    exam = [exam_question(n, "xyxyxy"[n // 4], (f"i{n // 4}",)) for n in range(24)]
    assert rates(exam, values)["images of like light"].share == 0.0
