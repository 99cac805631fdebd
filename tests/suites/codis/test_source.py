"""Reading CODIS folders: the authors' own, and broken ones."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.codis.dataset import (
    find_release,
    image_names,
    read_captions,
    read_pairs,
    read_votes,
    source_files,
)
from bench_assets.suites.codis.votes import CATEGORIES, decide, select
from tests.suites.codis.raw import entry, pair, png, vote, write_raw, write_release

RELEASE = Path(__file__).resolve().parents[4] / "shared" / "data" / "codis"


@pytest.mark.skipif(not RELEASE.is_dir(), reason="the authors' release is not beside the checkout")
def test_the_authors_release_has_the_numbers_of_the_paper():
    release = find_release(RELEASE)
    pairs, names = read_pairs(release, []), image_names(source_files(release))
    selection = select(pairs, decide(pairs, read_votes(release, [])), set(names))
    assert selection.rejections == []
    assert len(names) == 216
    assert [Counter(p.category for p in selection.pairs)[c] for c in CATEGORIES] == [
        84,
        95,
        47,
        75,
        52,
    ]
    assert [p.pair_id for p in selection.pairs] == [f"{number:03}" for number in range(353)]
    assert len({p.image for p in selection.pairs}) == 216


def test_an_entry_is_read_as_it_is(tmp_path):
    folder = write_release(tmp_path, [entry(id="017", question=" ")])
    assert read_pairs(find_release(folder), []) == [pair(pair_id="017", question=" ")]


def test_submissions_and_votes_are_read_as_they_are(tmp_path):
    submissions = [
        entry(id="s1", annotator="ana", revises=None),
        entry(id="s2", annotator="ana", revises="s1"),
    ]
    votes = [
        {
            "submission": "s1",
            "annotator": "bo",
            "correct": False,
            "different": True,
            "within_rules": True,
            "comment": "The other way round.",
        }
    ]
    release = find_release(write_raw(tmp_path, submissions, votes))
    assert read_pairs(release, []) == [
        pair(pair_id="s1", annotator="ana"),
        pair(pair_id="s2", annotator="ana", revises="s1"),
    ]
    assert read_votes(release, []) == [
        vote("s1", "bo", correct=False, comment="The other way round."),
    ]


def test_a_release_has_no_votes(tmp_path):
    release = find_release(write_release(tmp_path, [entry()]))
    assert read_votes(release, []) == []


def test_files_of_the_suite_are_pinned_and_others_left_alone(tmp_path):
    write_release(tmp_path, [entry()], images=("b.png", "a.png"))
    (tmp_path / "output_example.json").write_text("[]")
    (tmp_path / "images" / ".DS_Store").write_text("")
    files = source_files(find_release(tmp_path))
    assert [file.path for file in files] == ["data.json", "images/a.png", "images/b.png"]
    assert files[1].sha256 == hashlib.sha256(png()).hexdigest()
    assert files[1].n_bytes == len(png())
    assert image_names(files) == ["a.png", "b.png"]


def test_the_folder_of_images_may_have_a_longer_name(tmp_path):
    write_release(tmp_path, [entry()])
    (tmp_path / "images").rename(tmp_path / "images_512")
    (tmp_path / "images_512.csv").write_text("")
    assert find_release(tmp_path).images == tmp_path / "images_512"


def test_a_folder_named_images_goes_before_longer_names(tmp_path):
    write_release(tmp_path, [entry()])
    (tmp_path / "images_512").mkdir()
    assert find_release(tmp_path).images == tmp_path / "images"


@pytest.mark.parametrize(
    ("present", "complaint"),
    [
        pytest.param([], r"expected data\.json and images/.*submissions\.json", id="nothing"),
        pytest.param(["images/"], "no CODIS data", id="images only"),
        pytest.param(["submissions.json", "images/"], "no CODIS data", id="no votes"),
        pytest.param(["data.json"], "with the images; found: none", id="no images"),
        pytest.param(
            ["data.json", "images_a/", "images_b/"], "found: images_a, images_b", id="two of them"
        ),
        pytest.param(
            ["data.json", "submissions.json", "votes.json", "images/"],
            "take one of them away",
            id="both routes",
        ),
    ],
)
def test_a_folder_that_goes_no_route_is_named(tmp_path, present, complaint):
    for name in present:
        (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).write_text("[]")
    with pytest.raises(SourceError, match=f"{re.escape(str(tmp_path))}: .*{complaint}"):
        find_release(tmp_path)


def without(name):
    return {key: value for key, value in entry(id="017").items() if key != name}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param("x", "entry 2: expected an object", id="a text among entries"),
        pytest.param(
            without("question"), "entry 2 (id '017'): no field 'question'", id="no question"
        ),
        pytest.param(without("id"), "entry 2: no field 'id'", id="no id"),
        pytest.param(entry(id=17), "(id 17): field 'id' is 17, expected a text", id="id 17"),
        pytest.param(entry(context="left"), "'context' is 'left', expected an obj", id="context"),
        pytest.param(entry(answer={"answer_1": "x"}), "no field 'answer_2'", id="one answer"),
        pytest.param(entry(image_id="../x.png"), "'../x.png' leaves", id="a path upwards"),
        pytest.param(entry(image_id="/etc/passwd"), "'/etc/passwd' leaves", id="absolute path"),
        pytest.param(entry(image_id="a\0.png"), "is no file name", id="a NUL in the name"),
    ],
)
def test_a_broken_entry_is_rejected_and_the_others_are_read(tmp_path, broken, reason):
    entries = [entry(id="001"), broken, entry(id="003")]
    release, rejections = find_release(write_release(tmp_path, entries)), []
    assert [pair.pair_id for pair in read_pairs(release, rejections)] == ["001", "003"]
    ((where, why),) = [(one.entry, one.reason) for one in rejections]
    assert where.startswith("data.json, entry 2")
    assert reason in f"{where}: {why}"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param('[{"id": "000"', r"data\.json: not JSON, or cut short.*char 13", id="cut off"),
        pytest.param({"000": entry()}, "list of entries at the top", id="an object at the top"),
    ],
)
def test_a_file_that_is_no_list_is_an_error(tmp_path, content, complaint):
    release = find_release(write_release(tmp_path, content))
    with pytest.raises(SourceError, match=complaint):
        read_pairs(release, [])


def test_a_link_that_leaves_the_folder_is_found_by_either_way_to_it(tmp_path):
    folder = write_release(tmp_path / "codis", [entry(image_id="link.png")])
    (tmp_path / "outside.png").write_bytes(png())
    (folder / "images" / "link.png").symlink_to(tmp_path / "outside.png")
    release = find_release(folder)
    assert read_pairs(release, rejections := []) == []
    assert "'link.png' leaves the folder" in rejections[0].reason
    with pytest.raises(SourceError, match=r"'link\.png' leaves the folder"):
        source_files(release)


VOTE = {"submission": "000", "annotator": "bo"} | dict.fromkeys(
    ("correct", "different", "within_rules"), True
)


@pytest.mark.parametrize(
    ("submission", "vote", "where", "reason"),
    [
        pytest.param({}, {}, "submissions.json, entry 1", "no field 'annotator'", id="nobody"),
        pytest.param(
            {"annotator": ""}, {}, "submissions.json, entry 1", "'annotator' is empty", id="no name"
        ),
        pytest.param(
            {"annotator": "ana", "revises": 3},
            {},
            "submissions.json, entry 1",
            "'revises' is 3, expected a text",
            id="revises",
        ),
        pytest.param(
            {"annotator": "ana"},
            {"correct": "yes"},
            "votes.json, entry 2",
            "field 'correct' is 'yes', expected true or false",
            id="yes for true",
        ),
    ],
)
def test_a_broken_submission_or_vote_is_rejected(tmp_path, submission, vote, where, reason):
    submissions = [entry(**submission), entry(id="001", annotator="cem")]
    release = find_release(write_raw(tmp_path, submissions, [VOTE, VOTE | vote]))
    pairs, votes = read_pairs(release, found := []), read_votes(release, found)
    assert (len(pairs), len(votes)) == ((2, 1) if where.startswith("votes") else (1, 2))
    assert [(one.entry.partition(" (")[0], reason in one.reason) for one in found] == [
        (where, True)
    ]


def test_captions_are_read_by_image_and_empty_ones_are_none(tmp_path):
    file = tmp_path / "captions.jsonl"
    lines = [{"image_id": "a.png", "caption": " A door. "}, {"image_id": "b.png", "caption": ""}]
    file.write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    assert read_captions(file, []) == {"a.png": "A door."}


def test_a_second_caption_of_an_image_and_a_torn_line_are_rejected(tmp_path):
    file = tmp_path / "captions.jsonl"
    file.write_text('{"image_id": "a.png", "caption": "x"}\n' * 2 + '{"image_id": "b')
    assert read_captions(file, rejections := []) == {"a.png": "x"}
    assert [one.entry for one in rejections] == [f"captions.jsonl, line {n}" for n in (2, 3)]
    assert rejections[0].reason == "second caption for a.png; keep one of them"
