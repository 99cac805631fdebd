"""What is read of a folder, and what is said of one that lacks something."""

import json

import pytest

from bench_assets.core.schema.errors import SourceError
from hallusion_bench.source import find_release, image_files, read_asked

ENTRY = {
    "category": "VD",
    "subcategory": "illusion",
    "visual_input": "1",
    "set_id": "14",
    "figure_id": "0",
    "sample_note": "square",
    "question_id": "3",
    "question": "Is it a square?",
    "gt_answer_details": "Yes, it is.",
    "gt_answer": "1",
    "filename": "./VD/illusion/14_0.png",
}


def write(folder, *entries, images="VD"):
    (folder / images).mkdir(parents=True)
    (folder / "HallusionBench.json").write_text(json.dumps(entries))
    return find_release(folder)


@pytest.mark.parametrize(
    ("filename", "image"),
    [
        pytest.param("./VD/illusion/14_0.png", "VD/illusion/14_0.png", id="as in the release"),
        pytest.param(
            "./hallusion_bench/VD/illusion/14_0.png", "VD/illusion/14_0.png", id="as in the README"
        ),
        pytest.param(None, "", id="without a figure"),
        pytest.param("", "", id="with an empty name"),
    ],
)
def test_an_entry_is_read_with_the_path_of_its_figure(tmp_path, filename, image):
    (one,) = read_asked(write(tmp_path, ENTRY | {"filename": filename}))
    assert (one.name, one.answer, one.image) == ("VD/illusion/14/0/3", "1", image)
    assert (one.pair, one.figure) == ("VD/illusion/14/3", "VD/illusion/14/0")


@pytest.mark.parametrize(
    "images", [pytest.param("VD", id="beside"), pytest.param("hallusion_bench/VD", id="unpacked")]
)
def test_figures_lie_beside_the_entries_or_as_the_zip_unpacks(tmp_path, images):
    release = write(tmp_path, ENTRY, images=images)
    file = tmp_path / images / "illusion" / "14_0.png"
    assert image_files(release, read_asked(release)) == {}
    file.parent.mkdir()
    file.touch()
    assert image_files(release, read_asked(release)) == {"VD/illusion/14_0.png": file}


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        pytest.param(
            {"filename": "../../secret.png"},
            "secret.png' is outside the folder",
            id="a path outside",
        ),
        pytest.param({"filename": 3}, "entry 1.*'filename' is 3", id="a number for a name"),
        pytest.param({"gt_answer": 1}, "entry 1.*'gt_answer' is 1", id="a number for an answer"),
    ],
)
def test_an_entry_of_another_form_is_named(tmp_path, entry, complaint):
    release = write(tmp_path, ENTRY | entry)
    with pytest.raises(SourceError, match=complaint):
        image_files(release, read_asked(release))


def test_a_folder_without_entries_or_figures_says_what_to_put_there(tmp_path):
    with pytest.raises(SourceError, match=r"no HallusionBench\.json; copy it there"):
        find_release(tmp_path)
    (tmp_path / "HallusionBench.json").write_text("[]")
    with pytest.raises(SourceError, match=r"no figures: .* unpack the authors' hallusion_bench\."):
        find_release(tmp_path)
