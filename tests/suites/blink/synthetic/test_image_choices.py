from collections import Counter

import pytest

from bench_assets.suites.blink.construction.recipes import RECIPES, BuilderParameters
from bench_assets.suites.blink.synthetic import edition as mini
from tests.fakes.blink_builds import build_all
from tests.fakes.fair_exam import unfair
from tests.suites.blink.conftest import HEIGHT

TASKS = sorted(RECIPES)
REFUSED = {  # task: what the mini edition holds that a rule must refuse
    "Counting": {"simple: a detector alone could answer it"},
    "Jigsaw": {"ambiguous: every hidden piece looks like the missing one"},
    "Multi-view_Reasoning": {
        "ambiguous: no clear turn in 20 pairs of frames",
        "a bottle looks the same from all sides",
    },
    "Object_Localization": {"no object alone of its kind and of a fit size"},
    "Relative_Depth": {"the points lie 0.013 of the height apart: their circles would meet"},
    "Relative_Reflectance": {"no comparison of two opaque points that lie apart is sure enough"},
    "Semantic_Correspondence": {"expected four common points, got 3"},
    "Spatial_Relation": {"ambiguous: 1 validators saw it otherwise"},
    "Visual_Correspondence": {"no four of 0 common interest points lie far enough apart"},
    "Visual_Similarity": {"people disagree: 0.5 to 0.5", "only 3 people agreed"},
}


def questions_of_task(mini_edition, task):
    return [question for question in mini_edition.result.questions if question.category == task]


def test_every_task_has_at_least_twelve_questions_halved_into_the_splits(mini_edition):
    splits = {
        task: Counter(
            question.labels["split"] for question in questions_of_task(mini_edition, task)
        )
        for task in mini_edition.tasks
    }
    assert splits
    assert {task: counts for task, counts in splits.items() if counts["test"] < 6} == {}
    surplus = {task: counts["val"] - counts["test"] for task, counts in splits.items()}
    assert set(surplus.values()) <= {0, 1}


def test_what_a_rule_must_refuse_is_refused_and_nothing_else(mini_edition):
    refused = {
        task: {
            rejection.reason
            for rejection in mini_edition.result.rejections
            if rejection.entry.startswith(f"{task}: ")
        }
        for task in mini_edition.tasks
    }
    assert refused == {task: REFUSED.get(task, set()) for task in mini_edition.tasks}


def build_small_edition(folder, seed, store):
    """Questions of an edition with small images, which suffice where nobody looks at them."""
    mini.write(folder, seed)
    parameters = BuilderParameters(height=64)
    return build_all(folder, store=store.put, seed=seed, parameters=parameters).questions


@pytest.mark.long
def test_no_task_can_be_passed_without_looking(whole_edition, tmp_path):
    """Over five seeds."""
    editions = [
        whole_edition.result.questions,
        *(build_small_edition(tmp_path / str(n), n, whole_edition.store) for n in range(1, 5)),
    ]
    exams = {
        task: [
            [question for question in edition if question.category == task] for edition in editions
        ]
        for task in TASKS
    }
    assert {task for task in TASKS if min(map(len, exams[task])) < 12} == set()
    assert {task: unfair(exams[task]) for task in TASKS} == {task: {} for task in TASKS}


def test_the_same_seed_builds_the_same_table_and_another_seed_another(mini_edition):
    few = BuilderParameters(counts=dict.fromkeys(TASKS, 1), height=HEIGHT)
    first, again, other_seed = (
        build_all(mini_edition.folder, store=mini_edition.store.put, seed=seed, parameters=few)
        for seed in (5, 5, 6)
    )
    assert first == again
    assert first.questions != other_seed.questions
