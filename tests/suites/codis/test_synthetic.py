"""The mini edition keeps the rules of the paper, and its faults are found."""

from collections import defaultdict
from dataclasses import replace
from hashlib import sha256

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import Answer
from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.dataset import (
    find_release,
    read_pairs,
    read_votes,
    to_questions,
)
from bench_assets.suites.codis.synthetic import write
from bench_assets.suites.codis.votes import (
    ballots_by_submission,
    count_ballots,
    decide_submissions,
    select_pairs,
)
from tests.fakes.fair_exam import ImageFiles, unfair
from tests.fakes.rows import stored


@pytest.fixture(scope="module", params=[0, 1, 2], ids=["seed 0", "seed 1", "seed 2"])
def mini(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    write(folder, request.param)
    release = find_release(folder)
    pairs, votes = read_pairs(release).rows, read_votes(release).rows
    images = set(image_files(release.images)) - {"torn.png"}
    return release, votes, select_pairs(pairs, decide_submissions(pairs, votes), images)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_same_seed_writes_the_same_bytes_and_another_one_others(tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        write(tmp_path / name, seed)
    one, two, three = (contents(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert one.keys() == three.keys()
    assert one != three


def test_no_question_can_be_answered_without_its_image(mini):
    """Wherever two images share question and context, the context alone gives both answers."""
    _, _, selection = mini
    answers = defaultdict(set)
    for pair in selection.rows:
        for context, answer in zip(pair.contexts, pair.answers, strict=True):
            answers[pair.question, context].add(answer)
    shared = [
        found
        for (question, context), found in answers.items()
        if sum(question == p.question and context in p.contexts for p in selection.rows) > 1
    ]
    assert len(shared) >= 30
    assert all(len(found) == 2 for found in shared)


@pytest.mark.parametrize(
    ("fault", "n"),
    [
        pytest.param("revised as", 6, id="drafts that were revised"),
        pytest.param("dropped: ", 4, id="voted down"),
        pytest.param("open: ", 1, id="not voted on by all"),
        pytest.param("two answers are the same", 1, id="the same answers"),
        pytest.param("two contexts are the same", 1, id="the same contexts"),
        pytest.param("unknown category", 1, id="an unknown category"),
        pytest.param("question is empty", 1, id="an empty question"),
        pytest.param("same image, question and contexts", 1, id="a pair handed in twice"),
        pytest.param("'lost.png' is missing", 1, id="an image that was lost"),
        pytest.param("'torn.png' is missing or does not decode", 1, id="an image that is text"),
    ],
)
def test_planted_submissions_are_found(mini, fault, n):
    _, _, selection = mini
    assert sum(fault in rejection.reason for rejection in selection.rejections) == n


def test_planted_votes_are_found_and_annotators_disagree(mini):
    release, votes, _ = mini
    pairs = read_pairs(release).rows
    assert len(count_ballots(pairs, votes).rejections) == 4
    ballots = ballots_by_submission(pairs, votes).values()
    split = [cast for cast in ballots if len({vote.approves for vote in cast}) == 2]
    assert len(split) >= 5


def test_people_who_vote_as_the_files_do_decide_the_same(mini):
    release, votes, _ = mini
    pairs = read_pairs(release).rows
    images = set(image_files(release.images)) - {"torn.png"}
    units = annotation.VOTES.units(submitted=pairs, images=[stored(name) for name in images])
    known = {pair.annotator for pair in pairs}
    answers = [answered(vote, n) for n, vote in enumerate(votes) if vote.annotator in known]
    resolved = resolve_answers(annotation.VOTES.task, units, answers)
    # Of two images that are not there nobody is asked; nobody may vote on what is their own.
    assert {one.complaint.split(" ", 1)[-1] for one in resolved.refused} == {
        "may not answer: they made the unit",
        "'s404' is not published",
        *(f"{p.pair_id!r} is not published" for p in pairs if p.image not in images),
    }
    rows = annotation.VOTES.to_rows(resolved.answers)
    unit_ids = {unit.unit_id for unit in units}
    by_people, by_files = (
        [
            submission
            for submission in decide_submissions(pairs, cast)
            if submission.submission in unit_ids
        ]
        for cast in (rows, votes)
    )
    assert [replace(person, reason="") for person in by_people] == [
        replace(file, reason="") for file in by_files
    ]


def answered(vote, n):
    names = ("correct", "different", "within_rules")
    values = {name: ("yes" if getattr(vote, name) else "no",) for name in names}
    return Answer(
        task="codis/votes",
        task_version="",
        unit_id=vote.submission,
        unit_digest="",
        person=vote.annotator,
        values=values | ({"comment": (vote.comment,)} if vote.comment else {}),
        at=f"{n:05}",
        changed_at=f"{n:05}",
        tool="pages",
    )


SEEDS = range(5)


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    """The questions of five mini editions, and the file of each image."""
    files, exams = ImageFiles(), []
    for seed in SEEDS:
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        write(folder, seed)
        release = find_release(folder)
        images = {}
        for name, file in image_files(release.images).items():
            data = file.read_bytes()
            digest = sha256(data).hexdigest()
            files[digest] = data
            images[name] = stored(name, digest, len(data))
        pairs = read_pairs(release).rows
        kept = select_pairs(
            pairs, decide_submissions(pairs, read_votes(release).rows), set(images) - {"torn.png"}
        ).rows
        exams.append(to_questions(kept, images, "mini"))
    return exams, files


def test_no_category_can_be_passed_without_its_images(editions):
    exams, files = editions
    for category in {question.category for question in exams[0]}:
        of_category = [[q for q in exam if q.category == category] for exam in exams]
        assert unfair(of_category, files.size, files.open) == {}, category
