import pytest

from bench_assets.core.judging.verdict_requests import RECORDED_PREFIX
from bench_assets.core.schema.chat import Response
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.journeybench import solution_verification
from bench_assets.suites.journeybench.mcot.task import TASK as MCOT
from bench_assets.suites.journeybench.solutions.assets import solution_metrics
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.rows import answered, prediction, question

EXTRACTION_INSTRUCTION = "Find the final numeric answer"


def scripted_judge(extraction, verdict):
    """A judge with one response to extractions and one to verifications."""

    def answer(request):
        instruction = request.prompt.turns[-1].parts[0]
        return extraction if EXTRACTION_INSTRUCTION in instruction else verdict

    return ScriptedModel("judge", answer)


class RecordingJudge:
    """Extracts 12 and gives the verdicts in turn; records the last turn of each prompt."""

    name = signature = "judge"

    def __init__(self, *verdicts):
        self.verdicts = iter(verdicts)
        self.last_turns = []

    def response(self, requests):
        (request,) = requests
        instruction, *_ = parts = request.prompt.turns[-1].parts
        self.last_turns.append(parts)
        text = "12" if EXTRACTION_INSTRUCTION in instruction else next(self.verdicts)
        return [Response(text=text)]


def test_the_answer_is_extracted_before_it_is_verified():
    judge = RecordingJudge("yes")
    solution_verification.judge([answered("So 12 cups.", answer=("12", "a dozen"))], judge)
    (extraction,), (verification,) = judge.last_turns
    assert "So 12 cups." in extraction
    assert "12; a dozen" not in extraction
    assert "Predicted answer: 12\n" in verification
    assert "Ground truth answer: 12; a dozen\n" in verification
    assert "So 12 cups." not in verification


@pytest.mark.parametrize(("verdict", "strict", "official"), read_cases(__file__, "verdicts.jsonl"))
def test_a_verdict_is_scored_strictly_and_officially(verdict, strict, official):
    pair = answered("12")
    judgements = solution_verification.judge([pair], scripted_judge("12", verdict))
    assert solution_verification.score_strictly(pair, judgements).points == strict
    assert solution_verification.score_officially(pair, judgements).points == official


@pytest.mark.parametrize(("reply", "points"), [("Yes", 1.0), ("No", 0.0)])
def test_the_only_reply_of_a_recorded_judge_is_its_verdict(reply, points):
    judge, pair = ScriptedModel("recorded", lambda _: reply), answered("12")
    judge.signature = f"{RECORDED_PREFIX}responses.jsonl"
    judgements = solution_verification.judge([pair], judge)
    assert solution_verification.score_strictly(pair, judgements).points == points
    assert solution_verification.score_officially(pair, judgements).points == points


@pytest.mark.parametrize(
    ("extraction", "answer"),
    [
        pytest.param("12", "12", id="the number"),
        pytest.param(" **$1,200** ", "$1,200", id="money, marked up"),
        pytest.param("unknown", "unknown", id="no answer"),
        pytest.param("Image 2", "image2", id="an image"),
        pytest.param("I have no idea.", None, id="a sentence"),
        pytest.param("12 or 13", None, id="two numbers"),
    ],
)
def test_an_extraction_is_a_number_an_image_or_unknown(extraction, answer):
    assert solution_verification.read_extraction(extraction) == answer


def test_an_unreadable_verdict_is_retried_with_the_complaint():
    judge, pair = RecordingJudge("I have no idea.", "no"), answered("12")
    judgements = solution_verification.judge([pair], judge)
    _, verification, (*repeated, complaint) = judge.last_turns
    assert tuple(repeated) == verification
    assert 'You replied:\n"""\nI have no idea.\n"""' in complaint
    assert complaint.endswith('Print "yes" or "no", and nothing else.')
    assert solution_verification.score_strictly(pair, judgements).points == 0.0
    # The official scorer looks for "yes" in the first response.
    assert solution_verification.score_officially(pair, judgements).points == 0.0


