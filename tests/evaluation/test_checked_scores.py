import random
from dataclasses import replace

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.annotation.tasks import split_unit_id
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Score
from bench_assets.core.stats.corrected_means import corrected_mean
from bench_assets.evaluation.checked_scores import JudgedModel, checked_scores, draw_units
from bench_assets.suites.codis.task import TASK
from tests.fakes.rows import prediction, question

ANSWERS = ("heron", "teapot", "ladder", "violin", "cactus", "anchor")


def codis_questions(n_pairs):
    """Questions of CODIS in pairs; each pair has two possible answers."""
    questions = []
    for pair in range(n_pairs):
        options = ANSWERS[pair % 6], ANSWERS[(pair + 1) % 6]
        questions += [
            question(
                question_id=f"codis/{pair:03}/{number}",
                task="codis",
                text="What is meant?",
                answer=(answer,),
                options=options,
                group_id=f"{pair:03}",
            )
            for number, answer in enumerate(options, 1)
        ]
    return questions


N_PAIRS = 400
QUESTIONS = codis_questions(N_PAIRS)


def judged_model(model="m", seed=0, share=0.8, judge="gpt"):
    """A model and a judge that calls a random ``share`` of its pairs right, both halves alike."""
    rng = random.Random(seed)
    is_right = {f"{pair:03}": rng.random() < share for pair in range(N_PAIRS)}
    predictions = [
        prediction(question_id=q.question_id, model=model, text=f"{model} on {q.question_id}")
        for q in QUESTIONS
    ]
    scores = [
        replace(Score.of(row, points=float(is_right[q.group_id])), judge=judge)
        for q, row in zip(QUESTIONS, predictions, strict=True)
    ]
    return JudgedModel(predictions, scores)


def is_right_for_people(judge_is_right, pair):
    """People agree with the judge, but call one of five pairs wrong."""
    return judge_is_right and pair % 5 > 0


def label_units(units, model):
    """People's verdicts on the responses of drawn units."""
    verdicts = {}
    for unit in units:
        for row, score in zip(model.predictions, model.scores, strict=True):
            if row.question_id in split_unit_id(unit.questions):
                _, pair, _ = row.question_id.split("/")
                key = row.question_id, response_name(row.text)
                verdicts[key] = is_right_for_people(bool(score.points), int(pair))
    return verdicts


def score_units(model, judgements, drawn):
    return checked_scores(TASK, QUESTIONS, model, judgements, drawn)


def test_whole_pairs_are_drawn_with_their_probabilities():
    model = judged_model()
    units = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")

    assert len(units) == 100
    pairs = [{name.rsplit("/", 1)[0] for name in split_unit_id(unit.questions)} for unit in units]
    assert {len(split_unit_id(unit.questions)) for unit in units} == {2}
    assert {len(pair) for pair in pairs} == {1}
    assert {(unit.judge, unit.at, unit.model) for unit in units} == {("gpt", "now", "m")}

    n_right_pairs = sum(score.points for score in model.scores) / 2  # both of a pair are right
    right_units = [unit for unit in units if unit.stratum == "yes"]
    assert {unit.probability for unit in right_units} == {len(right_units) / n_right_pairs}


def test_compared_models_are_drawn_on_the_same_units_by_both_verdicts():
    models = {"a": judged_model("a", 1), "b": judged_model("b", 2)}
    units = draw_units(TASK, QUESTIONS, models, 60, "now")
    assert {unit.stratum for unit in units} == {"yes yes", "yes no", "no yes", "no no"}
    units_of_a = {unit.unit for unit in units if unit.model == "a"}
    assert units_of_a == {unit.unit for unit in units if unit.model == "b"}


def test_a_draw_too_small_for_its_strata_is_an_error():
    models = {"a": judged_model("a", 1), "b": judged_model("b", 2)}
    # Five of each of four: yes yes, yes no, no yes, no no.
    with pytest.raises(SettingsError, match="Draw at least 20, or name fewer models"):
        draw_units(TASK, QUESTIONS, models, 19, "now")


def test_labels_of_people_also_correct_another_judge():
    model = judged_model()
    model_of_random_judge = judged_model(seed=9, share=0.5, judge="other")
    units = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    judgements = label_units(units, model)

    first = corrected_mean(score_units(model, judgements, units).units)
    second = corrected_mean(score_units(model_of_random_judge, judgements, units).units)

    assert second.n_checked == 100
    assert second.low < first.value < second.high
    assert second.judge < 0.6  # which calls half of the pairs right


def change_responses(model, question_ids):
    predictions = [
        replace(row, text=f"{row.text} now") if row.question_id in question_ids else row
        for row in model.predictions
    ]
    return model._replace(predictions=predictions)


def test_labels_are_void_where_the_response_changed():
    model = judged_model()
    units = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    changed = change_responses(model, [split_unit_id(unit.questions)[0] for unit in units[:3]])
    checks = score_units(changed, label_units(units, model), units)
    assert sum(unit.people is not None for unit in checks.units) == 97
    assert checks.problem == ""


def test_a_check_whose_responses_all_changed_says_so():
    model = judged_model()
    units = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    changed = change_responses(model, [question.question_id for question in QUESTIONS])
    assert score_units(changed, label_units(units, model), units).problem == (
        "100 of 100 drawn units changed since, and wait for people"
    )


def test_the_labels_of_an_unfinished_draw_stand_for_all_units():
    model = judged_model()
    drawn = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    units = score_units(model, label_units(drawn[:40], model), drawn).units
    labelled = [unit for unit in units if unit.people is not None]
    assert len(labelled) == 40
    assert sum(1 / unit.probability for unit in labelled) == pytest.approx(N_PAIRS)


def test_a_further_response_without_an_answer_leaves_the_label_of_the_first():
    model = judged_model()
    units = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    cut_off = [
        replace(score, sample=1, points=0.0, no_answer=True, judge="") for score in model.scores
    ]
    drawn_twice = model._replace(scores=[*model.scores, *cut_off])
    labels = label_units(units, model)
    assert (
        score_units(drawn_twice, labels, units).responses
        == score_units(model, labels, units).responses
    )
