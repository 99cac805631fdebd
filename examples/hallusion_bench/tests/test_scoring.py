"""What judges are asked, what they may say, and what it is worth."""

import pytest

from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation.task import AnsweredQuestion
from hallusion_bench import prompts
from hallusion_bench.scoring import (
    IS_CORRECT,
    IS_SAME,
    correctness,
    judge,
    judge_by_rules,
    official_correctness,
    official_sameness,
    sameness,
    score_officially,
    score_strictly,
)
from resources.models.registry.baselines import ScriptedModel
from tests.rows import prediction


@pytest.fixture
def answered(entry, ask):
    """Responses to one VS question without a figure.

    About the original and about the edited one.
    """

    def make(*responses):
        shown = (("0", "1"), ("1", "1"), ("2", "0"))
        entries = [
            entry(f"VS/chart/0/{figure}/0", visual_input, answer)
            for figure, (visual_input, answer) in enumerate(shown)
        ]
        return [
            AnsweredQuestion(question, prediction(question_id=question.question_id, text=response))
            for question, response in zip(ask(entries), responses, strict=False)
        ]

    return make


def judged(pair, response, **fields):
    """What a model says as judge."""
    return Judgement.from_response(
        pair.prediction,
        Response(text=response, **fields),
        prompt=Prompt.of("?"),
        judge="j",
        criterion=IS_CORRECT,
        verdict=None,
    )


@pytest.mark.parametrize(
    ("response", "strict", "official"),
    [
        pytest.param("correct", "correct", "correct", id="correct"),
        pytest.param(' "Incorrect." ', "incorrect", "incorrect", id="quoted, with a full stop"),
        pytest.param("UNCLEAR", "unclear", "unclear", id="in capitals"),
        pytest.param("<think>correct?</think>incorrect", "incorrect", "incorrect", id="thought"),
        pytest.param("It is not correct.", "", "correct", id="a denial: read by its word"),
        pytest.param("The prediction is incorrect.", "incorrect", "incorrect", id="a sentence"),
        pytest.param("I do not know.", "", "unclear", id="none of the words"),
        pytest.param("", "", "unclear", id="nothing"),
    ],
)
def test_the_judges_word_on_the_answer(response, strict, official):
    assert (correctness(response), official_correctness(response)) == (strict, official)


@pytest.mark.parametrize(
    ("response", "strict", "official"),
    [
        pytest.param("Same.", "same", "same", id="same"),
        pytest.param("different", "different", "different", id="different"),
        pytest.param("They are not the same", "", "same", id="a denial: read by its word"),
        pytest.param("They clash", "", "different", id="none of the words"),
    ],
)
def test_the_judges_word_on_two_answers(response, strict, official):
    assert (sameness(response), official_sameness(response)) == (strict, official)


@pytest.mark.parametrize(
    ("responses", "truth", "compared"),
    [
        pytest.param(
            ("Yes", "yes.", "No."),
            ["correct", "correct", "correct"],
            {},
            id="right responses are not compared",
        ),
        pytest.param(
            ("Yes", "No", "Yes"),
            ["correct", "incorrect", "incorrect"],
            {"1/0": "different", "2/0": "same"},
            id="wrong ones are, with the one about figure 0",
        ),
        pytest.param(
            ("No", "Hard to say", "Maybe"),
            ["incorrect", "unclear", "unclear"],
            {},
            id="neither figure 0 itself nor what is unclear",
        ),
    ],
)
def test_rules_compare_words(answered, responses, truth, compared):
    found = judge_by_rules(answered(*responses))
    assert [one.value for one in found if one.criterion == IS_CORRECT] == truth
    about_same = {one.question_id[-3:]: one.value for one in found if one.criterion == IS_SAME}
    assert about_same == compared
    assert {one.judge for one in found} == {"rules"}


def test_a_model_is_asked_of_every_response_and_again_of_wrong_ones_about_other_figures(answered):
    asked = []

    def says(request):
        (turn,) = request.prompt.turns
        asked.append(turn.parts[0])
        if "can they stand" in turn.parts[0]:
            return "same"
        return "correct" if "answer: good" in turn.parts[0] else "Incorrect."

    found = judge(answered("bad 0", "good", "bad 2"), ScriptedModel("j", says))
    assert [(one.question_id[-3:], one.criterion, one.value) for one in found] == [
        ("0/0", IS_CORRECT, "incorrect"),
        ("1/0", IS_CORRECT, "correct"),
        ("2/0", IS_CORRECT, "incorrect"),
        ("2/0", IS_SAME, "same"),
    ]
    assert [one.verdict for one in found] == [False, True, False, True]
    assert asked[-1] == prompts.is_same("bad 2", "bad 0").turns[0].parts[0]
    assert all(one.prompt_sha256 for one in found)


def test_the_judge_reads_the_reference_and_not_yes_or_no(answered):
    (pair, *_) = answered("Yes.")
    (text,) = prompts.is_correct(pair.question, "Yes.").turns[0].parts
    assert "Reference answer: It is so.\nModel's answer: Yes." in text


def test_the_question_is_asked_with_nothing_added(answered):
    without, about, _ = answered("", "", "")
    assert prompts.main(without.question).turns[0].parts == ("Is it so?",)
    assert [image.sha256 for image in prompts.main(about.question).images] == [
        "VS/chart/0_1.png",
    ]


@pytest.mark.parametrize(
    ("word", "without_a_figure", "about_one", "answer"),
    [
        pytest.param("correct", 1.0, 1.0, ("yes",), id="correct"),
        pytest.param("incorrect", 0.0, 0.0, ("no",), id="incorrect"),
        pytest.param("unclear", 1.0, 0.0, (), id="unclear: right where there is nothing to see"),
        pytest.param("hm", None, None, (), id="no word of the three: unscored"),
    ],
)
def test_points_are_those_of_equation_2(answered, word, without_a_figure, about_one, answer):
    for pair, points in zip(answered("x", "x"), (without_a_figure, about_one), strict=True):
        score = score_strictly(pair, [judged(pair, word)])
        assert (score.points, score.answer) == (points, answer)


def test_an_official_reading_takes_what_is_unreadable_for_unclear(answered):
    (pair, *_) = answered("x")
    assert score_officially(pair, [judged(pair, "hm")]).points == 1.0


def test_an_empty_response_does_not_pass_for_not_knowing_unless_read_as_the_authors_do(answered):
    (pair, *_) = answered(" \n")
    verdict = [judged(pair, "unclear")]
    assert score_strictly(pair, verdict).points == 0.0
    assert score_officially(pair, verdict).points == 1.0


def test_without_a_judgement_there_are_no_points(answered):
    (pair, *_) = answered("x")
    assert score_strictly(pair, []).points is None
    failed = judged(pair, "", error="down")
    assert score_officially(pair, [failed]).note == "the judge gave no response: down"
