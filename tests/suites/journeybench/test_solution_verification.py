"""The two-step judge and the solution judge, with scripted judges and with rules."""

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.suites.journeybench import solution_verification as v
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.keeping import keep
from tests.fakes.rows import answered


def judge_saying(number, verdict):
    """A judge that extracts one thing and finds another."""

    def say(request):
        instruction = request.prompt.turns[-1].parts[0]
        return number if "Find the final numeric answer" in instruction else verdict

    return ScriptedModel("judge", say)


def scored(judgements, pair, scorer=v.score_strictly):
    return scorer(pair, judgements)


def test_the_answer_is_extracted_before_it_is_verified():
    instructions: list[str] = []
    says = iter(("12", "yes"))
    judge = ScriptedModel(
        "judge", lambda r: keep(instructions, str(r.prompt.turns[-1].parts[0])) and next(says)
    )
    v.judge([answered("So 12 cups.", answer=("12", "a dozen"))], judge)
    extraction, verification = instructions
    assert "So 12 cups." in extraction
    assert "12; a dozen" not in extraction
    assert "Predicted answer: 12\n" in verification
    assert "Ground truth answer: 12; a dozen\n" in verification
    assert "So 12 cups." not in verification


@pytest.mark.parametrize(
    ("verdict", "strict", "official"),
    read_cases(__file__, "verdicts.jsonl"),
)
def test_both_scorers_of_a_verdict(verdict, strict, official):
    pair = answered("12")
    judgements = v.judge([pair], judge_saying("12", verdict))
    assert scored(judgements, pair).points == strict
    assert scored(judgements, pair, v.score_officially).points == official


@pytest.mark.parametrize(
    ("extraction", "answer"),
    [
        pytest.param("12", "12", id="the number"),
        pytest.param(" **$1,200** ", "$1,200", id="money, marked up"),
        pytest.param("unknown", "unknown", id="none"),
        pytest.param("Image 2", "image2", id="an image, of a cause"),
        pytest.param("I have no idea.", None, id="a sentence"),
        pytest.param("12 or 13", None, id="two numbers"),
    ],
)
def test_what_the_judge_extracts(extraction, answer):
    assert v.read_extraction(extraction) == answer


class Hesitant:
    """A judge that says something else each time it is asked about the same thing."""

    name = signature = "hesitant"

    def __init__(self, *verdicts):
        self.verdicts = iter(verdicts)
        self.asked = []

    def response(self, requests):
        (request,) = requests
        self.asked.append(request.prompt.turns[-1].parts)
        extracts = "Find the final numeric answer" in self.asked[-1][0]
        return [Response(text="12" if extracts else next(self.verdicts))]


def test_a_verdict_that_cannot_be_read_is_retried_with_the_complaint():
    judge, pair = Hesitant("I have no idea.", "no"), answered("12")
    judgements = v.judge([pair], judge)
    first, second = judge.asked[1:]
    assert second[: len(first)] == first
    assert 'You replied:\n"""\nI have no idea.\n"""' in second[-1]
    assert second[-1].endswith('Print "yes" or "no", and nothing else.')
    assert scored(judgements, pair).points == 0.0
    assert scored(judgements, pair, v.score_officially).points == 0.0, "at first no stands there"


def test_a_judge_whose_thought_has_no_end_has_not_extracted_nothing():
    judge, pair = judge_saying("<think>right. yes. 12", "no"), answered("12")
    assert scored(v.judge([pair], judge), pair).points is None


def test_without_an_extraction_nothing_is_verified_and_nothing_is_scored():
    class Broken:
        name = signature = "broken"
        n_requests = 0

        def response(self, requests):
            self.n_requests += len(requests)
            return [Response(error="connection lost") for _ in requests]

    judge, pair = Broken(), answered("12")
    judgements = v.judge([pair], judge)
    assert judge.n_requests == 1
    score = scored(judgements, pair)
    assert (score.points, score.note) == (None, "the judge gave no response: connection lost")


@pytest.mark.parametrize(
    ("response", "answer", "points"),
    [
        pytest.param("Answer: 12", ("12",), 1.0, id="the number"),
        pytest.param("Answer: 12.1", ("12",), 1.0, id="a tenth off"),
        pytest.param("Answer: 12.2", ("12",), 0.0, id="two tenths off"),
        pytest.param("There is not any cup.", ("no cups", "there is not any cup"), 1.0, id="words"),
        pytest.param("Answer: 3", ("no cups exist", "0"), 0.0, id="cups that are not there"),
        pytest.param("I do not know.", ("12",), 0.0, id="no answer"),
        pytest.param("There are 3 cups.", ("cup",), 0.0, id="a word inside another word"),
    ],
)
def test_rules_judge_without_a_model(response, answer, points):
    pair = answered(response, answer=answer)
    assert scored(v.judge_by_rules([pair]), pair).points == points


@pytest.mark.parametrize(
    ("response", "points"),
    [
        pytest.param("Answer: image2", 1.0, id="as asked for"),
        pytest.param("The second image shows the cause.", 1.0, id="as an ordinal"),
        pytest.param("Either image1 or image2.", 0.0, id="both"),
        pytest.param("2", 0.0, id="a number is no image"),
    ],
)
def test_rules_read_which_image_is_the_cause(response, points):
    pair = answered(response, answer=("image2",), options=("image1", "image2"))
    assert scored(v.judge_by_rules([pair]), pair).points == points
