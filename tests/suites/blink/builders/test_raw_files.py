"""Pickles of the raw data: arrays of every protocol are read, and nothing in them is run."""

import json
import os
import pickle
from random import Random

import numpy as np
import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.circled_points import relative_depth, relative_reflectance
from bench_assets.suites.blink.builders.correspondences import (
    functional_correspondence,
    semantic_correspondence,
    visual_correspondence,
)
from bench_assets.suites.blink.builders.drafts import Draft
from bench_assets.suites.blink.builders.image_choices import (
    forensic_detection,
    jigsaw,
    visual_similarity,
)
from bench_assets.suites.blink.builders.multi_view_reasoning import multi_view_reasoning
from bench_assets.suites.blink.builders.object_localization import object_localization
from bench_assets.suites.blink.builders.raw_files import read_arrays
from bench_assets.suites.blink.builders.whole_images import counting, iq_test, spatial_relation
from tests.cases import read_rows
from tests.suites.blink.builders import layouts
from tests.suites.blink.builders.layouts import drafts, reasons

ROTATION = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 2.5]])


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function, *args):
        self.made_by = (function, args)

    def __reduce__(self):
        return self.made_by


@pytest.fixture
def read(tmp_path):
    def of(value, protocol=4):
        file = tmp_path / "poses.pkl"
        file.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol))
        return read_arrays(file)

    return of


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(ROTATION, id="an array"),
        pytest.param(np.asfortranarray(ROTATION), id="one by columns"),
        pytest.param(np.array([1, -2], ">i2"), id="the other byte order"),
        pytest.param(np.float32(0.5), id="one number of NumPy"),
        pytest.param(np.array(7), id="an array without a shape"),
        pytest.param(np.empty((0, 3)), id="an empty array"),
        pytest.param(ROTATION[::2, ::2], id="a part of an array"),
    ],
)
@pytest.mark.parametrize("protocol", range(6))
def test_arrays_are_read_as_they_were_written(read, array, protocol):
    (found,) = read([array], protocol)
    assert np.asarray(found).tolist() == array.tolist()
    assert np.shape(found) == np.shape(array)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(np.array([{}]), id="an array of objects"),
        pytest.param(np.array([(1, 2.0)], "i4,f8"), id="an array of records"),
        pytest.param(Calls(os.system, "true"), id="a command"),
        pytest.param(Calls(eval, "1"), id="a program"),
        pytest.param(b"\x80\x04K\x01r\xff\xff\xff\x7f.", id="a memo of two thousand million"),
        pytest.param(b"\x80\x05\x96" + b"\0\0\0\0\0\1\0\0.", id="a tebibyte to come"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"Once upon a time", id="a text"),
        pytest.param(pickle.dumps(ROTATION)[:-20], id="a torn pickle"),
    ],
)
def test_anything_else_is_an_error_of_that_file(read, value):
    with pytest.raises(SourceError, match=r"poses\.pkl: not a pickle of plain data and arrays: ."):
        read(value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.pkl: cannot be read"):
        read_arrays(tmp_path / "gone.pkl")


BUILDERS = {
    build.__name__: build
    for build in (
        counting,
        forensic_detection,
        functional_correspondence,
        iq_test,
        multi_view_reasoning,
        object_localization,
        relative_depth,
        relative_reflectance,
        semantic_correspondence,
        spatial_relation,
        visual_correspondence,
        visual_similarity,
    )
}


@pytest.mark.parametrize(
    ("build", "layout", "fields", "complaint"),
    [
        *read_rows(__file__, "faults.jsonl"),
        (
            "multi_view_reasoning",
            "annotated",
            {"content": Calls(print, "code ran")},
            "it refers to",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_reason_says_what_is_wrong(tmp_path, capsys, build, layout, fields, complaint):
    made = list(BUILDERS[build](getattr(layouts, layout)(tmp_path, **fields), Random(0)))
    assert drafts(made) == []
    assert complaint in reasons(made)[0]
    assert capsys.readouterr().out == ""  # nothing in a pickle is run


def append(name, text):
    def spoil(folder):
        with (folder / name).open("a") as file:
            file.write(text)

    return spoil


def insert(name, entry, at=None):
    def spoil(folder):
        content = json.loads((folder / name).read_text())
        (content[at] if at else content).insert(0, entry)
        (folder / name).write_text(json.dumps(content))

    return spoil


def add(name, data):
    def spoil(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    return spoil


POSES = "test_set/pkl_annotations/mug/mug-0002-2.pkl"
TORN = pickle.dumps({"annotations": [1, 2, 3]}, 5)[:-4]
BESIDE = [
    (visual_similarity, layouts.nights, append("data.csv", "6,1,0\n")),
    (forensic_detection, layouts.forensics, append("captions.jsonl", '{"id": "b"\n')),
    (counting, layouts.tallyqa, insert("test.json", {"answer": "3"})),
    (iq_test, layouts.puzzles, append("puzzles.jsonl", "[]\n")),
    (spatial_relation, layouts.vsr, append("all_vsr_validated_data.jsonl", '{"label": 1}\n')),
    (relative_depth, layouts.diw, append("DIW_test.csv", "b.png\n1,2,3,4,=,400,512\n")),
    (relative_reflectance, layouts.iiw, add("data/9.json", b"{")),
    (functional_correspondence, layouts.funkpoint, insert("annotations.json", [1])),
    (semantic_correspondence, layouts.spair, add("PairAnnotation/test/2.json", b"[]")),
    (visual_correspondence, layouts.hpatches, add("v_empty/1.ppm", b"torn")),
    (jigsaw, layouts.photographs, add("torn.jpg", b"not a picture")),
    (multi_view_reasoning, layouts.turn_around, add(POSES, TORN)),
    (object_localization, layouts.lvis, insert("lvis_v1_val.json", 7, "annotations")),
]


@pytest.mark.parametrize(
    ("build", "layout", "spoil"), [pytest.param(*one, id=one[0].__name__) for one in BESIDE]
)
def test_a_bad_row_costs_that_row(tmp_path, build, layout, spoil):
    spoil(layout(tmp_path))
    made = list(build(tmp_path, Random(0)))
    assert [isinstance(one, Draft) for one in made].count(True) == 1
    assert len(reasons(made)) == 1
