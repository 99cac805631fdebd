from collections import Counter
from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError, UnknownNameError
from bench_assets.suites.blink.builders.drafts import Draft, DraftView, QuestionWording
from bench_assets.suites.blink.construction.build import UsedImages, deal_places
from bench_assets.suites.blink.construction.recipes import RECIPES, BuilderParameters
from bench_resources.images.store import ImageStore
from tests.fakes.blink_builds import build_all
from tests.suites.blink.builders.layouts import write_json, write_lines, write_speckled_image


def draft_with_places(places):
    return Draft(
        entry="e",
        originals=(),
        n_options=4,
        places=places,
        show=lambda place, marks: DraftView(wording=QuestionWording("", ""), images=(), options=()),
    )


def build_edition(folder, **counts):
    store = ImageStore(folder=str(folder / "store"))
    parameters = BuilderParameters(counts=counts)
    return build_all(folder, store=store.put, edition="built", parameters=parameters)


def write_claims(folder, labels):
    """Write a claim on an image of its own for each label: 1 if it is true, 0 if it is false."""
    claims = []
    for nth, label in enumerate(labels):
        write_speckled_image(folder / "vsr" / "images" / f"{nth}.png", seed=(0, nth))
        claim = {"image": f"{nth}.png", "caption": "The cow is ahead of the person."}
        votes: dict[str, object] = {"vote_true_validator_id": [], "vote_false_validator_id": []}
        claims.append({**claim, **votes, "label": label})
    write_lines(folder / "vsr" / "all_vsr_validated_data.jsonl", claims)


@pytest.mark.parametrize(
    ("places", "counts"),
    [
        pytest.param([(0, 1, 2, 3)] * 8, {0: 2, 1: 2, 2: 2, 3: 2}, id="all are free"),
        pytest.param(
            [(0, 1)] * 4 + [(2,)] * 2, {0: 2, 1: 2, 2: 2}, id="some are fixed by the data"
        ),
        pytest.param([(0,)] * 3 + [(0, 1)] * 3, {0: 3, 1: 3}, id="the free ones even out"),
    ],
)
@pytest.mark.parametrize("seed", range(10))
def test_places_are_dealt_evenly(places, counts, seed):
    drafts = [draft_with_places(possible) for possible in places]
    assert Counter(deal_places(drafts, Random(seed))) == counts


def test_images_are_near_duplicates_if_few_bits_of_their_hashes_differ():
    used = UsedImages(max_bits=2)
    assert used.near_duplicate([0b1111]) is None
    used.add([0b1111], "a photograph")
    assert used.near_duplicate([0b1100]) == "a photograph"  # two bits
    assert used.near_duplicate([0b1000]) is None  # three bits
    assert used.near_duplicate([2**63, 0b0111]) == "a photograph"  # the second by one bit


def test_an_answer_is_right_for_half_of_the_wanted_questions_at_most(tmp_path):
    write_claims(tmp_path, [1] * 6 + [0])
    edition = build_edition(tmp_path, Spatial_Relation=4)
    assert Counter(q.answer for q in edition.questions) == {("A",): 2, ("B",): 1}
    reasons = [r.reason for r in edition.rejections if r.entry.startswith("Spatial_Relation: ")]
    assert reasons == ["there are enough questions with this answer"] * 4


def test_an_image_that_is_missing_or_torn_is_refused_by_name(tmp_path):
    write_claims(tmp_path, [1, 0, 1])
    (tmp_path / "vsr" / "images" / "0.png").unlink()
    (tmp_path / "vsr" / "images" / "1.png").write_bytes(b"torn")
    edition = build_edition(tmp_path)
    assert len(edition.questions) == 1
    reasons = " ".join(rejection.reason for rejection in edition.rejections)
    assert "0.png: cannot be read" in reasons
    assert "1.png: not an image" in reasons


def test_a_point_outside_its_image_is_refused_by_name(tmp_path):
    write_claims(tmp_path, [1])
    for name in ("a", "b"):
        write_speckled_image(
            tmp_path / "spair" / "JPEGImages" / "cat" / f"{name}.png", seed=ord(name)
        )
    pair = {
        "src_imname": "a.png", "trg_imname": "b.png", "category": "cat",
        "src_kps": [[0, 0], [90, 0], [0, 90], [401, 90]],
        "trg_kps": [[0, 0], [90, 0], [0, 90], [401, 90]],
    }  # fmt: skip
    write_json(tmp_path / "spair" / "PairAnnotation" / "test" / "p.json", pair)
    edition = build_edition(tmp_path)
    assert [q.category for q in edition.questions] == ["Spatial_Relation"]
    assert any("point (401, 90) lies outside b.png" in r.reason for r in edition.rejections)


def test_each_missing_folder_of_raw_data_is_a_rejection(tmp_path):
    write_claims(tmp_path, [1, 0])
    missing = {r.entry for r in build_edition(tmp_path).rejections if "no such folder" in r.reason}
    folders = {f"{recipe.folder}/" for recipe in RECIPES.values()}
    assert missing == folders - {"vsr/"}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        pytest.param("[", "test.json: not JSON, or cut short", id="a file that is cut short"),
        pytest.param("[]", "its raw data have no entries", id="an empty list"),
        pytest.param('[{"answer": 3}]', "all 1 entries are rejected, the first: no", id="bad rows"),
    ],
)
def test_a_faulty_data_set_costs_only_its_own_task(tmp_path, content, fault):
    write_claims(tmp_path, [1, 0])
    (tmp_path / "tallyqa").mkdir()
    (tmp_path / "tallyqa" / "test.json").write_text(content)
    edition = build_edition(tmp_path)
    assert [q.category for q in edition.questions] == ["Spatial_Relation"] * 2
    faults = {task.folder: task.fault for task in edition.tasks}
    assert "no questions of Counting: " in faults["tallyqa"]
    assert fault in faults["tallyqa"]
    assert faults["vsr"] == ""


def test_questions_wanted_built_and_refused_are_counted_for_all_14_tasks(tmp_path):
    write_claims(tmp_path, [1, 1, 1, 0])
    edition = build_edition(tmp_path, Spatial_Relation=4)
    counts = {
        result.task: (result.wanted, result.built, result.refused) for result in edition.tasks
    }
    assert len(counts) == 14
    assert counts["Spatial_Relation"] == (4, 3, 1)
    assert counts["Visual_Correspondence"] == (344, 0, 0)  # questions of the paper


def test_a_count_for_an_unknown_task_is_refused():
    with pytest.raises(UnknownNameError, match="no task of BLINK named 'Jigsav'"):
        BuilderParameters(counts={"Jigsav": 5})


def test_a_task_without_wanted_questions_is_not_built(tmp_path):
    write_claims(tmp_path, [1, 0])
    with pytest.raises(SourceError, match="no questions can be built"):
        build_edition(tmp_path, Spatial_Relation=0)
