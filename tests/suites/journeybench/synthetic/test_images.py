"""The mini edition is whole, its images show what is said of them, and its faults are there."""

from hashlib import sha256
from random import Random

import pytest

from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    TriggerQuestion,
    to_questions,
)
from bench_assets.suites.journeybench.mcot.problems import read_problems
from bench_assets.suites.journeybench.mcot.recalculation import solve
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
