"""The list of pairs that thresholds are chosen on, and how one is chosen."""

import numpy as np
import pytest

from bench_assets.suites.cogbench.description.recognition import (
    best_cut,
    choose_threshold,
    entity_pairs,
    remove_denied,
    threshold_of,
)


def test_the_list_has_at_least_300_pairs_of_either_kind_and_none_twice():
    pairs = entity_pairs()
    assert len(pairs) == len({(pair.entity, pair.noun) for pair in pairs}) == 453
    assert sum(pair.same for pair in pairs) == 178
    assert not any(pair.entity == pair.noun for pair in pairs)


@pytest.mark.parametrize(
    ("labelled", "cut"),
    [
        pytest.param([(0.2, False), (0.4, False), (0.8, True)], 0.6, id="a clean cut"),
        pytest.param(
            [(0.1 + n / 100, False) for n in range(39)] + [(0.9, False), (0.95, True)],
            (0.47 + 0.48) / 2,
            id="two of forty, one in twenty, are let through",
        ),
    ],
)
def test_the_cut_is_the_lowest_that_few_wrong_pairs_are_above(labelled, cut):
    assert best_cut(labelled) == pytest.approx(cut)


class KnowsThePairs:
    """Gives a right pair the cosine 1, a wrong one 0: by a direction for each entity."""

    name = "knows the pairs"

    def encode_texts(self, texts):
        names = {pair.noun: pair.entity for pair in entity_pairs() if pair.same}
        entities = sorted({pair.entity for pair in entity_pairs()})
        vectors = np.zeros((len(texts), len(entities) + 1), dtype=np.float32)
        for row, text in enumerate(texts):
            known = text if text in entities else names.get(text)
            vectors[row, entities.index(known) if known else len(entities)] = 1
        return vectors


def test_an_unknown_encoder_has_its_threshold_chosen_and_named():
    chosen = choose_threshold(KnowsThePairs())
    threshold, named = threshold_of(KnowsThePairs())
    assert threshold == chosen.threshold == 0.5
    assert named == "0.5000 by pairs:90af9910"
    assert chosen.recall > 0.9
    assert chosen.false_positives < 0.05


@pytest.mark.parametrize(
    ("description", "left"),
    [
        ("There is no boy in the room.", "There is in the room."),
        ("There are no boys, girls or dogs.", "There are ."),
        ("Neither a boy nor a girl is there.", "is there."),
        ("A room without a boy.", "A room ."),
        ("It isn't a boy, it is a girl.", "It is , it is a girl."),
        ("There is not any boy here.", "There is ."),
        ("The boy is missing.", "The ."),
        ("The boys are not visible.", "The ."),
        ("There is a lack of chairs.", "There is a ."),
        ("The room lacks chairs.", "The room ."),
        ("The man does not see the dog.", "The man does not see the dog."),
        ("Without doubt a boy.", "Without doubt a boy."),
        ("There are no people. A boy runs.", "There are . A boy runs."),
    ],
)
def test_what_a_description_denies_is_taken_out_of_it(description, left):
    assert " ".join(remove_denied(description).split()) == left
