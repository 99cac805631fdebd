import re
from collections import Counter
from dataclasses import replace

import pytest

from bench_assets.annotation.tasks import UndecidedUnits
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.suites.codis.dataset import (
    find_release,
    image_names,
    read_captions,
    read_pairs,
    read_votes,
    source_files,
    to_questions,
)
from bench_assets.suites.codis.votes import (
    CATEGORIES,
    count_steps,
    decide_submissions,
    is_release,
    select_pairs,
)
from tests.cases import read_cases
from tests.fakes.codis_source import entry, pair, vote, write_raw, write_release
from tests.fakes.rows import stored


def test_the_authors_release_has_the_numbers_of_the_paper(shared_data):
    release = find_release(shared_data / "codis")
    pairs, names = read_pairs(release).rows, image_names(source_files(release))
    selection = select_pairs(pairs, decide_submissions(pairs, read_votes(release).rows), set(names))
    assert selection.rejections == []
    assert len(names) == 216
    counts = Counter(pair.category for pair in selection.rows)
    assert [counts[category] for category in CATEGORIES] == [84, 95, 47, 75, 52]
    assert [p.pair_id for p in selection.rows] == [f"{n:03}" for n in range(353)]
    assert len({p.image for p in selection.rows}) == 216


def test_an_entry_is_read_as_it_is(tmp_path):
    folder = write_release(tmp_path, [entry(id="017", question=" ")])
    assert read_pairs(find_release(folder)).rows == [pair(pair_id="017", question=" ")]


VOTE = {"submission": "000", "annotator": "bo"} | dict.fromkeys(
    ("correct", "different", "within_rules"), True
)


def test_submissions_and_votes_are_read_as_they_are(tmp_path):
    submissions = [
        entry(id="s1", annotator="ana", revises=None),
        entry(id="s2", annotator="ana", revises="s1"),
    ]
    votes = [VOTE | {"submission": "s1", "correct": False, "comment": "The other way round."}]
    release = find_release(write_raw(tmp_path, submissions, votes))
    assert read_pairs(release).rows == [
        pair(pair_id="s1", annotator="ana"),
        pair(pair_id="s2", annotator="ana", revises="s1"),
    ]
    assert read_votes(release).rows == [
        vote("s1", "bo", correct=False, comment="The other way round.")
    ]


@pytest.mark.parametrize(
    ("files", "folders", "expected_message"),
    [
        pytest.param([], [], r"expected data\.json and images/.*submissions\.json", id="nothing"),
        pytest.param(["data.json"], [], "with the images; found: none", id="no images"),
        pytest.param(
            ["data.json"], ["images_a", "images_b"], "found: images_a, images_b", id="two of them"
        ),
        pytest.param(
            ["data.json", "submissions.json", "votes.json"],
            ["images"],
            "Remove one of them",
            id="both routes",
        ),
    ],
)
def test_a_folder_without_exactly_one_release_is_named(tmp_path, files, folders, expected_message):
    for name in files:
        (tmp_path / name).write_text("[]")
    for name in folders:
        (tmp_path / name).mkdir()
    with pytest.raises(SourceError, match=f"{re.escape(str(tmp_path))}: .*{expected_message}"):
        find_release(tmp_path)


def entry_without(field):
    return {name: value for name, value in entry(id="017").items() if name != field}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param("x", "entry 2: expected an object", id="a text among entries"),
        pytest.param(entry_without("id"), "entry 2: no field 'id'", id="no id"),
        pytest.param(entry(id=17), "(id 17): field 'id' is 17, expected a text", id="id 17"),
        pytest.param(entry(context="left"), "'context' is 'left', expected an obj", id="context"),
        pytest.param(entry(image_id="../x.png"), "'../x.png' is outside", id="a path upwards"),
        pytest.param(entry(image_id="a\0.png"), "is not a file name", id="a NUL in the name"),
    ],
)
def test_a_broken_entry_is_rejected_and_the_others_are_read(tmp_path, broken, reason):
    entries = [entry(id="001"), broken, entry(id="003")]
    table = read_pairs(find_release(write_release(tmp_path, entries)))
    assert [pair.pair_id for pair in table.rows] == ["001", "003"]
    (rejection,) = table.rejections
    assert rejection.entry.startswith("data.json, entry 2")
    assert reason in f"{rejection.entry}: {rejection.reason}"


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        pytest.param('[{"id": "000"', r"data\.json: not JSON, or cut short.*char 13", id="cut off"),
        pytest.param({"000": entry()}, "list of entries at the top", id="an object at the top"),
    ],
)
def test_a_file_that_is_no_list_is_an_error(tmp_path, content, expected_message):
    release = find_release(write_release(tmp_path, content))
    with pytest.raises(SourceError, match=expected_message):
        read_pairs(release)


def test_a_submission_without_an_annotator_is_rejected(tmp_path):
    submissions = [entry(), entry(id="001", annotator="cem")]
    table = read_pairs(find_release(write_raw(tmp_path, submissions, [])))
    assert [submission.pair_id for submission in table.rows] == ["001"]
    (rejection,) = table.rejections
    assert rejection.entry.startswith("submissions.json, entry 1")
    assert "no field 'annotator'" in rejection.reason


def test_a_vote_that_is_no_boolean_is_rejected(tmp_path):
    votes = [VOTE, VOTE | {"correct": "yes"}]
    table = read_votes(find_release(write_raw(tmp_path, [entry(annotator="ana")], votes)))
    assert table.rows == [vote("000", "bo")]
    (rejection,) = table.rejections
    assert rejection.entry.startswith("votes.json, entry 2")
    assert "field 'correct' is 'yes', expected true or false" in rejection.reason


