import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.core.reading.choices import read_choice
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.suites.blink import scoring
from bench_assets.suites.blink.scoring import official_option
from bench_assets.suites.blink.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.recorded import RecordedJudge, RecordedResponse
from tests.cases import read_cases
from tests.fakes.rows import answered, scored

POINTS = {"kind": "choice", "options": ("Point A", "Point B", "Point C", "Point D")}


def answered_with(text, answer="C"):
    return answered(text, **POINTS, answer=(answer,))


def gpt_judgement(pair, word):
    return Judgement.of(
        pair.prediction, judge="gpt", criterion="answer", verdict=None, response=word
    )


@pytest.mark.parametrize(
    ("response", "word", "careful", "official"), read_cases(__file__, "scored_responses.jsonl")
)
def test_points_by_the_careful_and_the_official_scorer(response, word, careful, official):
    pair = answered_with(response)
    judge = ScriptedModel("gpt", lambda _: word)
    judgements = scoring.judge([pair], judge) if word else []
    assert score_carefully(pair, judgements).points == careful
    assert scoring.score_officially(pair, judgements).points == official


def score_carefully(pair, judgements):
    (score,) = pipeline.score(TASK, [pair.question], [pair.prediction], judgements)
    return score


@pytest.mark.parametrize(
    ("response", "words", "points"),
    [
        pytest.param("(B)", ["(C)"], 1.0, id="the recorded word comes before the rules"),
        pytest.param("(C)", ["(C) Point C"], 0.0, id="word for word"),
        pytest.param("(C)", [], 1.0, id="without one the rules read"),
    ],
)
def test_as_released_takes_the_recorded_word_first(response, words, points):
    pair = answered_with(response)
    by_model = [replace(gpt_judgement(pair, word), prompt_sha256="1" * 64) for word in words]
    assert scoring.score_as_released(pair, by_model).points == points


def test_as_released_reads_by_the_authors_rules_where_only_rules_have_judged():
    pair = answered_with("(C) is closer, or maybe D")
    judgements = scoring.judge_by_rules([pair])  # "(Z)": no option is stated
    assert [judgement.response for judgement in judgements] == ["(Z)"]
    assert scoring.score_as_released(pair, judgements).answer == ("C",)


@pytest.mark.parametrize(
    ("thought", "text", "careful", "official"),
    [
        pytest.param("A or C?", "(C)", 1.0, 1.0, id="the last letter in brackets stands alone"),
        pytest.param("Hm, (A) or (C)?", "(C)", 1.0, 0.0, id="the judge is asked about the whole"),
        pytest.param(
            "Hm.", "\n\nIt is (C) there", 1.0, 1.0, id="the last paragraph has the letter"
        ),
    ],
)
def test_the_official_scorer_reads_the_thoughts_of_a_model_too(thought, text, careful, official):
    pair = answered_with(text.strip())
    raw_text = f"<think>{thought} </think> {text}"
    pair = pair._replace(prediction=replace(pair.prediction, raw_text=raw_text))
    judge = ScriptedModel(
        "gpt", lambda request: "(Z)" if "<think>" in prompt_text(request) else "(C)"
    )
    judgements = scoring.judge([pair], judge)
    assert score_carefully(pair, judgements).points == careful
    assert scoring.score_officially(pair, judgements).points == official
    assert scoring.score_officially(pair, scoring.judge_by_rules([pair])).points == official


def prompt_text(request):
    return "".join(part for part in request.prompt.turns[0].parts if isinstance(part, str))


def test_a_recorded_judge_is_quoted_on_every_response():
    pairs = [answered(text, **POINTS, question_id=text, answer=("C",)) for text in ("(C)", "Hm.")]
    responses = [
        RecordedResponse(where="", question_id=q.question_id, text="", judge_response="(B)")
        for q, _ in pairs
    ]
    judge = RecordedJudge("recorded", responses, Path("responses.jsonl"))
    judgements = scoring.judge(pairs, judge)
    assert [judgement.response for judgement in judgements] == ["(B)", "(B)"]


@pytest.mark.parametrize(
    "criteria",
    [("answer", scoring.WITH_REASONING), (scoring.WITH_REASONING, "answer")],
    ids=["with the thoughts last", "with the thoughts first"],
)
def test_the_official_verdict_is_on_the_response_with_its_thoughts(criteria):
    pair = answered_with("Hm.", "C")
    words = {"answer": "(B)", scoring.WITH_REASONING: "(C)"}
    judgements = [
        replace(gpt_judgement(pair, words[criterion]), criterion=criterion)
        for criterion in criteria
    ]
    assert scoring.score_officially(pair, judgements).points == 1.0
    assert scoring.score_carefully(pair, judgements).points == 0.0


