"""Which pairs stay, and the reason for each that goes."""

import pytest

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.codis.votes import decide, edition_of, funnel, select
from tests.suites.codis.raw import pair, vote


def selected(pairs, images=("a.png", "b.png")):
    return select(pairs, decide(pairs, []), images)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"question": " \n"}, "the question is empty", id="no question"),
        pytest.param({"contexts": ("", "x")}, "a context is empty", id="half without context"),
        pytest.param({"answers": ("x", " ")}, "an answer is empty", id="half without answer"),
        pytest.param({"contexts": ("It rains.", "it  rains.")}, "two contexts are", id="contexts"),
        pytest.param({"answers": ("Up.", "up.")}, "two answers are the same", id="same answers"),
        pytest.param({"category": "Weather"}, "unknown category 'Weather'; known: Loc", id="kind"),
        pytest.param({"category": "attributes"}, "unknown category", id="case counts"),
        pytest.param({"image": "c.png"}, "image 'c.png' is missing or does not", id="image"),
        pytest.param({"pair_id": ""}, "id '' is empty or holds blanks", id="no id"),
        pytest.param({"pair_id": "1/2"}, "id '1/2' is empty or holds blanks or slashes", id="1/2"),
    ],
)
def test_a_faulty_pair_is_rejected_with_its_reason(fields, reason):
    selection = selected([pair(), pair(**{"pair_id": "001", "question": "Now?"} | fields)])
    assert [kept.pair_id for kept in selection.pairs] == ["000"]
    (rejection,) = selection.rejections
    assert rejection.entry == f"data.json, id {fields.get('pair_id', '001')}"
    assert reason in rejection.reason


def test_every_fault_of_a_pair_is_a_row():
    reasons = [r.reason for r in selected([pair(question="", image="c.png")]).rejections]
    assert len(reasons) == 2


@pytest.mark.parametrize(
    ("fields", "n_kept"),
    [
        pytest.param({}, 1, id="the same again"),
        pytest.param({"contexts": ("I go right.", "I go left.")}, 1, id="contexts swapped"),
        pytest.param({"question": "opening or  closing?"}, 1, id="case and blanks aside"),
        pytest.param({"answers": ("Wider.", "Narrower.")}, 1, id="answers make no difference"),
        pytest.param({"contexts": ("I go left.", "I stay.")}, 2, id="another context"),
        pytest.param({"image": "b.png"}, 2, id="another image"),
        pytest.param({"question": "Who?"}, 2, id="another question"),
    ],
)
def test_image_question_and_contexts_occur_once(fields, n_kept):
    assert len(selected([pair(), pair(pair_id="001", **fields)]).pairs) == n_kept


def test_a_rejected_pair_does_not_stand_in_the_way_of_its_correction():
    wrong, right = pair(answers=("Up.", "Up.")), pair(pair_id="001")
    assert selected([wrong, right]).pairs == [right]


def test_the_second_entry_with_an_id_is_rejected():
    selection = selected([pair(), pair(question="Who?")])
    assert [kept.question for kept in selection.pairs] == ["Opening or closing?"]
    assert "same id" in selection.rejections[0].reason


@pytest.mark.parametrize(
    ("ids", "annotator", "edition"),
    [
        pytest.param(range(353), "", "published", id="the 353 of the release"),
        pytest.param(range(352), "", "own", id="one is missing"),
        pytest.param([*range(352), 400], "", "own", id="one is somebody else's"),
        pytest.param(range(353), "ana", "built", id="submitted, not published"),
    ],
)
def test_only_the_whole_release_is_called_published(ids, annotator, edition):
    assert edition_of([pair(pair_id=f"{n:03}", annotator=annotator) for n in ids]) == edition


def three_annotators():
    """Five submissions about three of four images; s2 revises s1, s4 is voted down, s5 faulty."""
    submissions = [
        pair(pair_id="s1", annotator="ana"),
        pair(pair_id="s2", annotator="ana", revises="s1"),
        pair(pair_id="s3", annotator="bo", question="Who?"),
        pair(pair_id="s4", annotator="cem", image="b.png"),
        pair(pair_id="s5", annotator="cem", image="c.png", category="Weather"),
    ]
    others = {"ana": ["bo", "cem"], "bo": ["ana", "cem"], "cem": ["ana", "bo"]}
    votes = [
        vote(s.pair_id, name, correct=s.pair_id not in ("s1", "s4"))
        for s in submissions
        for name in others[s.annotator]
    ]
    return submissions, decide(submissions, votes)


def test_what_the_votes_turn_down_is_rejected_with_their_reason():
    submissions, decisions = three_annotators()
    assert select(submissions, decisions, {"a.png", "b.png", "c.png"}).rejections[:2] == [
        Rejection(
            entry="submissions.json, id s1",
            reason="revised as s2: 0 of 2 others approve; not correct: bo, cem",
        ),
        Rejection(
            entry="submissions.json, id s4",
            reason="dropped: 0 of 2 others approve; not correct: ana, bo",
        ),
    ]


def test_the_funnel_by_pencil():
    submissions, decisions = three_annotators()
    images = {"a.png", "b.png", "c.png", "d.png"}
    kept = select(submissions, decisions, images).pairs
    assert [(s.step, s.n, s.paper) for s in funnel(images, submissions, decisions, kept)] == [
        ("images collected", 4, 377),
        ("images with submissions", 3, None),
        ("submissions", 5, None),
        ("submissions that a revision replaced", 1, None),
        ("submissions open: votes are missing", 0, None),
        ("submissions kept by the votes", 3, None),
        ("pairs kept by the checks", 2, 353),
        ("images kept", 1, 216),
        ("images excluded", 3, 161),
        ("queries", 4, 706),
    ]
