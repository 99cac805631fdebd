import io
import json
from collections import Counter

import pytest
from PIL import Image

from bench_assets.suites.cogbench.assets.construction import edition_of
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.synthetic.edition import write
from bench_resources.datasets.source_files import SuiteSource
from tests.suites.cogbench.release import write_release


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    write(folder)
    return folder


@pytest.mark.long
def test_the_same_seed_writes_the_same_bytes_and_another_one_others(mini, tmp_path):
    for name, seed in (("two", 0), ("three", 1)):
        write(tmp_path / name, seed)
    one, two, three = (contents(folder) for folder in (mini, tmp_path / "two", tmp_path / "three"))
    assert one == two
    assert one.keys() == three.keys()
    assert one != three


def test_writing_again_touches_nothing(mini):
    before = {path: path.stat().st_mtime_ns for path in mini.rglob("*.*")}
    write(mini)
    assert {path: path.stat().st_mtime_ns for path in mini.rglob("*.*")} == before


def test_every_image_has_three_annotators_and_decodes_unless_it_is_torn(mini):
    entries = json.loads((mini / "annotations.json").read_text())
    annotated = Counter(entry["image"] for entry in entries)
    images = {path.name: path.read_bytes() for path in (mini / "images").iterdir()}
    assert annotated == dict.fromkeys(images, 3)
    assert len(set(images.values())) == len(images)
    for name, data in images.items():
        if name != "torn.png":
            with Image.open(io.BytesIO(data)) as image:
                assert image.size == (384, 288)


def test_the_annotators_differ_and_every_kind_occurs(mini):
    entries = json.loads((mini / "annotations.json").read_text())
    for kind in KINDS:
        assert sum(f"[{kind.field}]: None" not in entry["annotation"] for entry in entries) >= 24
    texts = [entry["annotation"] for entry in entries if entry["image"] != "torn.png"]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("is_mini", "raw", "whole", "edition"),
    [
        pytest.param(True, True, False, "mini", id="nothing is configured"),
        pytest.param(False, True, False, "built", id="raw annotations"),
        pytest.param(False, False, True, "published", id="the full set"),
        pytest.param(False, False, False, "own", id="the authors' five samples"),
    ],
)
def test_the_edition_is_that_of_the_source(tmp_path, is_mini, raw, whole, edition):
    if raw:
        (tmp_path / "images").mkdir()
        (tmp_path / "annotations.json").write_text("[]")
    else:
        write_release(tmp_path, {})
    assert edition_of(SuiteSource(folder=tmp_path, is_mini=is_mini), whole=whole) == edition
