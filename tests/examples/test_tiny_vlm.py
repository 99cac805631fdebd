"""The example's script from end to end, with a plan far too small to learn anything."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bench_assets.suites.journeybench.synthetic.images import members
from examples.tiny_vlm.exam import FIRST_SEED, Album, Mark, subjects
from examples.tiny_vlm.lessons import TASKS, blink_questions
from examples.tiny_vlm.strange_views import strange
from examples.tiny_vlm.train import train
from tests.conftest import CHECKOUT

EXAMPLE = CHECKOUT / "examples" / "tiny_vlm"
SHIPPED = EXAMPLE / "checkpoints" / "run-1"
PLANNED = EXAMPLE / "plan.json"

VIEWS = ("strewn", "pair", "depths", "wall", "strange")
PLAN = {
    "seed": 1,
    "threads": 1,  # on a busy machine two would mostly wait for one another
    "first_seed": 1000,
    "views": dict.fromkeys(VIEWS, 2),
    "questions": dict.fromkeys(TASKS, 2),
    "stages": {
        "told": {
            "steps": 1,
            "lessons_a_step": 2,
            "shares": dict.fromkeys(VIEWS, 1),
            "fresh": ["strewn"],
        },
        "shown": {
            "steps": 1,
            "lessons_a_step": 2,
            "shares": dict.fromkeys(VIEWS, 1),
            "fresh": [],
        },
        "asked": {
            "steps": 1,
            "lessons_a_step": 2,
            "shares": dict.fromkeys((*VIEWS, *TASKS), 1),
            "fresh": [],
        },
    },
    "checkpoints": [1],
    "exam": {"questions": 1},
}


@pytest.mark.parametrize(
    ("mark", "p"),
    [
        pytest.param((10, 10, 0, 0.5), 1 / 1024, id="ten of ten coins"),
        pytest.param((3, 0, 0, 0.5), 1.0, id="none right is never better than chance"),
        pytest.param((2, 2, 1, 0.25), 0.25, id="what is known without looking beats chance"),
        pytest.param((4, 4, 4, 0.25), 1.0, id="what is known without looking proves nothing"),
    ],
)
def test_p_is_that_of_guessing(mark: tuple[int, int, int, float], p: float) -> None:
    names = ("n", "right", "right_without_looking", "chance")
    assert Mark(**dict(zip(names, mark, strict=True))).p == pytest.approx(p)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_run_writes_a_checkpoint_that_the_project_loads_and_a_record(tmp_path: Path) -> None:
    train(tmp_path, PLAN)
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert list(record["exam"]) == ["step-0001"]
    assert record["parameters"] < 5_000_000
    assert set(record["learned"]) | set(record["not_learned"]) == set(record["exam"]["step-0001"])
    sizes = [file.stat().st_size for file in tmp_path.glob("*/model.safetensors")]
    assert sizes == [pytest.approx(2 * record["parameters"], rel=0.05)]  # half precision


@pytest.mark.long
def test_what_the_mini_edition_of_journeybench_shows_is_never_taught() -> None:
    shown = {
        frozenset(member.words[kind] for kind in ("subject", "mount", "accessory", "sky"))
        | {member.words["small"]}
        for member in members()
    }
    for seed in range(200):
        taught = {word for words in strange(Random(seed)).cells.values() for word in words}
        assert not any(combination <= taught for combination in shown)


@pytest.mark.long
def test_no_image_of_the_exam_is_that_of_a_lesson() -> None:
    album = Album()
    subjects(2, album)
    taught = [
        one.data for task in TASKS for seed in (0, 1000) for one in blink_questions(task, seed, 2)
    ]
    assert FIRST_SEED > 1000 + 3500  # of lessons: the first seed, and one for each
    assert not set(taught) & set(album.values())


def test_the_run_that_ships_is_small_and_has_learned_five_categories() -> None:
    record = json.loads((SHIPPED / "record.json").read_text(encoding="utf-8"))
    assert sum(file.stat().st_size for file in SHIPPED.rglob("*")) <= 12_000_000
    assert record["parameters"] <= 5_000_000
    assert record["plan"] == json.loads(PLANNED.read_text(encoding="utf-8"))
    assert list(record["exam"]) == sorted(folder.name for folder in SHIPPED.glob("step-*"))
    first, *_, last = record["exam"].values()
    learned = [name for name, mark in last.items() if Mark(**_counts(mark)).p < 0.001]
    assert learned == record["learned"]
    assert len(learned) >= 5
    assert sum(first[name]["right"] for name in learned) < sum(
        last[name]["right"] for name in learned
    )


def _counts(mark: dict[str, float]) -> dict[str, Any]:
    return {name: mark[name] for name in ("n", "right", "right_without_looking", "chance")}
