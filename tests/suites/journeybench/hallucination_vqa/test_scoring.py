"""The judge's JSON, the rules that stand in for it, and the accuracy."""

import json
from dataclasses import replace

import pytest

from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.constant_responses import STOCK_RESPONSES, composed_texts
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.journeybench.hallucination_vqa import scoring
from bench_assets.suites.journeybench.hallucination_vqa.answer_matching import matches_truth
from bench_assets.suites.journeybench.hallucination_vqa.dataset import read_trigger_questions
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK
from bench_assets.suites.journeybench.synthetic.images import WORLD, members
from bench_resources.models.registry.baselines import ScriptedModel
from tests.rows import prediction, question

FIELDS = {
    "question": "Where is the heart?",
    "model_response": "On the left.",
    "groundtruth_response": "There is no heart.",
    "model_response_main_point": "The heart is on the left.",
    "groundtruth_main_point": "There is no heart.",
    "is_prediction_correct": False,
}
JSON = json.dumps(FIELDS)


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        pytest.param(JSON, False, id="JSON alone"),
        pytest.param(f"```json\n{JSON}\n```", False, id="JSON in a fence"),
        pytest.param(f"```\n{JSON}\n```\nDone.", False, id="JSON in a fence, and a word after it"),
        pytest.param(JSON.replace("false", "true"), True, id="a right answer"),
        pytest.param(f"<think>{{}} hm</think>{JSON}", False, id="JSON after a thought"),
        pytest.param(JSON[:-2], None, id="JSON cut short"),
        pytest.param(JSON.replace("false", "False"), False, id="Python in place of JSON"),
        pytest.param(JSON.replace("false", '"false"'), None, id="a text in place of a verdict"),
        pytest.param('{"is_prediction_correct": true}', None, id="fields missing"),
        pytest.param("The answer is correct.", None, id="no JSON"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_judges_six_fields(response, verdict):
    assessment = scoring.read_assessment(response)
    assert (assessment.is_prediction_correct if assessment else None) is verdict
    if assessment:
        assert assessment.groundtruth_main_point == "There is no heart."


def test_broken_json_is_unscored_and_counted():
    asked = [
        question(
            question_id=f"q/{n}",
            category="false premises",
            labels={"image_source": "real"},
            group_id=str(n),
        )
        for n in range(3)
    ]
    said = [prediction(question_id=f"q/{n}", text=str(n)) for n in range(3)]
    responses = {"0": JSON.replace("false", "true"), "1": JSON, "2": "{"}

    def say(request):
        text = request.prompt.turns[-1].parts[0]
        return next(response for n, response in responses.items() if f"answer: {n}\n" in text)

    judgements = pipeline.judge(TASK, asked, said, ScriptedModel("judge", say))
    scores = pipeline.score(TASK, asked, said, judgements)
    assert [score.points for score in scores] == [1.0, 0.0, None]
    overall = pipeline.summarise(TASK, asked, said, scores)[0]
    assert (overall.value, overall.n_scored, overall.n_unscored) == (0.5, 2, 1)


HEART = ("There is no blue heart", "Where is the blue heart?")
OWLS = ("Three owls", "How many owls are there?")
SHOES = ("The shoes are not visible", "What shoes does she wear?")


@pytest.mark.parametrize(
    ("response", "about", "right"),
    [
        pytest.param("I don't see any heart.", HEART, True, id="the thing is not there"),
        pytest.param("The blue heart is on the left.", HEART, False, id="it is said to be there"),
        pytest.param("There is no such thing in the image.", HEART, False, id="what fits all"),
        pytest.param("It cannot be seen.", HEART, False, id="what fits every single thing"),
        pytest.param("It cannot be seen.", SHOES, False, id="one thing, asked about several"),
        pytest.param("They cannot be seen.", HEART, False, id="several, asked about one"),
        pytest.param("No", HEART, False, id="no alone does not say what is absent"),
        pytest.param("Nothing.", HEART, False, id="nothing alone does not either"),
        pytest.param("I cannot answer that.", SHOES, False, id="a refusal"),
        pytest.param("I can't assist with that", SHOES, False, id="another refusal"),
        pytest.param("They cannot be seen.", SHOES, True, id="it cannot be told"),
        pytest.param("She wears red boots.", SHOES, False, id="a guess"),
        pytest.param("There are 3 owls.", OWLS, True, id="a digit for a word"),
        pytest.param("Four owls", OWLS, False, id="another count"),
        pytest.param("Many", OWLS, False, id="no count"),
        pytest.param("", OWLS, False, id="nothing said"),
        pytest.param(
            "No owl, heart, shoe, tree or house.", HEART, False, id="a list of absent things"
        ),
        pytest.param("There are two, three or four owls.", OWLS, False, id="a list of counts"),
        pytest.param("Three owls sit on a branch of a tree.", OWLS, True, id="where they sit, too"),
        pytest.param(
            "I see no blue heart; the picture shows a woman in front of a house.",
            HEART,
            True,
            id="what is there instead",
        ),
    ],
)
def test_rules(response, about, right):
    truth, asked = about
    assert matches_truth(response, truth, asked) is right


def test_rules_call_peoples_own_answers_right_and_empty_words_wrong(shared_data):
    entries = read_trigger_questions(shared_data / "haloquest" / "haloquest-eval.csv")
    pairs = [pair(entry, said) for entry in entries for said in entry.answers]
    assert all(judgement.verdict for judgement in scoring.judge_by_rules(pairs))
    for empty in ("No", "I cannot assist with that.", ""):
        pairs = [pair(entry, empty) for entry in entries]
        assert not any(judgement.verdict for judgement in scoring.judge_by_rules(pairs))


def mini_questions():
    """By trigger: questions of the mini edition with what people answer to them."""
    found = {}
    for member in members():
        trigger = WORLD["triggers"][(member.family + member.number) % len(WORLD["triggers"])]
        answers = [member.say(answer) for answer in trigger["answers"]]
        found.setdefault(trigger["trigger"], []).append((member.say(trigger["question"]), answers))
    return found


def share(text, asked):
    right = [any(matches_truth(text, one, about) for one in answers) for about, answers in asked]
    return sum(right) / len(asked)


@pytest.mark.parametrize("between", [", ", " or ", " ", ". No ", "; no "])
@pytest.mark.parametrize("opening", ["No ", "I cannot tell the "])
def test_no_list_passes_the_rules_of_the_mini_edition(opening, between):
    """Composed word by word, as long as it gains; "No food, age, birthplace" got 80 % of a kind."""
    words = sorted(
        {word for one in members() for word in (one.words["absent"], one.words["unknown"])}
    )
    for trigger, asked in mini_questions().items():
        luck = sum(share(answers[0], asked) for _, answers in asked) / len(asked)
        listed, best = [], 0.0
        while len(listed) < len(words):
            text, found = max(
                ((word, share(opening + between.join([*listed, word]), asked)) for word in words),
                key=lambda one: one[1],
            )
            if found <= best:
                break
            listed, best = [*listed, text], found
        assert best <= luck + 0.1, (trigger, listed)


def test_no_composed_response_and_no_sentence_passes_the_rules_of_the_mini_edition():
    for trigger, asked in mini_questions().items():
        answers = [answer for _, of_one in asked for answer in of_one]
        luck = sum(share(of_one[0], asked) for _, of_one in asked) / len(asked)
        for text in (*composed_texts(answers), *STOCK_RESPONSES):
            assert share(text, asked) <= luck + 0.1, (trigger, text)
        assert all(matches_truth(one, one, about) for about, of_one in asked for one in of_one)


def pair(entry, said, edition="built"):
    asked = question(text=entry.question, answer=entry.answers, edition=edition)
    return AnsweredQuestion(asked, prediction(text=said))


@pytest.mark.parametrize(
    ("edition", "points"),
    [
        pytest.param("mini", 1.0, id="the mini edition"),
        pytest.param("built", 1.0, id="what was built here"),
        pytest.param("published", None, id="the published edition"),
        pytest.param("own", None, id="a part of it, or other questions in its form"),
    ],
)
def test_rules_give_no_points_of_what_stands_beside_published_numbers(edition, points):
    heart = question(
        text=HEART[1], answer=(HEART[0],), edition=edition, labels={"image_source": "real"}
    )
    said = prediction(text="I see no blue heart.")
    judgements = pipeline.judge(TASK, [heart], [said], None)
    (score,) = pipeline.score(TASK, [heart], [said], judgements)
    assert (score.points, score.answer) == (points, ("I see no blue heart.",))
    assert ("name a model as judge" in score.note) is (points is None)
    by_model = pipeline.judge(
        TASK, [heart], [said], ScriptedModel("j", lambda _: JSON.replace("false", "true"))
    )
    assert pipeline.score(TASK, [heart], [said], by_model)[0].points == 1.0
    overall = pipeline.summarise(
        TASK, [heart], [said], pipeline.score(TASK, [heart], [said], judgements)
    )
    assert (overall[0].n_scored, overall[0].n_unscored) == ((1, 0) if points else (0, 1))


@pytest.mark.parametrize("n", [0, 2])
def test_anything_but_one_judgement_is_no_verdict(n):
    said = prediction(text="There.")
    one = Judgement.of(said, judge="j", criterion="right", verdict=True, response="")
    found = scoring.score(AnsweredQuestion(question(edition="mini"), said), [one] * n)
    assert (found.points, found.note) == (None, f"{n} judgements instead of one")


def test_broken_json_is_asked_for_again_with_the_complaint():
    asked = []

    def say(request):
        asked.append(request.prompt.turns[-1].parts)
        return "I have no idea." if len(asked) < 2 else JSON

    pairs = [
        AnsweredQuestion(question(text=HEART[1], answer=(HEART[0],)), prediction(text="There."))
    ]
    (judgement,) = scoring.judge(pairs, ScriptedModel("judge", say))
    assert judgement.verdict is False
    assert "I have no idea." in asked[1][-1]
    assert asked[1][-1].endswith("and nothing else.")
    assert len(asked) == 2


def test_slices_are_triggers_and_image_sources():
    asked = question(category="visual challenge", labels={"image_source": "real"})
    assert TASK.slices(asked) == ("visual challenge", "real")


def test_the_official_reading_has_the_whole_response_judged():
    asked = question(answer=("No.",))
    said = [
        prediction(question_id=asked.question_id, text="No.", raw_text="<think>Yes.</think>No."),
        prediction(question_id=asked.question_id, sample=1, text="No.", raw_text="No."),
    ]

    def say(request):
        right = "Model's answer: No." in request.prompt.turns[-1].parts[0]
        return json.dumps({**FIELDS, "is_prediction_correct": right})

    pairs = [AnsweredQuestion(asked, one) for one in said]
    judgements = scoring.judge(pairs, ScriptedModel("judge", say))
    assert len(judgements) == 3
    points = {
        scorer: [one.points for one in pipeline.score(TASK, [asked], said, judgements, scorer)]
        for scorer in TASK.scorers
    }
    assert points == {"strict": [1.0, 1.0], "official": [0.0, 1.0]}


def test_what_the_rules_find_is_said_and_a_judge_without_a_response_is_named():
    heart = question(text=HEART[1], answer=(HEART[0],), labels={"image_source": "real"})
    pairs = [
        AnsweredQuestion(heart, prediction(text=text)) for text in ("I see no blue heart.", "Left.")
    ]
    right, wrong = scoring.judge_by_rules(pairs)
    assert (right.response, wrong.response) == (
        f"says what {HEART[0]!r} says",
        "matches no reference",
    )
    assert scoring.score(pairs[0], [right]).note == right.response
    silent = Judgement.of(
        pairs[0].prediction, judge="j", criterion="right", verdict=None, response=""
    )
    found = scoring.score(pairs[0], [replace(silent, error="down")])
    assert (found.points, found.note) == (None, "the judge gave no response: down")
