"""The mini edition keeps the rules of the paper, and its faults are found."""

from hashlib import sha256

import pytest

from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.codis.dataset import (
    find_release,
    read_pairs,
    read_votes,
    to_questions,
)
from bench_assets.suites.codis.synthetic import write
from bench_assets.suites.codis.votes import (
    decide_submissions,
    select_pairs,
)
from tests.fakes.fair_exam import unfair
from tests.fakes.rows import stored


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_same_seed_writes_the_same_bytes_and_another_one_others(tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        write(tmp_path / name, seed)
    one, two, three = (contents(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert one.keys() == three.keys()
    assert one != three


SEEDS = range(5)


@pytest.fixture(scope="module")
def exams(tmp_path_factory):
    """The questions of five mini editions."""
    exams = []
    for seed in SEEDS:
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        write(folder, seed)
        release = find_release(folder)
        images = {}
        for name, file in image_files(release.images).items():
            data = file.read_bytes()
            images[name] = stored(name, sha256(data).hexdigest(), len(data))
        pairs = read_pairs(release).rows
        kept = select_pairs(
            pairs, decide_submissions(pairs, read_votes(release).rows), set(images) - {"torn.png"}
        ).rows
        exams.append(to_questions(kept, images, "mini"))
    return exams


def test_no_category_can_be_passed_without_its_images(exams):
    for category in {question.category for question in exams[0]}:
        of_category = [[q for q in exam if q.category == category] for exam in exams]
        assert unfair(of_category) == {}, category
