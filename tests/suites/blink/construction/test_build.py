from collections import Counter
from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError, UnknownNameError
from bench_assets.suites.blink.builders.drafts import Draft, DraftView, QuestionWording
from bench_assets.suites.blink.construction.build import (
    UsedImages,
    deal_places,
)
from bench_assets.suites.blink.construction.recipes import RECIPES, BuilderParameters
from bench_resources.images.store import ImageStore
from tests.fakes.blink_builds import build_all
from tests.suites.blink.builders.layouts import speckled, write_json, write_lines


def draft(places, n_options=4):
    return Draft(
        entry="e",
        originals=(),
        n_options=n_options,
        places=places,
        show=lambda place, marks: DraftView(wording=QuestionWording("", ""), images=(), options=()),
    )


def built(folder, **counts):
    store = ImageStore(folder=str(folder / "store"))
    parameters = BuilderParameters(counts=counts)
    return build_all(folder, store=store.put, edition="built", parameters=parameters)


def claim(name, label=1):
    return {
        "image": name,
        "caption": "The cow is ahead of the person.",
        "label": label,
        "vote_true_validator_id": [],
        "vote_false_validator_id": [],
    }


def vsr(folder, labels, seed=0):
    for nth in range(len(labels)):
        speckled(folder / "vsr" / "images" / f"{nth}.png", seed=(seed, nth))
    lines = [claim(f"{nth}.png", label) for nth, label in enumerate(labels)]
    write_lines(folder / "vsr" / "all_vsr_validated_data.jsonl", lines)


@pytest.mark.parametrize(
    ("places", "counts"),
    [
        pytest.param([(0, 1, 2, 3)] * 8, {0: 2, 1: 2, 2: 2, 3: 2}, id="all are free"),
        pytest.param([(0, 1)] * 4 + [(2,)] * 2, {0: 2, 1: 2, 2: 2}, id="some the data settle"),
        pytest.param([(0,)] * 3 + [(0, 1)] * 3, {0: 3, 1: 3}, id="the free ones even out"),
    ],
)
def test_places_are_dealt_evenly(places, counts):
    for seed in range(10):
        assert Counter(deal_places([draft(free) for free in places], Random(seed))) == counts


def test_images_are_near_duplicates_up_to_so_many_bits():
    used = UsedImages(max_bits=2)
    assert used.near_duplicate([0b1111]) is None
    used.add([0b1111], "a photograph")
    assert used.near_duplicate([0b1100]) == "a photograph"
    assert used.near_duplicate([0b1000]) is None
    assert used.near_duplicate([2**63, 0b0111]) == "a photograph"


def test_there_are_no_more_questions_than_wanted_of_an_answer(tmp_path):
    vsr(tmp_path, [1] * 6 + [0] * 2)
    made = built(tmp_path, Spatial_Relation=4)
    assert Counter(q.answer[0] for q in made.questions) == {"A": 2, "B": 2}
    surplus = {r.reason for r in made.rejections if r.entry.startswith("Spatial_Relation")}
    assert surplus <= {"there are enough questions with this answer"}


def test_a_image_that_is_missing_or_torn_is_refused_by_name(tmp_path):
    vsr(tmp_path, [1, 0, 1])
    (tmp_path / "vsr" / "images" / "0.png").unlink()
    (tmp_path / "vsr" / "images" / "1.png").write_bytes(b"torn")
    made = built(tmp_path)
    assert len(made.questions) == 1
    reasons = " ".join(rejection.reason for rejection in made.rejections)
    assert "0.png: cannot be read" in reasons
    assert "1.png: not an image" in reasons


def test_a_point_outside_its_image_is_refused_by_name(tmp_path):
    vsr(tmp_path, [1])
    for name in ("a", "b"):
        speckled(tmp_path / "spair" / "JPEGImages" / "cat" / f"{name}.png", seed=ord(name))
    pair = {
        "src_imname": "a.png", "trg_imname": "b.png", "category": "cat",
        "src_kps": [[0, 0], [90, 0], [0, 90], [401, 90]],
        "trg_kps": [[0, 0], [90, 0], [0, 90], [401, 90]],
    }  # fmt: skip
    write_json(tmp_path / "spair" / "PairAnnotation" / "test" / "p.json", pair)
    made = built(tmp_path)
    assert [q.category for q in made.questions] == ["Spatial_Relation"]
    assert any("point (401, 90) lies outside b.png" in r.reason for r in made.rejections)


def test_a_task_whose_raw_data_are_not_there_is_missing(tmp_path):
    vsr(tmp_path, [1, 0])
    missing = {r.entry for r in built(tmp_path).rejections if "no such folder" in r.reason}
    folders = {f"{recipe.folder}/" for recipe in RECIPES.values()}
    assert missing == folders - {"vsr/"}


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        pytest.param("[", "test.json: not JSON, or cut short", id="a file that is cut short"),
        pytest.param("[]", "its raw data have no entries", id="an empty list"),
        pytest.param('[{"answer": 3}]', "all 1 entries are rejected, the first: no", id="bad rows"),
    ],
)
def test_a_data_set_at_fault_costs_its_own_task_and_no_other(tmp_path, entries, fault):
    vsr(tmp_path, [1, 0])
    (tmp_path / "tallyqa").mkdir()
    (tmp_path / "tallyqa" / "test.json").write_text(entries)
    made = built(tmp_path)
    assert [q.category for q in made.questions] == ["Spatial_Relation"] * 2
    faults = {task.folder: task.fault for task in made.tasks}
    assert "no questions of Counting: " in faults["tallyqa"]
    assert fault in faults["tallyqa"]
    assert faults["vsr"] == ""


def test_wanted_stands_against_built_for_all_fourteen(tmp_path):
    vsr(tmp_path, [1, 1, 1, 0])
    made = built(tmp_path, Spatial_Relation=4)
    counts = {one.task: (one.wanted, one.built, one.refused) for one in made.tasks}
    assert len(counts) == 14
    assert counts["Spatial_Relation"] == (4, 3, 1)
    assert counts["Visual_Correspondence"] == (344, 0, 0)


def test_a_count_for_a_task_that_is_none_is_refused():
    with pytest.raises(UnknownNameError, match="no task of BLINK named 'Jigsav'"):
        BuilderParameters(counts={"Jigsav": 5})


def test_a_task_of_which_nothing_is_wanted_is_not_built(tmp_path):
    vsr(tmp_path, [1, 0])
    with pytest.raises(SourceError, match="no questions can be built"):
        built(tmp_path, Spatial_Relation=0)
