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
    read_chains,
    read_questions,
    read_stories,
)
from bench_resources.images.store import ImageStore
from tests.cases import read_cases
from tests.fakes.rows import stored
from tests.suites.cogbench.release import description_entry, source_question, vqa_row, write_release

DEFAULT_TEXT = "What is the girl doing?"  # of vqa_row()
CHAIN = "It snows. + A tree is lit. -> It is Christmas."


def test_chains_are_read_by_kind_and_the_entry_none_is_skipped(tmp_path):
    texts = ["She smiles. -> She is happy.", "She smiles. -> She is glad."]
    fields = {"Special Time Reasoning": [CHAIN], "Mental State Reasoning": texts}
    source = write_release(tmp_path, {"kite": description_entry(**fields)})
    chains = read_chains(find_release(source)).require()
    assert [(chain.image_id, chain.kind, chain.number, chain.text) for chain in chains] == [
        ("kite", "Time", 1, CHAIN),
        ("kite", "Mental State", 1, "She smiles. -> She is happy."),
        ("kite", "Mental State", 2, "She smiles. -> She is glad."),
    ]


def test_a_story_is_read_with_image_and_entities(tmp_path):
    release = find_release(write_release(tmp_path, {"kite": description_entry()}))
    (story,) = read_stories(release).require()
    assert (story.image, story.entities) == ("kite.jpg", ("girl", "kite"))
    assert story.description == "A girl flies a kite."


@pytest.mark.parametrize(
    ("stories", "message"),
    [
        pytest.param('{"kite": {"Image', "not JSON, or cut short", id="cut short"),
        pytest.param('{"a": {}, "a": {}}', "duplicate field 'a'", id="an id that is duplicate"),
        pytest.param("[]", "expected an object, image id", id="a list at the top"),
        pytest.param({"kite": {"Image Name": "k.jpg"}}, "entry 'kite': no field", id="no entities"),
        pytest.param(
            {"kite": description_entry(Entities=[1])},
            "entry 'kite': field 'Entities' is 1, expected a text",
            id="an entity that is a number",
        ),
    ],
)
def test_a_broken_description_file_is_named_with_its_entry(tmp_path, stories, message):
    release = find_release(write_release(tmp_path, stories))
    with pytest.raises(SourceError, match=f"cogbench_description.json.*{message}"):
        read_stories(release).require()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param([], "no CogBench data", id="an empty folder"),
        pytest.param(["cogbench_vqa.json"], "no folder images/", id="half a release"),
        pytest.param(
            ["annotations.json", "cogbench_vqa.json"], "Remove one of them", id="both routes"
        ),
    ],
)
def test_a_folder_that_fits_no_single_route_is_refused(tmp_path, files, message):
    for name in files:
        (tmp_path / name).write_text("[]")
    with pytest.raises(SourceError, match=message):
        find_release(tmp_path)


def test_images_that_differ_only_in_their_suffix_are_rejected():
    images = {name: stored(name, name) for name in ("kite.png", "kite.jpg", "boat.png")}
    stories = [
        Story(image_id=image_id(name), image=name, entities=(), description="A kite.")
        for name in images
    ]
    selected = select_stories(stories, images)
    assert [story.image for story in selected.rows] == ["boat.png"]
    reasons = [rejection.reason for rejection in selected.rejections]
    assert reasons == ["id 'kite' is that of 2 images"] * 2


def test_options_that_differ_in_case_are_kept_only_if_a_review_keeps_the_question():
    question = source_question(options=("Polish", "polish", "wax", "oil"))
    images = {"a": stored("a.png", "0")}
    assert select_questions([question], images).rows == []
    assert select_questions([question], images, kept=[question_id(question)]).rows == [question]


def test_equal_options_are_rejected_even_if_a_review_keeps_the_question():
    question = source_question(options=("wax", "wax", "Polish", "oil"))
    images = {"a": stored("a.png", "0")}
    assert select_questions([question], images, kept=[question_id(question)]).rows == []


@pytest.mark.parametrize(("fields", "reason"), read_cases(__file__, "invalid_questions.jsonl"))
def test_an_invalid_question_is_rejected_with_the_reason(tmp_path, fields, reason):
    invalid_row = vqa_row(**{"question": "And now?"} | fields)
    stories = {"kite": description_entry()}
    release = find_release(write_release(tmp_path / "source", stories, [vqa_row(), invalid_row]))
    store = ImageStore(folder=str(tmp_path / "store"))
    images = images_by_id(store.put_file(file) for file in image_files(release.images).values())

    selected = select_questions(read_questions(release).require(), images)

    assert [question.text for question in selected.rows] == [DEFAULT_TEXT]
    (rejection,) = selected.rejections
    assert rejection.entry == "cogbench_vqa.json, entry 2"
    assert reason in rejection.reason


def test_a_story_without_image_or_description_is_rejected(tmp_path):
    boat = description_entry(**{"Image Name": "boat.jpg"})
    kite = description_entry(Description=["None"])
    source = write_release(tmp_path, {"kite": kite, "boat": boat})
    images = {"kite.jpg": stored("kite.jpg", "0")}
    selected = select_stories(read_stories(find_release(source)).require(), images)
    assert selected.rows == []
    assert [rejection.reason for rejection in selected.rejections] == [
        "no description",
        "image 'boat.jpg' is missing or does not decode",
    ]
