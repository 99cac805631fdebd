from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest

from bench_assets.core.images.decoding import decode
from bench_assets.core.images.image_statistics import image_statistics
from bench_assets.core.images.near_duplicates import hash_distance, image_hash
from bench_assets.suites.blink.construction.build import build_all
from bench_assets.suites.blink.construction.recipes import BuilderParameters, recipes
from bench_assets.suites.blink.synthetic import edition as mini
from bench_assets.suites.blink.synthetic import geometry as mini_geometry
from bench_assets.suites.blink.synthetic import geometry as mini_parts
from bench_assets.suites.blink.synthetic import image_choices as mini_choices
from bench_assets.suites.blink.synthetic import objects as mini_objects
from bench_assets.suites.blink.synthetic import surfaces as mini_light
from bench_assets.suites.blink.synthetic import surfaces as mini_puzzles
from tests.fakes.fair_exam import STATISTICS, unfair
from tests.suites.blink.conftest import HEIGHT

TASKS = sorted(recipes(BuilderParameters()))
DRAWN = [
    mini_geometry.photographs,
    mini_geometry.planes,
    mini_geometry.turned_objects,
    mini_choices.real_and_generated,
    mini_light.shaded_walls,
    mini_choices.triplets,
    mini_objects.boxed_objects,
    mini_objects.claims,
    mini_objects.counted_objects,
    mini_objects.things_at_depths,
    mini_parts.animals,
    mini_parts.tools,
    mini_puzzles.puzzles,
    mini_choices.paintings,
]
DRAWN_SLOWLY = [mini_geometry.turned_objects, mini_choices.triplets, mini_choices.paintings]
REFUSED = {  # task: what the mini edition holds that a rule must refuse
    "Counting": {"simple: a detector alone could answer it"},
    "Jigsaw": {"ambiguous: every other piece looks like it"},
    "Multi-view_Reasoning": {
        "ambiguous: no clear turn in 20 pairs of frames",
        "a bottle looks the same from all sides",
    },
    "Object_Localization": {"no object alone of its kind and of a fit size"},
    "Relative_Depth": {"the points lie 0.013 of the height apart: their circles would meet"},
    "Relative_Reflectance": {"no comparison of two opaque points that lie apart is sure enough"},
    "Semantic_Correspondence": {"four common points are needed, it has 3"},
    "Spatial_Relation": {"ambiguous: 1 validators saw it otherwise"},
    "Visual_Correspondence": {"no four of 0 interest points lie in both, far enough apart"},
    "Visual_Similarity": {"people disagree: 0.5 to 0.5", "only 3 people agreed"},
}


def of_task(mini_edition, task):
    return [question for question in mini_edition.built.questions if question.category == task]


def test_every_task_has_twelve_questions_halved_into_the_splits(mini_edition):
    splits = {
        task: Counter(question.labels["split"] for question in of_task(mini_edition, task))
        for task in mini_edition.tasks
    }
    assert {task: n for task, n in splits.items() if min(n["val"], n["test"]) < 6} == {}
    assert {task: n for task, n in splits.items() if not 0 <= n["val"] - n["test"] <= 1} == {}


def test_no_answer_letter_is_favoured_in_a_task(mini_edition):
    for task in mini_edition.tasks:
        questions = of_task(mini_edition, task)
        counts = Counter(question.answer[0] for question in questions)
        assert len(counts) == len(questions[0].options), task
        assert max(counts.values()) - min(counts.values()) <= 1, task


def test_no_two_questions_share_a_image_or_a_near_duplicate(mini_edition):
    hashes = {
        question.question_id: [
            image_hash(mini_edition.store.open(image)) for image in question.images
        ]
        for question in mini_edition.built.questions
        # Of a question about a photograph's pieces, the photograph itself is what is used up.
        if question.category != "Jigsaw"
    }
    twins = [
        (one, other)
        for (one, first), (other, second) in combinations(hashes.items(), 2)
        if min(hash_distance(a, b) for a in first for b in second) == 0
    ]
    assert twins == []


def test_what_a_rule_must_refuse_is_refused_and_nothing_else(mini_edition):
    refused = {
        task: {
            rejection.reason
            for rejection in mini_edition.built.rejections
            if rejection.entry.startswith(f"{task}: ")
        }
        for task in mini_edition.tasks
    }
    assert refused == {task: REFUSED.get(task, set()) for task in mini_edition.tasks}


@pytest.mark.long
def test_no_task_can_be_passed_without_looking(whole_edition, tmp_path):
    """Over five seeds; what is drawn on is small in four of them, since nobody looks at it."""
    store, editions = whole_edition.store, [whole_edition.built.questions]
    for seed in range(1, 5):
        mini.write(tmp_path / str(seed), seed)
        built = build_all(
            tmp_path / str(seed),
            store.put,
            edition="mini",
            seed=seed,
            parameters=BuilderParameters(height=64),
        )
        editions.append(built.questions)
    exams = {
        task: [[one for one in edition if one.category == task] for edition in editions]
        for task in TASKS
    }
    assert {task for task in TASKS if min(map(len, exams[task])) < 12} == set()
    sizes = lambda image: len(store.read(image))  # noqa: E731
    values = {task: unfair(exams[task], sizes, store.open) for task in TASKS}
    assert {task: shortcuts for task, shortcuts in values.items() if shortcuts} == {}


def looks(data):
    """Brightness, contrast and sharpness of an image."""
    measured = image_statistics(decode(data).image)
    return [getattr(measured, name) for name in STATISTICS]


def test_no_statistic_tells_the_image_that_is_like_the_first():
    """Of four triplets the right one is the greater twice, and the nearer twice."""
    files = mini_choices.triplets(Random(1), 4)
    greater, nearer = np.zeros(3), np.zeros(3)
    for n in range(4):
        right, wrong = (f"distort/00{n}_{at}.png" for at in (n % 2, 1 - n % 2))
        first, alike, unlike = (
            np.array(looks(files[name])) for name in (f"ref/00{n}.png", right, wrong)
        )
        greater += alike > unlike
        nearer += abs(alike - first) < abs(unlike - first)
    assert greater.tolist() == nearer.tolist() == [2, 2, 2]


def test_the_same_seed_builds_the_same_table_and_another_seed_another(mini_edition):
    few = BuilderParameters(counts=dict.fromkeys(TASKS, 1), height=HEIGHT)
    tables = [
        build_all(
            mini_edition.folder, mini_edition.store.put, edition="mini", seed=seed, parameters=few
        )
        for seed in (5, 5, 6)
    ]
    assert tables[0] == tables[1]
    assert tables[0].questions != tables[2].questions


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(draw, id=draw.__name__, marks=[pytest.mark.long] * (draw in DRAWN_SLOWLY))
        for draw in DRAWN
    ],
)
def test_the_same_seed_draws_the_same_bytes_and_another_seed_others(draw):
    assert draw(Random(1), 1) == draw(Random(1), 1) != draw(Random(2), 1)
