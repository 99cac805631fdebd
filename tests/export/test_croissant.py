"""Croissant metadata, read by mlcroissant where it is installed."""

import hashlib
import json

import pytest

from bench_assets.export.formats import FORMATS
from tests.export.measured_home import LICENCE, NASTY, leaving

WRITE = FORMATS["croissant"].write


def described(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_of_a_release_nothing_is_passed_on_but_what_it_is(home):
    (path,) = WRITE(leaving(home, home / "out"))
    found = described(path)
    assert [file.name for file in path.parent.iterdir()] == ["croissant.json"]
    assert "What is 0" not in path.read_text(encoding="utf-8")
    assert (found["license"], found["url"]) == (
        *(LICENCE, "https://huggingface.co/datasets/org/quiz"),
    )
    (file,) = found["distribution"]
    table = home / file["contentUrl"]
    assert file["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()


def test_the_mini_edition_comes_with_its_questions(shown):
    table, path = WRITE(leaving(shown, shown / "out"))
    found = described(path)
    assert found["name"] == "quiz-mini"
    assert found["license"] == "https://www.apache.org/licenses/LICENSE-2.0"
    assert "url" not in found
    (file,) = found["distribution"]
    assert path.parent / file["contentUrl"] == table
    assert file["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()


@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_finds_nothing_wrong_and_reads_the_questions(shown):
    reader = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    _, path = WRITE(leaving(shown, shown / "out"))
    data = reader.Dataset(jsonld=path)
    assert not data.metadata.ctx.issues.errors
    first = next(iter(data.records("questions")))
    assert first["questions/text"].decode() == f"What is 0? {NASTY}"
    assert [one.decode() for one in first["questions/options"]] == [NASTY, "- minus"]


@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_finds_nothing_wrong_where_no_questions_come(home):
    reader = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    (path,) = WRITE(leaving(home, home / "out"))
    assert not reader.Dataset(jsonld=path).metadata.ctx.issues.errors