def test_captions_are_read_and_a_second_one_and_a_torn_line_are_rejected(tmp_path):
    file = tmp_path / "captions.jsonl"
    line = '{"image_id": "a.png", "caption": " A door. "}\n'
    file.write_text(f'{line}{line}{{"image_id": "b\n\n{{"image_id": "c.png", "caption": ""}}\n')
    table = read_captions(file)
    assert table.rows == [("a.png", "A door."), ("c.png", "")]
    repeated, torn = table.rejections
    assert repeated.entry == "captions.jsonl, line 2"
    assert repeated.reason == "second caption for a.png. Remove one of them"
    assert torn.entry == "captions.jsonl, line 3"


def select_published(pairs):
    """Select pairs that need no votes."""
    return select_pairs(pairs, decide_submissions(pairs, []), ("a.png", "b.png"))


@pytest.mark.parametrize(
    ("fields", "reason"), read_cases(__file__, "faulty_pairs.jsonl", tuples=True)
)
def test_a_faulty_pair_is_rejected_with_its_reason(fields, reason):
    selection = select_published([pair(), pair(**{"pair_id": "001", "question": "Now?"} | fields)])
    assert [row.pair_id for row in selection.rows] == ["000"]
    (rejection,) = selection.rejections
    assert rejection.entry == f"data.json, id {fields.get('pair_id', '001')}"
    assert reason in rejection.reason


@pytest.mark.parametrize(
    ("fields", "n_kept"),
    [
        pytest.param({}, 1, id="the same again"),
        pytest.param({"contexts": ("I go right.", "I go left.")}, 1, id="contexts swapped"),
        pytest.param({"question": "opening or  closing?"}, 1, id="case and blanks aside"),
        pytest.param({"answers": ("Wider.", "Narrower.")}, 1, id="answers make no difference"),
        pytest.param({"contexts": ("I go left.", "I stay.")}, 2, id="another context"),
        pytest.param({"question": "Who?"}, 2, id="another question"),
    ],
)
def test_image_question_and_contexts_occur_once(fields, n_kept):
    assert len(select_published([pair(), pair(pair_id="001", **fields)]).rows) == n_kept


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        pytest.param(range(353), True, id="the 353 of the release"),
        pytest.param(range(352), False, id="one is missing"),
        pytest.param([*range(352), 400], False, id="one is somebody else's"),
        pytest.param(range(354), False, id="one too many"),
    ],
)
def test_a_release_has_all_353_ids_and_no_other(ids, expected):
    assert is_release([pair(pair_id=f"{n:03}") for n in ids]) is expected


def submit_and_decide():
    """Five submissions by three people, and the decisions on them.

    s2 revises s1, s4 is voted down, and s5 has an unknown category.
    """
    submissions = [
        pair(pair_id="s1", annotator="ana"),
        pair(pair_id="s2", annotator="ana", revises="s1"),
        pair(pair_id="s3", annotator="bo", question="Who?"),
        pair(pair_id="s4", annotator="cem", image="b.png"),
        pair(pair_id="s5", annotator="cem", image="c.png", category="Weather"),
    ]
    votes = [
        vote(submission.pair_id, name, correct=submission.pair_id not in ("s1", "s4"))
        for submission in submissions
        for name in ("ana", "bo", "cem")
        if name != submission.annotator
    ]
    return submissions, decide_submissions(submissions, votes)


def test_a_submission_that_is_voted_down_is_rejected_with_the_counts():
    submissions, decisions = submit_and_decide()
    assert select_pairs(submissions, decisions, {"a.png", "b.png", "c.png"}).rejections[:2] == [
        Rejection(
            entry="submissions.json, id s1",
            reason="revised as s2: 0 of 2 others approve; not correct: bo, cem",
        ),
        Rejection(
            entry="submissions.json, id s4",
            reason="dropped: 0 of 2 others approve; not correct: ana, bo",
        ),
    ]


def test_the_funnel_counts_each_step_from_images_to_queries():
    submissions, decisions = submit_and_decide()
    images = {"a.png", "b.png", "c.png", "d.png"}
    pairs = select_pairs(submissions, decisions, images).rows
    undecided = UndecidedUnits({"a": "", "b": ""}, {"c": ""})
    steps = count_steps(images, submissions, decisions, pairs, undecided)
    # The last number is the paper's. Of five submissions, the votes keep s2, s3 and s5.
    assert [(s.step, s.n, s.paper) for s in steps] == [
        ("images collected", 4, 377),
        ("images with submissions", 3, None),
        ("submissions", 5, None),
        ("submissions that a revision replaced", 1, None),
        ("submissions open: votes are missing", 2, None),
        ("submissions expired: votes were missing at the deadline", 1, None),
        ("submissions kept by the votes", 3, None),
        ("pairs kept by the checks", 2, 353),
        ("images kept", 1, 216),
        ("images excluded", 3, 161),
        ("queries", 4, 706),
    ]


IMAGES = {"a.png": stored("a.png", "aa"), "b.png": stored("b.png", "bb")}


def test_a_pair_has_a_question_in_each_context():
    first = Question(
        question_id="codis/017/1",
        task="codis",
        edition="published",
        kind="text",
        text="Opening or closing?",
        answer=("Opening.",),
        images=("aa",),
        options=("Opening.", "Closing."),
        context="I go left.",
        category="Attributes",
        group_id="017",
        labels={"image": "a.png"},
    )
    second = replace(first, question_id="codis/017/2", answer=("Closing.",), context="I go right.")
    assert to_questions([pair(pair_id="017")], IMAGES, "published") == [first, second]
