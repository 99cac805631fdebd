"""Solutions, verified by a judge of their own or by rules."""

from dataclasses import replace

import pytest

from bench_assets.core.parsing.reasoning import without_reasoning
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.journeybench import solution_verification as v
from bench_assets.suites.journeybench.mcot.task import TASK
from bench_assets.suites.journeybench.solutions.assets import verified
from resources.models.registry.baselines import ScriptedModel
from tests.rows import answered, prediction, question


def test_only_questions_with_a_solution_have_their_solutions_verified():
    pairs = [
        answered("2 + 3 = 5", labels={"solution": "2+3=5"}),
        answered("2 + 3 = 5", labels={"solution": ""}),
    ]
    judgements = v.judge_solutions(pairs, ScriptedModel("large", lambda _: "yes"))
    assert [(j.judge, j.criterion, j.verdict) for j in judgements] == [("large", "solution", True)]
    assert len(v.judge_solutions_by_rules(pairs)) == 1


def test_a_solution_that_was_cut_off_is_wrong_and_the_judge_is_not_asked():
    solved = {"solution": "3+4=7"}
    asked = [
        question(question_id="t/cut", labels=solved),
        question(question_id="t/whole", labels=solved),
        question(question_id="t/none"),
    ]
    said = [
        prediction(question_id="t/cut", text="", no_answer="no answer in 8 tokens"),
        prediction(question_id="t/whole", text="3+4=7"),
        prediction(question_id="t/none", text="", no_answer="no answer in 8 tokens"),
    ]
    judged = pipeline.judge(replace(TASK, judges=v.SOLUTION_JUDGES), asked, said, None)
    assert [(row.question_id, row.verdict) for row in judged] == [("t/whole", True)]
    rows = verified(TASK, "m", asked, said, judged)
    assert [(row.category, row.value, row.n_scored, row.n_failed) for row in rows][:1] == [
        ("all", 0.5, 2, 0)
    ]
    assert rows[0].signature.endswith("|model:elsewhere|judge:rules|n:2")


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        pytest.param("4 x 3 = 12, and 12 + 5 = 17.", True, id="both results in order"),
        pytest.param("17, because 12 + 5.", False, id="the results the other way round"),
        pytest.param("The answer is 17.", False, id="only the last result"),
    ],
)
def test_rules_look_for_the_result_of_every_step(response, verdict):
    pair = answered(response, labels={"solution": "4*3=12 cups, 12+5=17 in all. #### 17"})
    (judgement,) = v.judge_solutions_by_rules([pair])
    assert judgement.verdict is verdict


@pytest.mark.parametrize(
    ("raw", "strict", "official"),
    [
        pytest.param("<think>12, no: 13</think>12", 1.0, 0.0, id="thoughts that mislead the judge"),
        pytest.param("<think>12</think>13", 0.0, 1.0, id="thoughts that the answer leaves"),
        pytest.param("12", 1.0, 1.0, id="no thoughts"),
        pytest.param(" 12\n", 1.0, 1.0, id="blanks are no thoughts"),
    ],
)
def test_the_official_reading_has_the_solution_judged_with_its_thoughts(raw, strict, official):
    """The judge says of a solution what stands first in it; 12 is right."""

    def say(request):
        asked = request.prompt.turns[-1].parts[0]
        if "Find the final numeric answer" not in asked:
            return "yes" if "Predicted answer: 12\n" in asked else "no"
        return "13" if "no: 13" in asked else "12" if "12" in asked else "13"

    said = prediction(text=without_reasoning(raw).strip(), raw_text=raw)
    pair = AnsweredQuestion(question(answer=("fifty",)), said)
    judgements = v.judge([pair], ScriptedModel("judge", say))
    assert len(judgements) == (4 if "think" in raw else 2)
    assert v.score_strictly(pair, judgements).points == strict
    assert v.score_officially(pair, judgements).points == official
