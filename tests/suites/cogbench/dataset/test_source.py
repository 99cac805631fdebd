from dataclasses import replace

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.cogbench.construction.selection import (
    image_id,
    images_by_id,
    question_id,
    select_questions,
    select_stories,
)
from bench_assets.suites.cogbench.dataset.source import (
    Story,
    find_release,
    read_annotations,
    read_chains,
    read_questions,
    read_stories,
)
from bench_resources.images.store import ImageStore
from tests.fakes.rows import stored
from tests.suites.cogbench.release import described, source_question, vqa_row, write_release

SAME = "What is the girl doing?"
CHAIN = "It snows. + A tree is lit. -> It is Christmas."


def test_none_is_nothing_and_every_kind_of_chain_is_read(tmp_path):
    entry = described(
        **{
            "Special Time Reasoning": [CHAIN],
            "Mental State Reasoning": [
                "She smiles. -> She is happy.",
                "She smiles. -> She is glad.",
            ],
        }
    )
    release = find_release(write_release(tmp_path, {"kite": entry}))
    chains = [(c.image_id, c.kind, c.number, c.text) for c in read_chains(release).require()]
    assert chains == [
        ("kite", "Time", 1, CHAIN),
        ("kite", "Mental State", 1, "She smiles. -> She is happy."),
        ("kite", "Mental State", 2, "She smiles. -> She is glad."),
    ]
    (story,) = read_stories(release).require()
    assert (story.image, story.entities) == ("kite.jpg", ("girl", "kite"))
    assert story.description == "A girl flies a kite."
    assert read_annotations(release).require() == []


@pytest.mark.parametrize(
    ("stories", "message"),
    [
        pytest.param(
            '{"kite": {"Image', "cogbench_description.json: not JSON, or cut short", id="cut short"
        ),
        pytest.param('{"a": {}, "a": {}}', "duplicate field 'a'", id="an id that is duplicate"),
        pytest.param("[]", "expected an object, image id", id="a list at the top"),
        pytest.param({"kite": {"Image Name": "k.jpg"}}, "entry 'kite': no field", id="no entities"),
        pytest.param(
            {"kite": described(Entities=[1])}, "'Entities' is 1, expected a text", id="number"
        ),
    ],
)
def test_a_broken_description_file_is_named_with_its_entry(tmp_path, stories, message):
    release = find_release(write_release(tmp_path, stories))
    with pytest.raises(SourceError, match=message):
        read_stories(release).require()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param([], "no CogBench data", id="an empty folder"),
        pytest.param(["cogbench_vqa.json"], "expected a folder images/", id="half a release"),
        pytest.param(
            ["annotations.json", "cogbench_vqa.json"], "Remove one of them", id="both routes"
        ),
    ],
)
def test_a_folder_that_goes_no_route_says_what_is_missing(tmp_path, files, message):
    for name in files:
        path = tmp_path / name
        path.mkdir() if name.endswith("/") else path.write_text("[]")
    with pytest.raises(SourceError, match=message):
        find_release(tmp_path)


def test_two_images_of_one_name_and_two_endings_are_rejected():
    images = {name: stored(name, name) for name in ("kite.png", "kite.jpg", "boat.png")}
    stories = [
        Story(image_id=image_id(name), image=name, entities=(), description="A kite.")
        for name in images
    ]
    selected = select_stories(stories, images)
    kept, rejections = selected.rows, selected.rejections
    assert [story.image for story in kept] == ["boat.png"]
    assert [row.reason for row in rejections] == ["id 'kite' is that of 2 images"] * 2


def test_options_that_differ_in_case_are_kept_if_a_review_keeps_the_question():
    cased = source_question(options=("Polish", "polish", "wax", "oil"))
    same = replace(cased, options=("wax", "wax", "Polish", "oil"))
    images = {"a": stored("a.png", "0")}
    kept = [question_id(one) for one in (cased, same)]
    assert select_questions([cased], images).rows == []
    assert select_questions([cased, same], images, kept=kept).rows == [cased]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        pytest.param({"answer": "E"}, "answer 'E', expected one of ABCD", id="no such letter"),
        pytest.param({"category": "weather"}, "unknown category 'weather'", id="category"),
        pytest.param({"img_id": "boat"}, "image 'boat' is missing", id="image"),
        pytest.param({"choice_b": "flying a kite"}, "equal options", id="equal options"),
        pytest.param({"choice_d": " "}, "an option is empty", id="an empty option"),
        pytest.param({"question": ""}, "the question is empty", id="no question"),
        pytest.param({"question": SAME}, "repeats an earlier", id="the same question twice"),
    ],
)
def test_a_question_without_what_it_needs_is_rejected_with_the_reason(tmp_path, entry, reason):
    written = write_release(
        tmp_path / "source",
        {"kite": described()},
        [vqa_row(), vqa_row(**{"question": "And now?"} | entry)],
    )
    release = find_release(written)
    store = ImageStore(folder=str(tmp_path / "store"))
    images = images_by_id(store.put_file(file) for file in image_files(release.images).values())
    selected = select_questions(read_questions(release).require(), images)
    kept, rejections = selected.rows, selected.rejections
    assert [question.text for question in kept] == [SAME]
    (rejection,) = rejections
    assert rejection.entry == "cogbench_vqa.json, entry 2"
    assert reason in rejection.reason


def test_a_story_without_image_or_description_is_rejected(tmp_path):
    written = write_release(tmp_path, {"kite": described(Description=["None"])})
    stories = read_stories(find_release(written)).require()
    selected = select_stories(stories, images={})
    kept, rejections = selected.rows, selected.rejections
    assert kept == []
    assert [row.reason for row in rejections] == [
        "image 'kite.jpg' is missing or does not decode",
        "no description",
    ]
