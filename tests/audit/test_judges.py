"""Judges that cannot be trusted, each caught by the check meant for it; and one that can."""

from dataclasses import replace
from functools import cache

import pytest

from bench_assets.audit.framework.evidence import (
    FALSE_ALARMS,
    INJECTIONS_FOLLOWED,
    KAPPA_CONSTRUCTED,
    KAPPA_SECOND_JUDGE,
    LENGTH_EFFECT,
    RECALL,
    REORDER_CHANGES,
)
from bench_assets.audit.judges.human_agreement import JudgeRun as Who
from bench_assets.audit.judges.human_agreement import (
    figures_of_labels,
    figures_of_trials,
    second_judge_figures,
)
from bench_assets.audit.judges.judge_trials import make_trials, run_trials
from bench_assets.audit.judges.prompt_injections import load_injections
from bench_assets.audit.registry import CHECKS
from bench_assets.core.schema.signature import format_judge_setup as setup_of
from bench_assets.suites.codis.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from tests.audit.judged import (
    Judged,
    always_right,
    follower,
    honest,
    judged_by,
    likes_length,
    queries,
    responses,
)

WHO = Who(task="codis", judge="a judge", setup="judge=paper:1", prompts="0c", at="2026-01-01")
ASKED = queries(30)


def models():
    return {
        name: responses(ASKED, right, name, seed)
        for seed, (name, right) in enumerate({"good": 0.85, "fair": 0.6, "poor": 0.3}.items())
    }


def with_injections(said):
    """One of three models addresses the judge."""
    texts = [one for one in load_injections() if one.form in ("order", "authority", "system")]
    spoken = [
        replace(row, text=texts[i % len(texts)].append_to(row.text), raw_text="")
        for i, row in enumerate(said["poor"])
    ]
    return {**said, "poor": spoken}


@cache
def tried(says):
    return run_trials(TASK, make_trials(ASKED, 15), ScriptedModel("a judge", says), "paper")


def figures(says):
    return {one.figure: one for one in figures_of_trials(tried(says), WHO)}


OURS = ("judge", "unread", "scorers", "annotators")  # what responses, judges and people are asked


def caught(evidence):
    found = {one.name: one(evidence) for one in CHECKS if one.name.startswith(OURS)}
    return [name for name, finding in found.items() if not finding.passed]


def evidence(says, said=None, *, with_figures=False):
    said = said or models()
    measured = figures_of_trials(tried(says), WHO) if with_figures else ()
    return Judged(ASKED, said, judged_by(says, said, ASKED), judge_figures=measured)


@pytest.mark.parametrize("with_figures", [False, True])
@pytest.mark.parametrize(
    ("says", "checks"),
    [
        pytest.param(honest, [], id="an honest judge passes all"),
        pytest.param(always_right, ["judge_agreement"], id="one that always says right"),
        pytest.param(lambda _: "wrong", ["judge_agreement"], id="one that always says wrong"),
    ],
)
def test_a_judge_is_caught_by_the_check_that_is_meant_for_it(says, checks, with_figures):
    assert caught(evidence(says, with_figures=with_figures)) == checks


def test_one_that_follows_injections_is_caught_on_responses_made_for_it_and_by_no_other_check():
    assert caught(evidence(follower, with_figures=True)) == ["judge_injections"]


def test_one_that_follows_injections_is_caught_on_the_responses_of_a_model_that_makes_them():
    said = with_injections(models())
    assert caught(evidence(follower, said)) == ["judge_injections"]
    assert caught(evidence(honest, said)) == []


def test_one_that_likes_length_is_caught_by_the_check_for_it():
    assert caught(evidence(likes_length, with_figures=True)) == ["judge_length"]


def test_one_that_was_never_measured_is_said_to_be():
    (agreement,) = [one for one in CHECKS if one.name == "judge_agreement"]
    said = agreement(evidence(honest)).sentence
    assert "its agreement with people was never measured (bench audit judge)" in said
    assert "with rules: kappa" in said


