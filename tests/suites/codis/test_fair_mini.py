"""No question of the mini edition can be answered without its image and context."""

from hashlib import sha256

import pytest

from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.codis.dataset import find_release, read_pairs, read_votes, to_questions
from bench_assets.suites.codis.synthetic import write
from bench_assets.suites.codis.votes import decide, select
from tests.fair_exam import unfair

SEEDS = range(5)


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    """The questions of five mini editions, and the size of each image."""
    sizes, exams = {}, []
    for seed in SEEDS:
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        write(folder, seed)
        release = find_release(folder)
        stored = {}
        for name, file in image_files(release.images).items():
            data = file.read_bytes()
            digest = sha256(data).hexdigest()
            sizes[digest] = len(data)
            stored[name] = StoredImage(
                name=name, sha256=digest, format="PNG", width=1, height=1, n_bytes=len(data)
            )
        pairs = read_pairs(release, [])
        kept = select(
            pairs, decide(pairs, read_votes(release, [])), set(stored) - {"torn.png"}
        ).pairs
        exams.append(to_questions(kept, stored, "mini"))
    return exams, sizes


def test_nothing_but_the_image_tells_the_answer(editions):
    exams, sizes = editions
    assert unfair(exams, sizes.__getitem__) == {}


def test_no_category_can_be_passed_without_its_images(editions):
    exams, sizes = editions
    for category in {question.category for question in exams[0]}:
        of_category = [[q for q in exam if q.category == category] for exam in exams]
        assert unfair(of_category, sizes.__getitem__) == {}, category
