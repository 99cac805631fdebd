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


def judged(pair, word, **fields):
    return Judgement.of(
        pair.prediction, judge="gpt", criterion="answer", verdict=None, response=word, **fields
    )


@pytest.mark.parametrize(
    ("response", "word", "careful", "official"),
    read_cases(__file__, "scored_responses.jsonl"),
)
def test_points_by_both_readings(response, word, careful, official):
    pair = answered_with(response)
    looks = scoring.judge([pair], ScriptedModel("gpt", lambda _: word))
    judgements = looks if word else []
    assert carefully(pair, judgements).points == careful
    assert scoring.score_officially(pair, judgements).points == official


def carefully(pair, judgements):
    (score,) = pipeline.score(TASK, [pair.question], [pair.prediction], judgements)
    return score


@pytest.mark.parametrize(
    ("response", "word", "points"),
    [
        pytest.param("(B)", "(C)", 1.0, id="the recorded word comes before the rules"),
        pytest.param("(C)", "(C) Point C", 0.0, id="word for word"),
        pytest.param("(C)", None, 1.0, id="without one the rules read"),
    ],
)
def test_as_released_takes_the_recorded_word_first(response, word, points):
    pair = answered_with(response)
    judgements = [judged(pair, word)] if word else []
    assert scoring.score_as_released(pair, judgements).points == points


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
def test_what_a_model_thinks_aloud_is_read_by_the_authors_rules(thought, text, careful, official):
    pair = answered_with(text.strip())
    whole = f"<think>{thought} </think> {text}"
    pair = pair._replace(prediction=replace(pair.prediction, raw_text=whole))
    judge = ScriptedModel("gpt", lambda request: "(Z)" if "<think>" in shown(request) else "(C)")
    judgements = scoring.judge([pair], judge)
    assert carefully(pair, judgements).points == careful
    assert scoring.score_officially(pair, judgements).points == official
    by_rules = scoring.judge_by_rules([pair])
    assert scoring.score_officially(pair, by_rules).points == official


def shown(request):
    return "".join(part for part in request.prompt.turns[0].parts if isinstance(part, str))


def test_all_words_of_a_recorded_judge_are_taken():
    pairs = [answered(text, **POINTS, question_id=text, answer=("C",)) for text in ("(C)", "Hm.")]
    responses = [
        RecordedResponse(where="", question_id=q.question_id, text="", judge_response="(B)")
        for q, _ in pairs
    ]
    judge = RecordedJudge("recorded", responses, Path("responses.jsonl"))
    judgements = scoring.judge(pairs, judge)
    assert [judgement.response for judgement in judgements] == ["(B)", "(B)"]
    assert scoring.score_officially(pairs[0], judgements[:1]).points == 1.0
    assert scoring.score_as_released(pairs[0], judgements[:1]).points == 0.0


def test_of_two_verdicts_the_official_one_is_on_the_response_with_its_thoughts():
    pair = answered_with("Hm.", "C")
    without = judged(pair, "(B)")
    within = replace(judged(pair, "(C)"), criterion=scoring.WITH_REASONING)
    for both in ([without, within], [within, without]):
        assert scoring.score_officially(pair, both).points == 1.0
        assert scoring.score_carefully(pair, both).points == 0.0


@pytest.mark.parametrize("score", [carefully, scoring.score_officially])
@pytest.mark.parametrize(
    ("judgements", "why"),
    [
        pytest.param(lambda _: [], "0 judgements instead of one", id="nobody judged"),
        pytest.param(
            lambda pair: [replace(judged(pair, ""), error="timeout")],
            "gave no response: timeout",
            id="the judge could not be asked",
        ),
    ],
)
def test_a_failure_of_the_judge_is_no_wrong_answer(score, judgements, why):
    pair = answered_with("Hm.")
    row = score(pair, judgements(pair))
    assert row.points is None
    assert why in row.note


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


def in_task(category, points, n_options=2):
    options = tuple("abcd"[:n_options])
    return [
        scored(points=p, category=category, question_id=f"{category}{n}", options=options)
        for n, p in enumerate(points)
    ]


def test_the_overall_accuracy_is_the_mean_of_the_tasks_accuracies():
    rows = in_task("Jigsaw", [1, 1, 1, 0]) + in_task("Counting", [0, 1])
    assert TASK.measures["accuracy"](rows).value == (3 / 4 + 1 / 2) / 2
    assert TASK.measures["accuracy_micro"](rows).value == 4 / 6


def test_chance_is_that_of_the_tasks_and_not_of_the_questions():
    rows = in_task("Jigsaw", [0] * 9, n_options=2) + in_task("Counting", [0], n_options=4)
    found = scoring.chance(rows)
    assert found.value == (1 / 2 + 1 / 4) / 2
    assert (found.n_scored, found.n_unscored) == (10, 0)


# The authors' rules and the careful scorer on one table of responses, read by a person.


OPTIONS = {
    "second_or_third": ("the second image", "the third image"),
    "points": ("Point A", "Point B", "Point C", "Point D"),
    "left_right": ("left", "right"),
    "yes_no": ("yes", "no"),
    "numbers": ("1", "2", "3", "4"),
    "reflectance": ("A is darker", "B is darker", "About the same"),
}
# response, what a person reads in it (null: no one option), what the authors' rules read
FORMS = [
    pytest.param(OPTIONS[options], *form, id=f"{options}: {form[0]!r}")
    for options, forms in json.loads(
        Path(__file__).with_name("response_forms.json").read_text(encoding="utf-8")
    ).items()
    for form in forms
]


@pytest.mark.parametrize(("options", "response", "person", "rules"), FORMS)
def test_the_careful_reading_is_a_persons_or_none(options, response, person, rules):
    reading = read_choice(response, options)
    assert reading is None or reading.named or reading.value == person or reading.disputed


@pytest.mark.parametrize(("options", "response", "person", "rules"), FORMS)
def test_the_official_rules_are_the_authors(options, response, person, rules):
    assert official_option(response, len(options)) == (rules and f"({rules})")
