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
from bench_assets.suites.blink.builders.image_choices import (
    forensic_detection,
    jigsaw,
    visual_similarity,
)
from bench_assets.suites.blink.builders.multi_view_reasoning import multi_view_reasoning
from bench_assets.suites.blink.builders.object_localization import object_localization
from bench_assets.suites.blink.builders.raw_files import read_arrays
from bench_assets.suites.blink.builders.whole_images import counting, iq_test, spatial_relation
from bench_assets.suites.blink.construction.recipes import RECIPES
from tests.cases import read_rows
from tests.suites.blink.builders import layouts
from tests.suites.blink.builders.layouts import drafts, rejection_reasons

ROTATION = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 2.5]])


class CallWhenUnpickled:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def read_pickled(folder, value, protocol=4):
    """Read a value from a pickle of it; bytes are the content of the file."""
    file = folder / "poses.pkl"
    file.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol))
    return read_arrays(file)


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(ROTATION, id="an array"),
        pytest.param(np.asfortranarray(ROTATION), id="one by columns"),
        pytest.param(np.array([1, -2], ">i2"), id="the other byte order"),
        pytest.param(np.float32(0.5), id="one number of NumPy"),
        pytest.param(np.array(7), id="an array without axes"),
        pytest.param(np.empty((0, 3)), id="an empty array"),
        pytest.param(ROTATION[::2, ::2], id="a part of an array"),
    ],
)
@pytest.mark.parametrize("protocol", range(6))
def test_arrays_are_read_as_they_were_written(tmp_path, array, protocol):
    (loaded,) = read_pickled(tmp_path, [array], protocol)
    assert np.asarray(loaded).tolist() == array.tolist()
    assert np.shape(loaded) == np.shape(array)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(np.array([{}]), id="an array of objects"),
        pytest.param(np.array([(1, 2.0)], "i4,f8"), id="an array of records"),
        pytest.param(CallWhenUnpickled(os.system, "true"), id="a command"),
        pytest.param(CallWhenUnpickled(eval, "1"), id="a program"),
        pytest.param(b"\x80\x04K\x01r\xff\xff\xff\x7f.", id="a memo of two thousand million"),
        pytest.param(b"\x80\x05\x96" + b"\0\0\0\0\0\1\0\0.", id="a tebibyte to come"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"Once upon a time", id="a text"),
        pytest.param(pickle.dumps(ROTATION)[:-20], id="a torn pickle"),
    ],
)
def test_any_other_pickle_is_an_error_that_names_the_file(tmp_path, value):
    with pytest.raises(SourceError, match=r"poses\.pkl: not a pickle of plain data and arrays: ."):
        read_pickled(tmp_path, value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.pkl: cannot be read"):
        read_arrays(tmp_path / "gone.pkl")


BUILDERS = {recipe.build.__name__: recipe.build for recipe in RECIPES.values()}


@pytest.mark.parametrize(
    ("build", "layout", "fields", "expected_reason"),
    [
        *read_rows(__file__, "faults.jsonl"),
        (
            "multi_view_reasoning",
            "write_annotations",
            {"content": CallWhenUnpickled(print, "code ran")},
            "it refers to",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_faulty_entry_is_rejected_with_its_reason(
    tmp_path, capsys, build, layout, fields, expected_reason
):
    write_source = getattr(layouts, layout)
    candidates = list(BUILDERS[build](write_source(tmp_path, **fields), Random(0)))
    assert drafts(candidates) == []
    assert expected_reason in rejection_reasons(candidates)[0]
    assert capsys.readouterr().out == ""  # nothing in a pickle is run


def append_text(name, text):
    def spoil(folder):
        with (folder / name).open("a") as file:
            file.write(text)

    return spoil


def insert_row(name, row, field=None):
    def spoil(folder):
        content = json.loads((folder / name).read_text())
        rows = content[field] if field else content
        rows.insert(0, row)
        (folder / name).write_text(json.dumps(content))

    return spoil


def add_file(name, data):
    def spoil(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    return spoil


POSES = "test_set/pkl_annotations/mug/mug-0002-2.pkl"
TORN = pickle.dumps({"annotations": [1, 2, 3]}, 5)[:-4]
FAULTS = [  # of a raw folder that has one good row
    (visual_similarity, layouts.write_nights, append_text("data.csv", "6,1,0\n")),
    (forensic_detection, layouts.write_forensics, append_text("captions.jsonl", '{"id": "b"\n')),
    (counting, layouts.write_tallyqa, insert_row("test.json", {"answer": "3"})),
    (iq_test, layouts.write_puzzles, append_text("puzzles.jsonl", "[]\n")),
    (
        spatial_relation,
        layouts.write_vsr,
        append_text("all_vsr_validated_data.jsonl", '{"label": 1}\n'),
    ),
    (relative_depth, layouts.write_diw, append_text("DIW_test.csv", "b.png\n1,2,3,4,=,400,512\n")),
    (relative_reflectance, layouts.write_iiw, add_file("data/9.json", b"{")),
    (functional_correspondence, layouts.write_funkpoint, insert_row("annotations.json", [1])),
    (semantic_correspondence, layouts.write_spair, add_file("PairAnnotation/test/2.json", b"[]")),
    (visual_correspondence, layouts.write_hpatches, add_file("v_empty/1.ppm", b"torn")),
    (jigsaw, layouts.write_photographs, add_file("torn.jpg", b"not a picture")),
    (multi_view_reasoning, layouts.write_turning_camera, add_file(POSES, TORN)),
    (object_localization, layouts.write_lvis, insert_row("lvis_v1_val.json", 7, "annotations")),
]


@pytest.mark.parametrize(
    ("build", "write_source", "spoil"), FAULTS, ids=[build.__name__ for build, *_ in FAULTS]
)
def test_a_bad_row_is_rejected_and_the_good_one_becomes_a_draft(
    tmp_path, build, write_source, spoil
):
    spoil(write_source(tmp_path))
    candidates = list(build(tmp_path, Random(0)))
    assert len(drafts(candidates)) == 1
    assert len(rejection_reasons(candidates)) == 1
