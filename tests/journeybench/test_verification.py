"""The two-step judge and the solution judge, with scripted judges and with rules."""

import pytest

from bench_assets import flow
from bench_assets.core.chat import Reply
from bench_assets.journeybench import verification as v
from bench_assets.journeybench.mcot.task import TASK
from resources.scripted import ScriptedModel
from tests.rows import answered, prediction, question


def judge_saying(number, verdict):
    """A judge that extracts one thing and finds another."""

    def say(request):
        asked = request.prompt.turns[-1].parts[0]
        return number if "Find the final numeric answer" in asked else verdict

    return ScriptedModel("judge", say)


def scored(judgements, pair, reading=v.score_strictly):
    return reading(pair, judgements)


def test_the_answer_is_extracted_before_it_is_verified():
    asked = []
    judge = ScriptedModel("judge", lambda r: asked.append(r.prompt.turns[-1].parts[0]) or "12")
    v.judge([answered("So 12 cups.", answer=("12", "a dozen"))], judge)
    extraction, verification = asked
    assert "So 12 cups." in extraction
    assert "12; a dozen" not in extraction
    assert "Predicted answer: 12\n" in verification
    assert "Ground truth answer: 12; a dozen\n" in verification
    assert "So 12 cups." not in verification


@pytest.mark.parametrize(
    ("verdict", "strict", "official"),
    [
        pytest.param("yes", 1.0, 1.0, id="yes"),
        pytest.param("No.", 0.0, 0.0, id="no with a full stop"),
        pytest.param("Yes, it matches; no doubt.", None, 1.0, id="yes before no"),
        pytest.param("The answer is right", None, 0.0, id="neither word"),
        pytest.param("", None, 0.0, id="an empty reply"),
        pytest.param("<think>yes?</think>no", 0.0, 0.0, id="what is thought aloud"),
        pytest.param("I know nothing", None, 0.0, id="no and yes only inside other words"),
    ],
)
def test_both_readings_of_a_verdict(verdict, strict, official):
    pair = answered("12")
    judgements = v.judge([pair], judge_saying("12", verdict))
    assert scored(judgements, pair).points == strict
    assert scored(judgements, pair, v.score_officially).points == official


def test_a_judge_that_finds_no_number_says_unknown_and_the_answer_is_empty():
    pair = answered("I cannot see any cup.", answer=("no cups exist", "0"))
    judgements = v.judge([pair], judge_saying("Unknown.", "yes"))
    assert [(one.criterion, one.verdict) for one in judgements] == [
        ("extracted", False),
        ("correct", True),
    ]
    assert scored(judgements, pair).answer == ()
    assert scored(judgements, pair).points == 1.0


def test_without_an_extraction_nothing_is_verified_and_nothing_is_scored():
    class Broken:
        name = signature = "broken"
        asked = 0

        def reply(self, requests):
            self.asked += len(requests)
            return [Reply(error="connection lost") for _ in requests]

    judge, pair = Broken(), answered("12")
    judgements = v.judge([pair], judge)
    assert judge.asked == 1
    score = scored(judgements, pair)
    assert (score.points, score.note) == (None, "the judge gave no reply: connection lost")


@pytest.mark.parametrize(
    ("reply", "answer", "points"),
    [
        pytest.param("Answer: 12", ("12",), 1.0, id="the number"),
        pytest.param("Answer: 12.1", ("12",), 1.0, id="a tenth off"),
        pytest.param("Answer: 12.2", ("12",), 0.0, id="two tenths off"),
        pytest.param("Answer: 25", ("25%",), 1.0, id="a percentage without its sign"),
        pytest.param("There is not any cup.", ("no cups", "there is not any cup"), 1.0, id="words"),
        pytest.param("Answer: 0", ("no cups exist", "0"), 1.0, id="none, as a number"),
        pytest.param("Answer: 3", ("no cups exist", "0"), 0.0, id="cups that are not there"),
        pytest.param("I do not know.", ("12",), 0.0, id="no answer"),
        pytest.param("", ("12",), 0.0, id="an empty reply"),
        pytest.param("There are 3 cups.", ("cup",), 0.0, id="a word inside another word"),
    ],
)
def test_rules_judge_without_a_model(reply, answer, points):
    pair = answered(reply, answer=answer)
    assert scored(v.judge_by_rules([pair]), pair).points == points


@pytest.mark.parametrize(
    ("reply", "points"),
    [
        pytest.param("Answer: image2", 1.0, id="as asked for"),
        pytest.param("The cause is shown in Image 2.", 1.0, id="with a blank and a capital"),
        pytest.param("The second image shows the cause.", 1.0, id="as an ordinal"),
        pytest.param("Answer: image1", 0.0, id="the other picture"),
        pytest.param("Either image1 or image2.", 0.0, id="both"),
        pytest.param("2", 0.0, id="a number is no picture"),
    ],
)
def test_rules_read_which_picture_is_the_cause(reply, points):
    pair = answered(reply, answer=("image2",), options=("image1", "image2"))
    assert scored(v.judge_by_rules([pair]), pair).points == points


def test_only_questions_with_a_solution_have_their_solutions_verified():
    pairs = [
        answered("2 + 3 = 5", labels={"solution": "2+3=5"}),
        answered("2 + 3 = 5", labels={"solution": ""}),
    ]
    judgements = v.judge_solutions(pairs, ScriptedModel("large", lambda _: "yes"))
    assert [(j.judge, j.criterion, j.verdict) for j in judgements] == [("large", "solution", True)]
    assert len(v.judge_solutions_by_rules(pairs)) == 1


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        pytest.param("4 x 3 = 12, and 12 + 5 = 17.", True, id="both results in order"),
        pytest.param("17, because 12 + 5.", False, id="the results the other way round"),
        pytest.param("The answer is 17.", False, id="only the last result"),
    ],
)
def test_rules_look_for_the_result_of_every_step(reply, verdict):
    pair = answered(reply, labels={"solution": "4*3=12 cups, 12+5=17 in all. #### 17"})
    (judgement,) = v.judge_solutions_by_rules([pair])
    assert judgement.verdict is verdict


def test_a_prediction_without_a_reply_is_neither_judged_nor_scored():
    lost = prediction(text="", error="connection lost")
    judgements = flow.judge(TASK, [question()], [lost], None)
    (score,) = flow.score(TASK, [question()], [lost], judgements)
    assert judgements == []
    assert (score.points, score.error) == (None, "connection lost")
