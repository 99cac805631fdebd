"""What speaks against two items' being one, and what two chains are compared by."""

import pytest

from bench_assets.suites.cogbench.construction.annotation_files import AnnotatedItem
from bench_assets.suites.cogbench.construction.merging import SimilarityIndex, contradiction
from tests.cases import read_rows
from tests.suites.cogbench.encoders import MeaningEncoder


@pytest.mark.parametrize(
    ("one", "other", "why"),
    read_rows(__file__, "contradictions.jsonl"),
)
def test_what_two_texts_contradict_each_other_in(one, other, why):
    assert contradiction(one, other) == contradiction(other, one) == why


CLUES = {"Clue one.", "Clue too."}
ENDS = {"The boy is glad.", "The boy feels glad."}
ENCODER = MeaningEncoder(CLUES, ENDS, {"sofa", "couch"})


def chain(clue, end, kind="Event Reasoning"):
    return AnnotatedItem(image="a", annotator="x", field=kind, text=f"{clue} -> {end}")


@pytest.mark.parametrize(
    ("one", "other", "cosine", "objection"),
    [
        pytest.param(
            chain("Clue one.", "The boy is glad."), chain("Clue too.", "The boy feels glad."),
            0.9, "", id="one conclusion of related clues",
        ),
        pytest.param(
            chain("Clue one.", "The boy is glad."), chain("Elsewhere.", "The boy feels glad."),
            0.9, "other premises", id="one conclusion of other clues",
        ),
        pytest.param(
            chain("Clue one.", "The boy is glad."), chain("Clue one.", "A car stops."),
            0.0, "", id="the clues alone make nothing one",
        ),
        pytest.param(
            chain("Clue one.", "The boy is glad.", "Event Relationship Reasoning"),
            chain("Elsewhere.", "The boy is glad.", "Event Relationship Reasoning"),
            1.0, "other causes", id="an effect of another cause is another relationship",
        ),
        pytest.param(
            chain("Clue one.", "The boy has a sofa."), chain("Clue one.", "The boy has a ship."),
            0.0, "'ship' replaced by 'sofa'", id="one word replaced by another",
        ),
        pytest.param(
            chain("Clue one.", "The boy has a sofa."), chain("Clue one.", "The boy has a couch."),
            0.0, "", id="one word replaced by one that means the same",
        ),
    ],
)  # fmt: skip
def test_chains_are_compared_by_conclusions_and_premises_apart(one, other, cosine, objection):
    found = SimilarityIndex([one, other], ENCODER).compare(one, other)
    assert found.cosine == pytest.approx(cosine, abs=0.01)
    assert found.objection in (objection, "'sofa' replaced by 'ship'" if objection else "")
    assert found.merge_cosine == (-1.0 if objection else found.cosine)