@pytest.mark.parametrize("score", [score_carefully, scoring.score_officially])
@pytest.mark.parametrize(
    ("errors", "expected_note"),
    [
        pytest.param([], "0 judgements instead of one", id="no judgement"),
        pytest.param(["timeout"], "gave no response: timeout", id="the judge could not be reached"),
    ],
)
def test_a_failure_of_the_judge_is_no_wrong_answer(score, errors, expected_note):
    pair = answered_with("Hm.")
    judgements = [replace(gpt_judgement(pair, ""), error=error) for error in errors]
    result = score(pair, judgements)
    assert result.points is None
    assert expected_note in result.note


def test_the_judge_reads_unread_responses_alone():
    judged_ids = []

    def answer(request):
        judged_ids.append(request.question.question_id)
        return "(C)"

    pairs = [
        answered(text, **POINTS, question_id=text, answer=("C",))
        for text in ("(C)", "Point C.", "Hm.", "Either (A) or (C)")
    ]
    judgements = scoring.judge(pairs, ScriptedModel("judge", answer))
    # The authors' rules leave "Point C." to the judge, the careful scorer the last.
    assert judged_ids == ["Point C.", "Hm.", "Either (A) or (C)"]
    assert [(judgement.verdict, judgement.response) for judgement in judgements] == [
        (True, "(C)")
    ] * 3


def test_rules_alone_take_an_unread_response_for_a_wrong_answer():
    pairs = [answered_with("(C)"), answered_with("Hm.")]
    (judgement,) = scoring.judge_by_rules(pairs)
    assert (judgement.judge, judgement.response, judgement.verdict) == ("rules", "(Z)", False)
    assert scoring.score_carefully(pairs[1], [judgement]).points == 0
    assert scoring.score_officially(pairs[1], [judgement]).points == 0


def scored_task(category, points, n_options=2):
    options = tuple("abcd"[:n_options])
    return [
        scored(points=p, category=category, question_id=f"{category}{n}", options=options)
        for n, p in enumerate(points)
    ]


def test_the_overall_accuracy_is_the_mean_of_the_tasks_accuracies():
    rows = scored_task("Jigsaw", [1, 1, 1, 0]) + scored_task("Counting", [0, 1])
    assert TASK.measures["accuracy"](rows).value == (3 / 4 + 1 / 2) / 2
    assert TASK.measures["accuracy_micro"](rows).value == 4 / 6


def test_chance_is_the_mean_of_the_tasks_and_not_of_the_questions():
    rows = scored_task("Jigsaw", [0] * 9, n_options=2) + scored_task("Counting", [0], n_options=4)
    metric = scoring.chance(rows)
    assert metric.value == (1 / 2 + 1 / 4) / 2
    assert (metric.n_scored, metric.n_unscored) == (10, 0)


OPTIONS = {
    "second_or_third": ("the second image", "the third image"),
    "points": ("Point A", "Point B", "Point C", "Point D"),
    "left_right": ("left", "right"),
    "yes_no": ("yes", "no"),
    "numbers": ("1", "2", "3", "4"),
    "reflectance": ("A is darker", "B is darker", "About the same"),
}
# response; what a person reads in it (null: no one option), what the authors' rules read, and what
# the careful scorer reads as stated
FORMS = [
    pytest.param(OPTIONS[options], *form, id=f"{options}: {form[0]!r}")
    for options, forms in json.loads(
        Path(__file__).with_name("response_forms.json").read_text(encoding="utf-8")
    ).items()
    for form in forms
]


@pytest.mark.parametrize(("options", "response", "person", "rules", "careful"), FORMS)
def test_stated_options_are_those_that_a_person_reads(options, response, person, rules, careful):
    reading = read_choice(response, options)
    stated = None if reading is None or reading.named or reading.disputed else reading.value
    assert stated == careful
    assert careful in (None, person)


@pytest.mark.parametrize(("options", "response", "person", "rules", "careful"), FORMS)
def test_the_official_option_is_of_the_authors_rules(options, response, person, rules, careful):
    expected = f"({rules})" if rules else rules
    assert official_option(response, len(options)) == expected
