import io
import json
from collections import Counter

from PIL import Image

from bench_assets.suites.cogbench.kinds import KINDS
from bench_assets.suites.cogbench.mini.edition import write


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_same_seed_writes_the_same_bytes_and_another_one_others(tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        write(tmp_path / name, seed)
    one, two, three = (contents(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert one.keys() == three.keys()
    assert one != three


def test_writing_again_touches_nothing(tmp_path):
    write(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    write(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == before


def test_every_picture_has_three_annotators_and_decodes_unless_it_is_torn(tmp_path):
    write(tmp_path)
    entries = json.loads((tmp_path / "annotations.json").read_text())
    annotated = Counter(entry["image"] for entry in entries)
    pictures = {path.name: path.read_bytes() for path in (tmp_path / "images").iterdir()}
    assert annotated == dict.fromkeys(pictures, 3)
    assert len(set(pictures.values())) == len(pictures)
    for name, data in pictures.items():
        if name != "torn.png":
            with Image.open(io.BytesIO(data)) as picture:
                assert picture.size == (384, 288)


def test_the_annotators_differ_and_every_kind_occurs(tmp_path):
    write(tmp_path)
    entries = json.loads((tmp_path / "annotations.json").read_text())
    for kind in KINDS:
        assert sum(f"[{kind.field}]: None" not in entry["annotation"] for entry in entries) >= 24
    texts = [entry["annotation"] for entry in entries if entry["image"] != "torn.png"]
    assert len(set(texts)) == len(texts)
