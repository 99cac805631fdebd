import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.multi_image_vqa import task
from bench_assets.suites.journeybench.multi_image_vqa.dataset import read_multi_image, to_questions
from bench_assets.suites.journeybench.multi_image_vqa.task import TASK
from tests.fakes.rows import question, stored

ROW = {
    "": "",
    "url1": "https://host/a.png",
    "url2": "https://host/b.png",
    "question": "How many cups are there in both images?",
    "External_Knowledge": "0",
    "answer": "7",
    "prompt1": "3 cups",
    "prompt2": "4 cups",
    "solution": "",
    "image1": "",
    "image2": "",
}
IMAGES = {url: stored(url) for url in ("https://host/a.png", "https://host/b.png")}


def write_and_read(folder, *rows):
    file = folder / "multi_image_vqa.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_multi_image(file).require()


@pytest.mark.parametrize(
    ("change", "category"),
    [
        pytest.param({}, "Arithmetic Reasoning", id="not flagged"),
        pytest.param({"External_Knowledge": "1"}, "External Knowledge", id="flagged"),
        pytest.param({"answer": "image1"}, "Cause and Effect", id="an image is the answer"),
        pytest.param(
            {"answer": "Image 2", "External_Knowledge": ""},
            "Cause and Effect",
            id="an image in another spelling",
        ),
    ],
)
def test_the_category_comes_from_flag_and_answer(tmp_path, change, category):
    (item,) = write_and_read(tmp_path, ROW | change)
    assert item.category == category


def test_an_unknown_flag_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="line 1: External_Knowledge is 'yes'"):
        write_and_read(tmp_path, ROW | {"External_Knowledge": "yes"})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"question": ""}, "question is empty", id="no question"),
        pytest.param({"answer": "\n; "}, "answer is empty", id="no answer"),
        pytest.param({"url2": "x/c.png"}, "missing or not decoding: x/c.png", id="no image"),
    ],
)
def test_an_incomplete_row_is_rejected_with_the_reason(tmp_path, change, reason):
    table = to_questions(write_and_read(tmp_path, ROW | change), IMAGES)
    assert table.rows == []
    (rejection,) = table.rejections
    assert reason in rejection.reason


def test_cause_and_effect_offers_both_images(tmp_path):
    table = to_questions(write_and_read(tmp_path, ROW | {"answer": "Image 2"}), IMAGES)
    (pair,) = table.rows
    assert (pair.options, pair.answer) == (("image1", "image2"), ("image2",))
    assert "image1 or image2" in str(task.main(pair).turns[0].parts[-1])


def test_mmcot_is_arithmetic_and_knowledge_without_cause_and_effect():
    categories = ("Arithmetic Reasoning", "External Knowledge", "Cause and Effect")
    in_mmcot = ["MMCOT" in TASK.slices(question(category=category)) for category in categories]
    assert in_mmcot == [True, True, False]
