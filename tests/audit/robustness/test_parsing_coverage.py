"""Responses that nobody reads: where a model's place hangs on it."""

from collections import Counter
from dataclasses import fields, replace

import pytest

from bench_assets.audit.robustness.parsing_coverage import (
    classify_readers,
    form_of,
    reader_shares,
    unread_finding,
)
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation.outcomes import is_empty_or_loop
from tests.audit.held import columns_of
from tests.audit.judged import Judged
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import prediction

N = 60
QUESTIONS = [replace(one, answer=("42",)) for one in quiz(N, group=1)]


def points(text, key):
    """A careful reader: reads a number alone, and nothing else."""
    return None if not text.isdigit() else float(text == key)


def careful(answered, _):
    got = points(answered.prediction.text, answered.question.answer[0])
    answer = () if got is None else (answered.prediction.text,)
    return Score.of(answered.prediction, points=got or 0.0, answer=answer)


def unscoring(answered, _):
    got = points(answered.prediction.text, answered.question.answer[0])
    return Score.of(answered.prediction, points=got)


def says(name, texts):
    return [
        prediction(question_id=one.question_id, model=name, text=text)
        for one, text in zip(QUESTIONS, texts, strict=True)
    ]


def evidence(predictions, *scorers):
    task = replace(TASK, scorers={one.__name__: one for one in scorers or (careful,)})
    return Judged(
        QUESTIONS, {name: says(name, texts) for name, texts in predictions.items()}, task=task
    )


GOOD = ["42"] * 50 + ["7"] * 10
FAIR = ["42"] * 25 + ["7"] * 35
CHATTY = ["42"] * 25 + ["It should be 42, I think."] * 33 + ["7"] * 2


def test_models_whose_responses_are_all_read_pass():
    found = unread_finding(evidence({"good": GOOD, "fair": FAIR}))
    assert found.passed
    assert found.sentence.startswith("Of 120 responses: 100 % read by rules.")


def test_a_model_whose_sentences_nobody_reads_is_named():
    found = unread_finding(evidence({"good": GOOD, "chatty": CHATTY}))
    (one,) = found.suspects
    assert (found.passed, one.about) == (False, "chatty")
    assert "55 % unread" in one.evidence
    assert "good leads chatty by 0.417" in one.evidence
    assert "Not read, by form: a line 33." in found.sentence


def test_a_model_that_is_behind_anyhow_passes_with_as_many_unread_responses():
    poor = ["7"] * 25 + ["It should be 42, I think."] * 33 + ["7"] * 2
    assert unread_finding(evidence({"good": GOOD, "poor": poor})).passed


def test_what_says_nothing_is_not_unread():
    stuck = ["42"] * 25 + ["is is is is is is is is"] * 20 + ["....", ""] * 7 + ["7"]
    found = unread_finding(evidence({"good": GOOD, "stuck": stuck}))
    assert found.passed
    assert "stuck: 43 % read by rules, 57 % without an answer" in found.sentence


def test_a_model_most_of_whose_responses_are_unscored_is_named():
    silent = ["42"] * 30 + ["It should be 41, I think."] * 30
    found = unread_finding(
        evidence({"silent": silent, "fair": ["42"] * 33 + ["7"] * 27}, unscoring)
    )
    assert (found.passed, [one.about for one in found.suspects]) == (True, [])
    found = unread_finding(
        evidence({"silent": silent, "fair": ["7"] * 20 + ["42"] * 40}, unscoring)
    )
    assert [one.about for one in found.suspects] == ["silent"]


def test_who_read_a_response():
    predictions = [
        prediction(question_id=f"quiz/{n}", text=text)
        for n, text in enumerate(["42", "so 42", "so 41", "", "so it"])
    ]
    by_model = [
        Judgement(
            question_id=f"quiz/{n}",
            model="m",
            condition="main",
            judge="j",
            criterion="c",
            verdict=verdict,
            prompt_sha256="0c",
        )
        for n, verdict in ((1, True), (2, None))
    ]
    got = {0: (1.0, ("42",)), 1: (1.0, ("42",)), 2: (None, ()), 3: (0.0, ()), 4: (0.0, ())}
    scores = [
        Score.of(row, points=got[n][0], answer=got[n][1]) for n, row in enumerate(predictions)
    ]
    found = classify_readers(
        *(
            columns_of(rows, [one.name for one in fields(rows[0])])
            for rows in (predictions, by_model, scores)
        )
    )
    assert list(found.by) == ["rule", "judge", "unread", "silent", "unread"]
    assert reader_shares(Counter(found.by)) == {
        "rule": 0.2,
        "judge": 0.2,
        "unread": 0.4,
        "silent": 0.2,
    }


@pytest.mark.parametrize(
    ("response", "form"),
    [
        ("A", "one letter"),
        ("**(b).**", "one letter"),
        ("-3,000.5", "a number"),
        ("50 %", "a number"),
        ("left", "one word"),
        ('{"answer": "A"}', "an object"),
        ("- A\n- B", "marked up"),
        ("It is on the left.", "a line"),
        ("First I look.\nThen I say B.", "long"),
        ("", "nothing"),
        (" \n...!", "nothing"),
        ("333333333333", "nothing"),
        ("上面的图片", "one word"),
    ],
)
def test_forms_of_responses(response, form):
    assert form_of(response) == form


@pytest.mark.parametrize("response", ["1000000", "AABB", "no no no", "bye bye, and thanks", "11"])
def test_some_words_twice_still_say_something(response):
    assert not is_empty_or_loop(response)
