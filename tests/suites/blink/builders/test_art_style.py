from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.art_style import build
from tests.suites.blink.builders.layouts import drafts, image


def wikiart(folder, **styles):
    for style, n in styles.items():
        for nth in range(n):
            image(folder / style / f"{nth}.jpg")
    return folder


@pytest.mark.parametrize("seed", range(8))
def test_reference_and_right_option_share_a_style_that_the_other_does_not(tmp_path, seed):
    for draft in drafts(build(wikiart(tmp_path, Cubism=5, Pop_Art=5, Realism=5), Random(seed))):
        reference, alike, unlike = (file.parent.name for file in draft.originals)
        assert reference == alike != unlike


def test_every_painting_is_used_once(tmp_path):
    made = drafts(build(wikiart(tmp_path, Cubism=9, Pop_Art=9), Random(0)))
    used = [file for draft in made for file in draft.originals]
    assert len(used) == len(set(used)) >= 15


def test_kindred_styles_are_not_set_against_each_other(tmp_path):
    assert drafts(build(wikiart(tmp_path, Impressionism=6, Pointillism=6), Random(0))) == []


def test_one_style_alone_is_named(tmp_path):
    with pytest.raises(SourceError, match="expected paintings in folders of two styles or more"):
        list(build(wikiart(tmp_path, Cubism=6), Random(0)))
