import json
from collections import Counter
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites import multi
from bench_assets.suites.multi.dataset.source import (
    Knowledge,
    find_release,
    read_hard_list,
    read_image_texts,
    read_items,
    read_knowledge,
    source_files,
)
from tests.cases import read_cases

PROBLEM = {
    "problem_content": "观察下图[IMAGE_1]",
    "problem_content_list": ["图中是[MASK]\nA. 猫\nB. 狗", "它有[MASK]条腿"],
    "problem_type_list": ["单选", "填空"],
    "problem_answer_list": ["B", "4\n"],
    "problem_analysis_list": ["见图", ""],
    "img_paths": ["../data/images/czsw/502_1.png"],
    "knowledge": ["动物", "腿"],
    "education": "初中",
    "subject": ["生物", "科学"],
    "difficulty": 2,
    "quality": 4.5,
}


def write_release(folder, problems):
    text = json.dumps(problems, ensure_ascii=False)
    (folder / "problem_v1.3.1_20241210.json").write_text(text, encoding="utf-8")
    return find_release(folder)


def test_every_sub_question_is_an_item(tmp_path):
    first, second = read_items(write_release(tmp_path, {"czsw_0": PROBLEM})).require()
    assert (first.item_id, second.item_id) == ("czsw_0_0", "czsw_0_1")
    assert first.text == "观察下图[IMAGE_1]\n图中是[MASK]\nA. 猫\nB. 狗"
    assert (first.type, first.answer, second.type, second.answer) == ("SA", "B", "FB", "4")
    assert (first.analysis, first.images, first.knowledge) == (
        "见图",
        ("czsw/502_1.png",),
        ("动物", "腿"),
    )
    assert (first.education, first.subject, first.difficulty) == ("初中", "生物", "2")
    assert first.quality == "4.5"


@pytest.mark.parametrize(
    ("change", "field", "expected"), read_cases(__file__, "irregular_fields.jsonl", tuples=True)
)
def test_irregular_fields_of_the_real_files_are_read(tmp_path, change, field, expected):
    first, _ = read_items(write_release(tmp_path, {"czsw_0": PROBLEM | change})).require()
    assert getattr(first, field) == expected


@pytest.mark.parametrize(
    ("change", "expected_message"), read_cases(__file__, "faulty_problems.jsonl")
)
def test_a_faulty_problem_is_refused_with_file_and_entry(tmp_path, change, expected_message):
    with pytest.raises(SourceError) as caught:
        read_items(write_release(tmp_path, {"czsw_0": PROBLEM | change})).require()
    assert "problem_v1.3.1_20241210.json, entry czsw_0" in str(caught.value)
    assert expected_message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected_message"),
    [
        pytest.param('{"a": 1, "a": 2}', "duplicate field 'a'", id="an id twice"),
        pytest.param(
            json.dumps([{"problem_id": "a", **PROBLEM}] * 2), "duplicate id 'a'", id="in a list"
        ),
        pytest.param('{"a": ', "not JSON, or cut short", id="cut short"),
        pytest.param('"a"', "expected an object or a list", id="a text at the top"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, expected_message):
    (tmp_path / "problem_v1.json").write_text(text)
    with pytest.raises(SourceError, match=r"problem_v1\.json.*") as caught:
        read_items(find_release(tmp_path)).require()
    assert expected_message in str(caught.value)


@pytest.mark.parametrize(
    ("files", "expected_message"), read_cases(__file__, "unusable_folders.jsonl")
)
def test_a_folder_that_is_not_one_release_is_refused(tmp_path, files, expected_message):
    for name in files:
        (tmp_path / name).write_text("{}")
    with pytest.raises(SourceError, match=expected_message):
        find_release(tmp_path)


@pytest.fixture
def release(tmp_path):
    """A release of one problem with knowledge, a hard list and captions."""
    piece = {"knowledge_content": "见[IMAGE_1]", "knowledge_images": ["../data/images/k/1.png"]}
    (tmp_path / "knowledge_v1.json").write_text(json.dumps({"动物": piece}))
    (tmp_path / "hard_list_v1.json").write_text('["czsw_0_1"]')
    (tmp_path / "captions_v1_blip.csv").write_text("../data/images/czsw/1.png,a cat, asleep\n")
    return write_release(tmp_path, {"czsw_0": PROBLEM})


def test_knowledge_is_read_with_its_images(release):
    piece = Knowledge(name="动物", content="见[IMAGE_1]", images=("k/1.png",))
    assert read_knowledge(release).require() == [piece]


def test_a_hard_list_has_the_ids_of_items(release):
    assert read_hard_list(release.hard_list).require() == ["czsw_0_1"]


def test_a_caption_begins_after_the_first_comma(release):
    assert read_image_texts(release.captions).require() == [("czsw/1.png", "a cat, asleep")]


def test_each_file_of_a_release_is_pinned(release):
    assert [file.path for file in source_files(release)] == [
        "captions_v1_blip.csv",
        "hard_list_v1.json",
        "knowledge_v1.json",
        "problem_v1.3.1_20241210.json",
    ]


def test_a_hard_list_without_one_text_is_an_error(tmp_path):
    file = tmp_path / "hard_list_v1.json"
    file.write_text("[5]")
    with pytest.raises(SourceError, match=r"hard_list_v1\.json: expected a list of texts"):
        read_hard_list(file)


ROWS = read_published(Path(multi.__file__).with_name("published.csv"))


def test_published_numbers_have_all_cells_of_the_tables():
    """Of Table 6 all but NI and the column with the images, which are in Table 3."""
    assert Counter(row.source for row in ROWS) == {
        "MULTI, Table 3": 11 * 4,
        "MULTI, Table 4": 11 * 5,
        "MULTI, Table 5": 11 * 5,
        "MULTI, Table 6": 8 * 6,
        "MULTI, Table 7": 11 * 8,
        "MULTI, Table 8": 4,
    }
