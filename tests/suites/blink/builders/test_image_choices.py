"""Art style, visual similarity, forensic detection."""

from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.image_choices import (
    art_style,
    forensic_detection,
    visual_similarity,
)
from tests.suites.blink.builders.layouts import (
    drafts,
    forensics,
    nights,
    reasons,
    wikiart,
    write_csv,
)


@pytest.mark.parametrize("seed", range(8))
def test_reference_and_right_option_share_a_style_that_the_other_does_not(tmp_path, seed):
    for draft in drafts(art_style(wikiart(tmp_path, Cubism=5, Pop_Art=5, Realism=5), Random(seed))):
        reference, alike, unlike = (file.parent.name for file in draft.originals)
        assert reference == alike != unlike


def test_every_painting_is_used_once(tmp_path):
    made = drafts(art_style(wikiart(tmp_path, Cubism=9, Pop_Art=9), Random(0)))
    used = [file for draft in made for file in draft.originals]
    assert len(used) == len(set(used)) >= 15


def test_kindred_styles_are_not_set_against_each_other(tmp_path):
    assert drafts(art_style(wikiart(tmp_path, Impressionism=6, Pointillism=6), Random(0))) == []


def test_one_style_alone_is_named(tmp_path):
    with pytest.raises(SourceError, match="expected paintings in folders of two styles or more"):
        list(art_style(wikiart(tmp_path, Cubism=6), Random(0)))


@pytest.mark.parametrize(
    ("votes", "chosen"),
    [
        pytest.param((1.0, 0.0), "distort/5_0.png", id="people chose the left"),
        pytest.param((0.0, 1.0), "distort/5_1.png", id="people chose the right"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_the_one_people_chose_stands_in_its_place(tmp_path, votes, chosen, place):
    source = nights(tmp_path, left_vote=votes[0], right_vote=votes[1])
    (draft,) = drafts(visual_similarity(source, Random(0)))
    reference, *options = draft.show(place, draft.marks).images
    assert reference == (tmp_path / "ref" / "5.png").read_bytes()
    assert options[place] == (tmp_path / chosen).read_bytes()
    assert options[0] != options[1]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"votes": 5}, "only 5 people agreed", id="too few"),
        pytest.param(
            {"left_vote": 0.6, "right_vote": 0.4}, "people disagree: 0.6 to 0.4", id="divided"
        ),
    ],
)
def test_a_triplet_that_divides_people_is_refused(tmp_path, fields, reason):
    assert reasons(visual_similarity(nights(tmp_path, **fields), Random(0))) == [reason]


def test_columns_that_are_missing_are_named(tmp_path):
    write_csv(tmp_path / "data.csv", [{"id": 5, "votes": 7}])
    with pytest.raises(SourceError, match=r"data.csv: no columns \['left_path'"):
        list(visual_similarity(tmp_path, Random(0)))


@pytest.mark.parametrize("place", range(4))
def test_the_photograph_stands_in_its_place_with_its_bytes_unchanged(tmp_path, place):
    (draft,) = drafts(forensic_detection(forensics(tmp_path), Random(0)))
    shown = draft.show(place, draft.marks)
    assert shown.images[place] == (tmp_path / "real" / "a.png").read_bytes()
    assert len(set(shown.images)) == 4
    assert shown.options[place] == f"the {('first', 'second', 'third', 'fourth')[place]} image"