def test_an_extraction_of_unfinished_thinking_is_unscored():
    judge, pair = scripted_judge("<think>right. yes. 12", "no"), answered("12")
    judgements = solution_verification.judge([pair], judge)
    assert solution_verification.score_strictly(pair, judgements).points is None


class UnreachableJudge:
    """Counts its requests, all of which fail."""

    name = signature = "judge"
    n_requests = 0

    def response(self, requests):
        self.n_requests += len(requests)
        return [Response(error="connection lost") for _ in requests]


def test_a_failed_extraction_is_neither_verified_nor_scored():
    judge, pair = UnreachableJudge(), answered("12")
    judgements = solution_verification.judge([pair], judge)
    assert judge.n_requests == 1
    score = solution_verification.score_strictly(pair, judgements)
    assert (score.points, score.note) == (None, "the judge gave no response: connection lost")


@pytest.mark.parametrize(
    ("response", "answer", "points"),
    [
        pytest.param("Answer: 12", ("12",), 1.0, id="the number"),
        pytest.param("Answer: 12.1", ("12",), 1.0, id="a tenth off"),
        pytest.param("Answer: 12.2", ("12",), 0.0, id="two tenths off"),
        pytest.param("There is not any cup.", ("no cups", "there is not any cup"), 1.0, id="words"),
        pytest.param("Answer: 3", ("no cups exist", "0"), 0.0, id="a number of absent cups"),
        pytest.param("I do not know.", ("12",), 0.0, id="no answer"),
        pytest.param("There are 3 cups.", ("cup",), 0.0, id="a word inside another word"),
    ],
)
def test_rules_judge_without_a_model(response, answer, points):
    pair = answered(response, answer=answer)
    judgements = solution_verification.judge_by_rules([pair])
    assert solution_verification.score_strictly(pair, judgements).points == points


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
    judgements = solution_verification.judge_by_rules([pair])
    assert solution_verification.score_strictly(pair, judgements).points == points


SOLVABLE = question(labels={"solution": "3*4=<<3*4=12>>12"})


def test_every_draw_of_a_question_counts_in_the_share_of_right_solutions():
    """Of three draws one is right, one is wrong, and one is cut off before its answer."""
    draws = [
        prediction(sample=sample, text=text, no_answer=no_answer)
        for sample, (text, no_answer) in enumerate([("3*4=12", ""), ("", "cut off"), ("13", "")])
    ]
    judged = [AnsweredQuestion(SOLVABLE, draw) for draw in draws if not draw.no_answer]
    judgements = solution_verification.judge_solutions_by_rules(judged)
    overall, *_ = solution_metrics(MCOT, "m", [SOLVABLE], draws, judgements)
    assert (overall.value, overall.n_scored) == (pytest.approx(1 / 3), 3)
    assert overall.n_clusters == 1  # of one question, its draws are dependent


def test_a_solution_without_a_calculation_is_compared_with_no_response():
    pair = answered("There are cups.", labels={"solution": "There are no cups."})
    (judgement,) = solution_verification.judge_solutions_by_rules([pair])
    assert judgement.verdict is None


def solution_metric(*draws):
    """Metric over the draws of one question with a solution; none of them is judged."""
    overall, *_ = solution_metrics(MCOT, "m", [SOLVABLE], draws, [])
    return overall


def test_an_error_message_as_response_is_a_wrong_solution():
    metric = solution_metric(prediction(text="KeyError: 'A'"))
    assert (metric.value, metric.n_scored, metric.n_failed) == (0, 1, 0)


def test_a_question_has_failed_if_one_of_its_draws_has():
    cut_off = prediction(text="", no_answer="cut off")
    metric = solution_metric(cut_off, prediction(text="", sample=1, error="timeout"))
    assert (metric.n_scored, metric.n_failed) == (1, 1)
