import pytest

from bench_assets.suites.cogbench.construction.annotation_files import AnnotatedItem
from bench_assets.suites.cogbench.construction.merging import SimilarityIndex, contradiction
from tests.cases import read_rows
from tests.suites.cogbench.encoders import MeaningEncoder


@pytest.mark.parametrize(("first", "second", "reason"), read_rows(__file__, "contradictions.jsonl"))
def test_a_contradiction_is_named_in_either_order(first, second, reason):
    assert contradiction(first, second) == contradiction(second, first) == reason


PREMISES = {"Clue one.", "Clue too."}
CONCLUSIONS = {"The boy is glad.", "The boy feels glad."}
ENCODER = MeaningEncoder(PREMISES, CONCLUSIONS, {"sofa", "couch"})


def chain(premise, conclusion, field="Event Reasoning"):
    return AnnotatedItem(image="a", annotator="x", field=field, text=f"{premise} -> {conclusion}")


@pytest.mark.parametrize(
    ("first", "second", "cosine", "objection"),
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
            0.0, "'sofa' replaced by 'ship'", id="one word replaced by another",
        ),
        pytest.param(
            chain("Clue one.", "The boy has a sofa."), chain("Clue one.", "The boy has a couch."),
            0.0, "", id="one word replaced by one that means the same",
        ),
    ],
)  # fmt: skip
def test_chains_are_compared_by_conclusions_and_premises(first, second, cosine, objection):
    similarity = SimilarityIndex([first, second], ENCODER).compare(first, second)
    assert similarity.cosine == pytest.approx(cosine, abs=0.01)
    assert similarity.objection == objection
