"""What people annotate and review reaches CogBench's tables, beside what stands in files."""

import json

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer
from bench_assets.suites.cogbench.assets import construction as assets
from bench_assets.suites.cogbench.construction.annotation import ANNOTATION
from bench_assets.suites.cogbench.construction.annotation_files import AnnotatedItem
from tests.annotation.said import answer
from tests.home import Home

TEXT = "[Entities]: [cat]\n[Description]: A cat."


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "source"
    (folder / "images").mkdir(parents=True)
    entries = [{"image": "a.png", "annotator": who, "annotation": TEXT} for who in ("ana", "bo")]
    (folder / "annotations.json").write_text(json.dumps(entries))
    return Home(tmp_path / "home", "cogbench", folder)


def test_of_one_persons_two_annotations_of_a_image_the_answer_counts(home):
    said = [
        answer("a.png", "ana", entities=["dog"], description="A dog."),
        answer("a.png", "cem", entities=["cow"], description="A cow."),
    ]
    home.tables.write(ANNOTATION.table("answers").split("/"), said, Answer)
    home.materialize([assets.annotations], dg.AssetSelection.all())
    found = [
        (row.annotator, row.text)
        for row in home.read(AnnotatedItem, "annotations")
        if row.field == "Entities"
    ]
    assert found == [("ana", "dog"), ("bo", "cat"), ("cem", "cow")]