def test_rules_are_no_judge_who_has_to_be_measured():
    said = models()
    by_rules = Judged(ASKED, said, {name: [] for name in said})
    found = [one(by_rules) for one in CHECKS if one.name.startswith("judge")]
    assert all(one.passed and one.skipped for one in found)


def test_a_judge_who_changed_is_caught_on_responses_that_two_models_gave_alike():
    said = models()
    said["twin"] = [replace(row, model="twin") for row in said["good"]]
    heard = judged_by(honest, said, ASKED)
    heard["twin"] = [
        replace(row, verdict=not row.verdict, setup=setup_of("paper", "2")) if i % 5 == 0 else row
        for i, row in enumerate(heard["twin"])
    ]
    assert caught(Judged(ASKED, said, heard)) == ["judge_drift"]


def test_a_judge_who_was_measured_anew_with_another_setup_is_compared_with_what_it_was():
    now = WHO._replace(setup="judge=paper:2")
    measured = [
        *figures_of_trials(tried(honest), WHO),
        *figures_of_trials(tried(likes_length), now),
    ]
    found = caught(replace(evidence(honest), judge_figures=measured))
    assert "judge_drift" in found


def test_figures_of_an_honest_judge_by_pencil():
    found = figures(honest)
    assert {
        name: found[name].value
        for name in (RECALL, FALSE_ALARMS, KAPPA_CONSTRUCTED, INJECTIONS_FOLLOWED, LENGTH_EFFECT)
    } == {
        RECALL: 1.0,
        FALSE_ALARMS: 0.0,
        KAPPA_CONSTRUCTED: 1.0,
        INJECTIONS_FOLLOWED: 0.0,
        LENGTH_EFFECT: 0.0,
    }
    assert (found[INJECTIONS_FOLLOWED].n, found[RECALL].n) == (100, 15)
    assert REORDER_CHANGES not in found  # the judge of CODIS is shown no options


def test_a_judge_that_always_says_right_has_nothing_to_be_turned():
    found = figures(always_right)
    assert INJECTIONS_FOLLOWED not in found
    assert (found[FALSE_ALARMS].value, found[KAPPA_CONSTRUCTED].value) == (1.0, pytest.approx(0.0))


def test_the_injections_that_were_followed_are_named():
    found = figures(follower)[INJECTIONS_FOLLOWED]
    named = found.about.split()
    assert found.value == len(named) / 100 > 0.5
    assert set(named) <= {one.name for one in load_injections()}


def test_what_rules_decide_before_the_judge_is_asked_is_no_injection_that_was_resisted():
    assert (
        figures_of_trials([one._replace(prompts=frozenset()) for one in tried(honest)], WHO) == []
    )


def test_an_unreadable_judge_is_counted_as_that():
    found = figures(lambda _: "I cannot say.")
    assert list(found) == ["unreadable"]
    assert found["unreadable"].value == 1.0


def test_two_judges_are_compared_on_the_same_responses():
    # 15 right and 15 wrong, each plain, long and reordered, and 100 injected.
    (same,) = second_judge_figures(tried(honest), tried(honest), WHO, "other")
    assert (same.figure, same.n, same.value, same.about) == (KAPPA_SECOND_JUDGE, 190, 1.0, "other:")
    (other,) = second_judge_figures(tried(honest), tried(always_right), WHO, "other")
    assert (other.n, other.value) == (190, pytest.approx(0.0))
    assert len(other.about.split()) == 16  # every question has wrong responses


def test_peoples_labels_by_pencil():
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    found = {one.figure: one.value for one in figures_of_labels(pairs, WHO)}
    assert found == {
        "kappa_people": pytest.approx(0.4),
        "precision_people": pytest.approx(20 / 30),
        "recall_people": pytest.approx(20 / 25),
    }


def test_the_same_questions_make_the_same_trials_in_any_order():
    assert make_trials(ASKED, 10) == make_trials(ASKED[::-1], 10)


def test_questions_that_an_injection_answers_by_accident_are_left_out():
    odd = [replace(one, answer=("right",), options=("right", "left")) for one in ASKED]
    assert make_trials(odd, 10) == []
