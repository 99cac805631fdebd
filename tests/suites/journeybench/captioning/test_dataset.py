import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.assets.question_tables import image_questions
from bench_assets.suites.journeybench.captioning.dataset import (
    read_captioned_images,
    to_question,
)
from tests.fakes.rows import stored
from tests.suites.journeybench.release import CELLS, HOST, write_lines, write_release


def test_rows_of_the_release_are_split_into_captions_and_categories(tmp_path):
    cat, whale = read_captioned_images(
        write_release(tmp_path) / "unusual_image_caption_generation.jsonl"
    ).require()
    assert cat.captions == (
        "A cat drives a car.",
        "A cat in 2. gear.",
        "The car has a cat at its wheel.",
    )
    assert cat.categories == ("unexpected behavior",)
    assert whale.entry_id == "images.example.org/whale.png"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("caption.csv", 'url,captions\nu/a.png,"A cat\nA dog"\n', id="CSV"),
        pytest.param("caption.csv", "url,captions\nu/a.png,\"['A cat', 'A dog']\"\n", id="a list"),
        pytest.param(
            "caption.json", '[{"url": "u/a.png", "captions": ["A cat", "A dog"]}]', id="JSON"
        ),
    ],
)
def test_captions_in_other_forms_are_read(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)
    (row,) = read_captioned_images(file).require()
    assert (row.entry_id, row.captions) == ("u/a.png", ("A cat", "A dog"))


def test_a_row_without_captions_is_refused(tmp_path):
    file = tmp_path / "caption.jsonl"
    write_lines(file, {"url": "u/a.png", "captions": " "})
    with pytest.raises(SourceError, match=r"caption.jsonl, line 1: expected an address and capt"):
        read_captioned_images(file).require()


def test_an_image_with_captions_in_two_rows_gives_two_questions(tmp_path):
    file = tmp_path / "caption.jsonl"
    row = {"url": f"{HOST}/a.png", "captions": CELLS[1]}
    write_lines(file, row, row | {"captions": "A whale."})
    images = {row["url"]: stored("a")}
    table = image_questions(to_question, read_captioned_images(file).require(), images)
    first, second = table.rows
    assert first.question_id == "journeybench/captioning/images.example.org/a.png"
    assert first.answer == ("A whale flies over a town.", "A flying whale.")
    assert second.question_id == f"{first.question_id}/2"
    assert (second.answer, second.images) == (("A whale.",), first.images)


def test_a_row_without_its_image_is_rejected(tmp_path):
    file = tmp_path / "caption.jsonl"
    write_lines(file, {"url": f"{HOST}/b.png", "captions": CELLS[1]})
    table = image_questions(to_question, read_captioned_images(file).require(), {})
    (rejection,) = table.rejections
    assert rejection.entry == "images.example.org/b.png"
    assert rejection.reason == f"no image: {HOST}/b.png"
