"""Look-alikes: what is kept, and why the others are not."""

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.suites.journeybench.construction.look_alikes import (
    LookAlike,
    accepted_images,
    composition,
    propose,
    verify_look_alikes,
)
from bench_assets.suites.journeybench.raw_material import LookAlikeVote


def drawn(colour, left):
    scene = Scene(96, 96, background=colour)
    scene.form("ellipse", (left, 20, left + 40, 60), "black")
    return composition(scene.image)


def test_composition_sees_where_things_lie_not_on_what():
    here, on_grey, there = drawn("white", 8), drawn("lightgrey", 8), drawn("white", 50)
    assert float(here @ on_grey) > 0.95
    assert float(here @ there) < 0.5
    assert float(np.linalg.norm(composition(Image.new("RGB", (9, 9))))) == 0.0


def test_each_criterion_proposes_its_own_nearest_image():
    subjects = np.asarray([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    layouts = np.asarray([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    proposed = propose(["a", "b", "c"], subjects, layouts, n=1)
    of_a = {one.criterion: (one.candidate, one.similarity) for one in proposed if one.image == "a"}
    assert of_a == {"subject": ("b", 1.0), "composition": ("c", 1.0), "both": ("b", 0.5)}


YES, UNLIKE, FITS = (True, True), (False, True), (True, False)


def look_alike(candidate, similarity, criterion="subject"):
    return LookAlike(image="a", candidate=candidate, criterion=criterion, similarity=similarity)


def seen(candidate, *said):
    return [
        LookAlikeVote(
            image="a", candidate=candidate, annotator=f"a{n}", alike=alike, conflicts=conflicts
        )
        for n, (alike, conflicts) in enumerate(said)
    ]


def test_the_nearest_confirmed_images_are_kept():
    proposed = [look_alike(name, 0.1 * n) for n, name in enumerate("bcdefg")]
    cast = [vote for name in "bcdefg" for vote in seen(name, YES, YES, FITS)]
    decisions = verify_look_alikes(proposed, cast)
    assert accepted_images(decisions) == {"a": ["g", "f", "e", "d", "c"]}
    assert decisions[-1].reason == "beyond the nearest 5"


@pytest.mark.parametrize(
    ("cast", "reason"),
    [
        pytest.param(seen("b", YES, UNLIKE), "1 of 2 confirm it", id="not alike for half of them"),
        pytest.param(seen("b", YES, FITS, FITS), "1 of 3 confirm it", id="the captions fit it too"),
        pytest.param([], "nobody looked at it", id="no votes"),
    ],
)
def test_a_image_that_is_not_confirmed_says_why(cast, reason):
    (decision,) = verify_look_alikes([look_alike("b", 0.5)], cast)
    assert (decision.accepted, decision.reason) == (False, reason)


def test_a_image_that_several_criteria_propose_is_one():
    proposed = [look_alike("b", 0.2), look_alike("b", 0.7, "both")]
    (decision,) = verify_look_alikes(proposed, seen("b", YES))
    assert (decision.criteria, decision.similarity) == (("subject", "both"), 0.7)
