"""The drawn tools: what is right of one is wrong of its mirror image."""

import json
from itertools import permutations
from random import Random

import numpy as np
import pytest

from bench_assets.suites.blink.synthetic.geometry import tools


@pytest.mark.parametrize("seed", range(5))
def test_no_point_of_a_tool_is_the_mirror_image_of_another(seed):
    entries = json.loads(tools(Random(seed), 12)["annotations.json"])
    assert len(entries) == 24
    for entry in entries:
        points = np.array(entry["points"], float)
        handle = (points[3] - points[0]) / np.linalg.norm(points[3] - points[0])
        along, aside = (points - points[0]) @ handle, (points - points[0]) @ (-handle[1], handle[0])
        mirrored = points[0] + np.outer(along, handle) - np.outer(aside, (-handle[1], handle[0]))
        for one, other in permutations(range(5), 2):
            assert np.linalg.norm(points[one] - mirrored[other]) > 20, entry["image"]
        # The tip of the hook is what tells the two sides apart.
        assert np.linalg.norm(points[4] - mirrored[4]) > 80
