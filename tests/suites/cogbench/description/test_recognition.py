from collections import Counter
from math import isnan

import numpy as np
import pytest

from bench_assets.suites.cogbench.description.recognition import (
    match_entities,
    recognition,
    recognition_macro,
    recognition_official,
)
from tests.suites.cogbench.description.stories import described

VECTORS = {
    "boy": (1.0, 0.0),
    "lad": (1.0, 0.0),
    "kid": (0.8, 0.6),
    "girl": (0.6, 0.8),
    "tree": (0.0, 1.0),
    "edge": (0.6, -0.8),
}


class TableEncoder:
    """Knows a few words by heart."""

    name = "table"

    def __init__(self):
        self.asked = []

    def encode_texts(self, texts):
        self.asked.append(list(texts))
        return np.array([VECTORS[text] for text in texts], dtype=np.float32).reshape(-1, 2)


def images(*pairs):
    return [
        described({}, image_id=str(number), entities=entities)
        for number, (entities, _) in enumerate(pairs)
    ], [nouns for _, nouns in pairs]


def test_each_distinct_text_is_embedded_once():
    encoder = TableEncoder()
    match_entities(*images((["boy", "tree"], ["boy", "kid"]), (["boy"], ["kid", "tree"])), encoder)
    (asked,) = encoder.asked
    assert Counter(asked) == Counter(["boy", "tree", "kid"])


@pytest.mark.parametrize(
    ("entities", "nouns", "micro", "macro", "official"),
    [
        pytest.param([["boy"]], [["kid", "tree"]], 1.0, 1.0, 1.0, id="0.8 is above 0.6"),
        pytest.param([["boy"]], [["edge"]], 0.0, 0.0, 0.0, id="0.6 is not above 0.6"),
        pytest.param([["boy"]], [["tree"]], 0.0, 0.0, 0.0, id="no noun is close"),
        pytest.param([["kid"]], [["boy", "lad"]], 1.0, 1.0, 2.0, id="a tie counts twice for them"),
        pytest.param([["tree"]], [["boy", "lad"]], 0.0, 0.0, 0.0, id="a tie too far away"),
        pytest.param(
            [["boy", "tree"], ["boy"]], [["lad"], ["lad"]], 2 / 3, 0.75, 2 / 3, id="micro"
        ),
        pytest.param([["boy", "tree"]], [[]], 0.0, 0.0, 0.0, id="a description without nouns"),
    ],
)
def test_entities_are_recognised_by_the_closest_noun(entities, nouns, micro, macro, official):
    matches = match_entities(*images(*zip(entities, nouns, strict=True)), TableEncoder())
    values = [f(matches).value for f in (recognition, recognition_macro, recognition_official)]
    assert values == pytest.approx([micro, macro, official])


def test_a_match_names_its_noun_and_none_is_named_where_there_are_none():
    (first,), (second,) = (
        match_entities(*images((["girl"], nouns)), TableEncoder())
        for nouns in (["tree", "kid"], [])
    )
    assert (first.noun, round(first.cosine, 6), first.n_closest) == ("kid", 0.96, 1)
    assert (second.noun, isnan(second.cosine), second.recognised) == ("", True, False)


def test_no_entities_are_no_score():
    assert isnan(recognition(match_entities(*images(([], ["boy"])), TableEncoder())).value)
    assert isnan(recognition_official([]).value)
