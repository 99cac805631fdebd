"""No question of the mini edition can be answered without its image."""

import json
from hashlib import sha256

import pytest

from bench_assets.suites.cogbench.assets.construction import edition_of
from bench_assets.suites.cogbench.construction.selection import shuffle_options
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.synthetic.edition import write
from bench_assets.suites.cogbench.vqa.questions import read_response, to_questions
from bench_resources.datasets.source_files import SuiteSource
from tests.fakes.fair_exam import unfair
from tests.fakes.rows import stored
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


SEEDS = range(5)


@pytest.fixture(scope="module")
def exams(tmp_path_factory):
    """The questions of five mini editions."""
    exams = []
    for seed in SEEDS:
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        write(folder, seed)
        images = {}
        for file in (folder / "images").iterdir():
            data = file.read_bytes()
            images[file.stem] = stored(file.name, sha256(data).hexdigest(), len(data))
        exams.append(to_questions(written(folder), images, "mini"))
    return exams


def written(folder):
    """Each question once, its letters dealt as the assets deal them; the planted ones left out."""
    questions = {}
    for line in (folder / "writer_responses.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        *_, image_id, kind = entry["question_id"].split("/")
        drafts = read_response(entry["text"], 0)
        for draft in [] if isinstance(drafts, str) else drafts:
            fields = {"where": "", "image_id": image_id, "category": kind}
            one = SourceQuestion(
                **fields, text=draft.text, options=draft.options, answer=draft.answer
            )
            if "as anybody can see" not in "".join(one.options):
                questions[image_id, one.text] = shuffle_options(one, 0)
    return list(questions.values())


@pytest.mark.long
def test_no_kind_of_reasoning_can_be_passed_without_its_image(exams):
    kinds = {question.category for question in exams[0]}
    assert len(kinds) == 8
    for kind in kinds:
        of_kind = [[q for q in exam if q.category == kind] for exam in exams]
        assert unfair(of_kind) == {}, kind  # 65 to 160 questions
