"""The mini edition is whole, its images show what is said of them, and its faults are there."""

from collections import Counter
from hashlib import sha256
from random import Random

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import Answer
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.construction.annotation import FILTER
from bench_assets.suites.journeybench.construction.filtering import agreement, decide_images
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    TriggerQuestion,
    to_questions,
)
from bench_assets.suites.journeybench.mcot.problems import read_problems
from bench_assets.suites.journeybench.mcot.recalculation import solve
from bench_assets.suites.journeybench.published_files import published_files
from bench_assets.suites.journeybench.raw_material import (
    CRITERIA,
    FilterVote,
    GalleryImage,
    WrittenCaption,
    read_raw_rows,
)
from bench_assets.suites.journeybench.synthetic.edition import write
from bench_assets.suites.journeybench.synthetic.images import WORLD, members
from tests.fakes.fair_exam import ImageFiles, unfair
from tests.fakes.rows import stored


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    write(folder)
    return folder


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


@pytest.mark.long
def test_the_same_seed_writes_the_same_bytes_and_another_one_others(mini, tmp_path):
    write(tmp_path)
    again = contents(tmp_path)
    assert contents(mini) == again
    write(tmp_path, seed=1)
    assert contents(tmp_path).keys() == again.keys()
    assert contents(tmp_path) != again


def test_it_goes_down_the_built_route(mini):
    assert published_files(mini) == {}


def test_there_are_sixty_images_with_eight_captions_each_and_no_two_alike(mini):
    captions = read_raw_rows(mini, WrittenCaption).require()
    assert Counter(Counter(caption.image for caption in captions).values()) == {8: 60}
    assert len(read_raw_rows(mini, GalleryImage).require()) == 66
    images = [mini / "images" / member.image for member in members()]
    assert len({path.read_bytes() for path in images}) == 60


@pytest.mark.parametrize("seed", range(3))
def test_no_statistic_of_its_images_answers_a_trigger_question(seed):
    """What is asked is the same with every seed; where things lie is not."""
    rng, files = Random(seed), ImageFiles()
    by_trigger: dict[str, list[TriggerQuestion]] = {}
    images: dict[str, StoredImage] = {}
    for member in members():
        data = member.draw(rng)
        digest = sha256(data).hexdigest()
        files[digest] = data
        images[member.image] = stored(member.image, digest, len(data))
        trigger = WORLD["triggers"][(member.family + member.number) % len(WORLD["triggers"])]
        row = TriggerQuestion(
            entry_id=member.image,
            image=member.image,
            image_source="generated",
            trigger=trigger["trigger"],
            question=member.say(trigger["question"]),
            answers=tuple(map(member.say, trigger["answers"])),
        )
        by_trigger.setdefault(trigger["trigger"], []).append(row)
    for trigger, rows in by_trigger.items():
        exam = to_questions(rows, images).rows
        assert len(exam) == 20
        assert unfair([exam], files.size, files.open).keys() <= {"the most frequent answer"}, (
            trigger
        )


def test_every_problem_can_be_solved(mini):
    problems = read_problems(mini / "gsm8k.jsonl").require()
    assert len(problems) == 24
    assert all(solve(problem, {}) for problem in problems)


def test_people_who_filter_as_the_files_do_keep_the_same_images(mini):
    gallery, votes = (
        read_raw_rows(mini, GalleryImage).require(),
        read_raw_rows(mini, FilterVote).require(),
    )
    names = [one.image for one in gallery if one.image != "torn.png"]
    units = FILTER.units(gallery=gallery, images=[stored(name) for name in names])
    resolved = resolve_answers(FILTER.task, units, [answered(vote) for vote in votes])
    assert {one.complaint for one in resolved.refused} == {"unit 'torn.png' is not published"}
    rows = FILTER.to_rows(resolved.answers)
    cast = [vote for vote in votes if vote.image != "torn.png"]
    assert (len(votes), len(rows)) == (262, 258)
    hashes = {name: f"{number:016x}" for number, name in enumerate(names)}
    by_people, by_files = (decide_images(gallery, some, hashes, near=0) for some in (rows, cast))
    assert by_people == by_files
    assert sum(file.open for file in by_files) == 1
    assert {one.criterion: one.alpha for one in agreement(rows)} == pytest.approx(
        {one.criterion: one.alpha for one in agreement(cast)}
    )


def answered(vote):
    return Answer(
        task=FILTER.task.name,
        task_version=FILTER.task.version,
        unit_id=vote.image,
        unit_digest="",
        person=vote.annotator,
        values={name: ("yes" if getattr(vote, name) else "no",) for name in CRITERIA},
        at="",
        changed_at="",
    )
