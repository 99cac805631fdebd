from collections import Counter
from pathlib import Path

import pytest

from bench_assets.suites.multi.construction.decisions import read_annotations
from bench_assets.suites.multi.construction.item_checks import defects
from bench_assets.suites.multi.construction.markup import convert_item
from bench_assets.suites.multi.dataset.source import (
    find_release,
    read_image_texts,
    read_items,
    read_knowledge,
)
from bench_assets.suites.multi.prompts import IMAGE_TOKEN
from bench_assets.suites.multi.synthetic import edition as mini


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    mini.write(folder)
    return folder


def contents(folder: Path):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_seed_writes_the_same_bytes_and_leaves_them_alone(folder, tmp_path):
    mini.write(tmp_path)
    assert contents(tmp_path) == contents(folder)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.png")}
    mini.write(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.png")} == before


def test_another_seed_has_other_opinions_and_the_same_problems(folder, tmp_path):
    mini.write(tmp_path, seed=1)
    changed = {str(p) for p, data in contents(tmp_path).items() if contents(folder)[p] != data}
    assert changed == {"annotations.json"}


def test_it_is_as_rich_as_the_issue_asks(folder):
    items = read_items(find_release(folder)).require()
    assert len(items) >= 60
    assert set(Counter(item.type for item in items)) == {"SA", "MA", "FB", "OP", "Other"}
    prepared = [convert_item(item).item for item in items]
    images = Counter(len(IMAGE_TOKEN.findall(item.text)) for item in prepared)
    assert {0, 1, 2, 3, 4} <= set(images)
    assert {item.format for item in items} == {"html", "markdown", "text"}
    assert Counter(item.problem_id for item in items).most_common(1)[0][1] == 3
    levels = {item.education for item in items}
    assert levels == {"初中", "高中", "大学", "社会"}


def test_knowledge_comes_with_and_without_images(folder):
    pieces = {
        piece.name: piece for piece in read_knowledge(find_release(folder)).require()
    }.values()
    assert {bool(piece.images) for piece in pieces} == {True, False}


def test_every_image_that_is_not_planted_has_a_caption(folder):
    release = find_release(folder)
    texts = dict(read_image_texts(release.captions).require())
    shown = {name for item in read_items(release).require() for name in item.images}
    assert shown - texts.keys() == {"czsx/85_1.png", "czsx/86_1.png"}


def test_only_the_planted_items_have_defects_a_rule_can_see(folder):
    release = find_release(folder)
    broken = {
        item.item_id
        for raw in read_items(release).require()
        for item in [convert_item(raw).item]
        if defects(item)
    }
    assert broken == {f"czsx_{n}_0" for n in (80, 81, 82, 83, 84, 87)}


def test_every_item_is_annotated_in_both_rounds(folder):
    release = find_release(folder)
    annotated = Counter(one.item_id for one in read_annotations(release.annotations).require())
    assert annotated == Counter({item.item_id: 2 for item in read_items(release).require()})
