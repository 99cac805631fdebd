from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.iq_test import build
from tests.suites.blink.builders.layouts import drafts, image, write_lines


def puzzles(folder, **fields):
    image(folder / "images" / "p.png")
    entry = {"id": "p", "image": "images/p.png", "answer": "C", "explanation": "It turns."} | fields
    write_lines(folder / "puzzles.jsonl", [entry])
    return folder


def test_the_answer_is_the_letter_in_the_image(tmp_path):
    (draft,) = drafts(build(puzzles(tmp_path), Random(0)))
    assert draft.places == (2,)
    assert draft.labels == {"explanation": "It turns."}
    assert draft.show(2, draft.marks).options == (
        "picture A", "picture B", "picture C", "picture D",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"answer": "E"}, "puzzles.jsonl, line 1: field 'answer' is 'E'", id="E"),
        pytest.param({"explanation": None}, "line 1: field 'explanation' is None", id="none"),
    ],
)
def test_an_entry_of_another_form_is_named(tmp_path, fields, complaint):
    with pytest.raises(SourceError, match=complaint):
        list(build(puzzles(tmp_path, **fields), Random(0)))
