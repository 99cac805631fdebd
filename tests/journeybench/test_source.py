"""Which files of a folder are which, and which of its pictures an address means."""

import pytest

from bench_assets.core.errors import SourceError
from bench_assets.journeybench.source import (
    picture_addresses,
    picture_files,
    published_files,
    read_records,
    source_files,
    texts,
)
from tests.journeybench.release import HOST, write_lines, write_release


def test_tables_are_found_by_their_names(tmp_path):
    found = published_files(write_release(tmp_path / "source"))
    assert {table: file.name for table, file in found.items()} == {
        "captioning": "unusual_image_caption_generation.jsonl",
        "text_positives": "i2t_positive.jsonl",
        "text_negatives": "i2t_negative.jsonl",
        "image_distractors": "t2i.jsonl",
        "hallucination_vqa": "haloquest-eval.csv",
    }
    assert published_files(tmp_path) == {}


def test_every_file_is_pinned_and_hidden_ones_are_none(tmp_path):
    folder = write_release(tmp_path / "source")
    (folder / ".DS_Store").write_bytes(b"\xff")
    names = [file.path for file in source_files(folder)]
    assert names == sorted(names)
    assert len(names) == 5 + 5


def test_addresses_of_all_tables_come_once(tmp_path):
    files = published_files(write_release(tmp_path / "source")).values()
    assert sorted(picture_addresses(files)) == sorted(
        f"{HOST}/{name}.png" for name in ("cat%20car", "whale", "dog%20car", "shark", "lost")
    )


def test_a_picture_is_known_by_the_address_that_it_ends_else_by_its_name(tmp_path):
    folder = write_release(tmp_path / "source")
    (folder / "images" / "a%2Fb.png").write_bytes(b"1")
    addresses = [f"{HOST}/cat%20car.png", "http://other/a%2Fb.png?size=1", f"{HOST}/lost.png"]
    found = {name: file.name for name, file in picture_files(folder, addresses).items()}
    assert found == {
        addresses[0]: "cat car.png",
        addresses[1]: "a%2Fb.png",
        **{f"{name}.png": f"{name}.png" for name in ("whale", "dog car", "shark", "moon")},
    }


def test_a_picture_that_leaves_the_folder_is_refused(tmp_path):
    folder = write_release(tmp_path / "source")
    (tmp_path / "secret.png").write_bytes(b"1")
    (folder / "images" / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(SourceError, match=r"link\.png: leaves the folder"):
        picture_files(folder)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param("a", ["a"], id="one text"),
        pytest.param([" a ", "", "b"], ["a", "b"], id="a list"),
        pytest.param("['a', 'b']", ["a", "b"], id="a list as Python writes it"),
        pytest.param('["a", "b"]', ["a", "b"], id="a list as JSON writes it"),
        pytest.param("[a cat", ["[a cat"], id="a text that begins like a list"),
        pytest.param(None, [], id="nothing"),
    ],
)
def test_fields_that_hold_one_or_several_texts(written, read):
    assert texts({"field": written}, "field") == read


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        pytest.param("mcot.csv", b"a,b\n1,2,3\n", "line 2: 3 cells, expected 2", id="a long line"),
        pytest.param("mcot.csv", b"a\n\xff\n", "not CSV in UTF-8", id="other bytes"),
        pytest.param("mcot.jsonl", b'{"a": 1\n', "line 1: not JSON, or cut short", id="cut short"),
        pytest.param("mcot.json", b'{"a": 1}', "expected a list of entries", id="no list"),
    ],
)
def test_files_that_are_not_whole_are_refused(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=complaint):
        list(read_records(tmp_path / name))


def test_rows_come_with_where_they_stand(tmp_path):
    write_lines(tmp_path / "t2i.jsonl", {"a": "1"}, {"a": "2"})
    rows = list(read_records(tmp_path / "t2i.jsonl"))
    assert [(row["a"], where.rsplit(", ")[-1]) for row, where in rows] == [
        ("1", "line 1"),
        ("2", "line 2"),
    ]
