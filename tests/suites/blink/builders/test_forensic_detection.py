from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.forensic_detection import build
from tests.suites.blink.builders.layouts import drafts, image, write_lines


def forensics(folder, **fields):
    names = ["real/a.png", "generated/a1.png", "generated/a2.png", "generated/a3.png"]
    for nth, name in enumerate(names):
        image(folder / name, colour=(nth, nth, nth))
    entry = {"id": "a", "caption": "a red bus", "real": names[0], "generated": names[1:]} | fields
    write_lines(folder / "captions.jsonl", [entry])
    return folder


@pytest.mark.parametrize("place", range(4))
def test_the_photograph_stands_in_its_place_with_its_bytes_unchanged(tmp_path, place):
    (draft,) = drafts(build(forensics(tmp_path), Random(0)))
    shown = draft.show(place, draft.marks)
    assert shown.images[place] == (tmp_path / "real" / "a.png").read_bytes()
    assert len(set(shown.images)) == 4
    assert shown.options[place] == f"the {('first', 'second', 'third', 'fourth')[place]} image"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"generated": ["generated/a1.png"]}, "line 1: field 'generated'", id="one"),
        pytest.param({"generated": [1, 2, 3]}, "line 1: field 'generated'", id="numbers"),
        pytest.param({"real": 4}, "captions.jsonl, line 1: field 'real' is 4", id="no path"),
    ],
)
def test_an_entry_of_another_form_is_named(tmp_path, fields, complaint):
    with pytest.raises(SourceError, match=complaint):
        list(build(forensics(tmp_path, **fields), Random(0)))
