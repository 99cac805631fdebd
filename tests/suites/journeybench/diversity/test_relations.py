"""Things that captions name together, and whether a list has them together."""

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.diversity.measures import read_common_sense, relate


def listed(folder, text):
    file = folder / "pairs.tsv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_pair_is_known_in_either_order_and_counts_once_a_image(tmp_path):
    known = read_common_sense(listed(tmp_path, "Dog\tAtLocation\tcar\nowl\ttree\n\ncat\tcat\n"))
    captions = ("a car and a dog on a moon", "the dog's car")
    rows = relate("q/1", captions, [["car", "dog", "moon"], ["dog", "car"]], known)
    assert [(row.first, row.second, row.known) for row in rows] == [
        ("car", "dog", True),
        ("dog", "moon", False),
    ]
    assert rows[1].caption == captions[0]


def test_captions_with_fewer_than_two_things_have_no_relation():
    assert relate("q/1", ("a cat", "wow"), [["cat"], []], frozenset()) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [pytest.param("dog car\n", "pairs.tsv, line 1: expected things parted by tabs", id="no tab")],
)
def test_other_lists_are_refused(tmp_path, text, complaint):
    with pytest.raises(SourceError, match=complaint):
        read_common_sense(listed(tmp_path, text))
