"""Scores of a judge beside people's verdicts: pairs of CODIS, drawn, labelled, voided."""

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


def queries(n):
    """Queries of CODIS in pairs; each pair has two possible answers."""
    return [
        question(
            question_id=f"codis/{number // 2:03}/{number % 2 + 1}",
            task="codis",
            text="What is meant?",
            answer=(options[number % 2],),
            options=options,
            group_id=f"{number // 2:03}",
        )
        for number in range(n)
        for pair in [number // 2]
        for options in [(ANSWERS[pair % 6], ANSWERS[(pair + 1) % 6])]
    ]


PAIRS = 400
QUESTIONS = queries(2 * PAIRS)


def judged(model="m", seed=0, share=0.8, judge="gpt"):
    """A model whose responses the judge calls right, by chance; pairs are right together."""
    rng = random.Random(seed)
    rows = [
        prediction(question_id=q.question_id, model=model, text=f"{model} on {q.question_id}")
        for q in QUESTIONS
    ]
    right = [both for _ in range(PAIRS) for both in [rng.random() < share] * 2]
    scores = [
        replace(Score.of(row, points=float(is_right)), judge=judge)
        for row, is_right in zip(rows, right, strict=True)
    ]
    return JudgedModel(rows, scores)


def verdicts(drawn, models, truth):
    """People's verdicts on all drawn responses: ``truth`` of the judge's points and the number."""
    found = {}
    for unit in drawn:
        judged = models[unit.model]
        for row, score in zip(judged.predictions, judged.scores, strict=True):
            if row.question_id in split_unit_id(unit.questions):
                key = row.question_id, response_name(row.text)
                found[key] = truth(bool(score.points), int(row.question_id.split("/")[1]))
    return found


def lenient(is_right, pair):
    """What people call right: every response the judge does, but one of five pairs."""
    return is_right and pair % 5 > 0


def checked(model, judgements, drawn, questions=QUESTIONS):
    return checked_scores(TASK, questions, model, judgements, drawn)


def test_whole_pairs_are_drawn_with_their_probabilities():
    model = judged()
    drawn = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    n_right = sum(score.points for score in model.scores) / 2
    by_stratum = {row.stratum: row.probability for row in drawn}
    assert len(drawn) == 100
    assert {len(split_unit_id(row.questions)) for row in drawn} == {2}
    assert by_stratum["yes"] == sum(row.stratum == "yes" for row in drawn) / n_right
    assert {(row.judge, row.at, row.model) for row in drawn} == {("gpt", "now", "m")}


def test_compared_models_are_drawn_by_both_verdicts_and_judged_alike():
    models = {"a": judged("a", 1), "b": judged("b", 2)}
    drawn = draw_units(TASK, QUESTIONS, models, 60, "now")
    units = [{row.unit for row in drawn if row.model == name} for name in models]
    assert units[0] == units[1]
    assert {row.stratum for row in drawn} == {"yes yes", "yes no", "no yes", "no no"}


def test_a_draw_too_small_for_its_strata_is_an_error():
    models = {"a": judged("a", 1), "b": judged("b", 2)}
    with pytest.raises(SettingsError, match=r"Draw at least 20, or name fewer models"):
        draw_units(TASK, QUESTIONS, models, 19, "now")


def test_labels_survive_another_judge():
    """The second judge knows nothing; its strata are others, the labels the same."""
    model, other = judged(), judged(seed=9, share=0.5, judge="other")
    drawn = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    judgements = verdicts(drawn, {"m": model}, lenient)
    first, second = (
        corrected_mean(checked(one, judgements, drawn).units) for one in (model, other)
    )
    assert second.n_checked == 100
    assert second.low < first.value < second.high
    assert second.judge < 0.6


def test_labels_are_void_for_another_response_or_key():
    model = judged()
    drawn = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    judgements = verdicts(drawn, {"m": model}, lenient)
    pairs = [split_unit_id(row.questions)[0] for row in drawn[:3]]
    changed = model._replace(
        predictions=[
            replace(row, text=f"{row.text} now") if row.question_id in pairs else row
            for row in model.predictions
        ]
    )
    checks = checked(changed, judgements, drawn)
    assert sum(unit.people is not None for unit in checks.units) == 97
    assert checks.problem == ""
    all_changed = model._replace(
        predictions=[replace(row, text=f"{row.text} now") for row in model.predictions]
    )
    assert checked(all_changed, judgements, drawn).problem == (
        "100 of 100 drawn responses changed since, and wait for people"
    )


def test_an_unfinished_draw_is_a_sample_of_each_stratum():
    """Labels in the order of the draw: each stratum's stand for all of its units."""
    model = judged()
    drawn = draw_units(TASK, QUESTIONS, {"m": model}, 100, "now")
    judgements = verdicts(drawn[:40], {"m": model}, lenient)
    labelled = [unit for unit in checked(model, judgements, drawn).units if unit.people is not None]
    n_units = sum(1 / unit.probability for unit in labelled)
    assert len(labelled) == 40
    assert n_units == pytest.approx(PAIRS)
