"""The example's script from end to end with a tiny plan, and what it must never teach."""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from bench_assets.core.reading.choices import read_choice
from bench_assets.suites.blink.synthetic.edition import MATERIAL, material
from bench_assets.suites.codis import synthetic as codis
from bench_assets.suites.cogbench.synthetic import edition as cogbench
from bench_assets.suites.cogbench.synthetic import tales
from bench_assets.suites.journeybench.synthetic.images import members
from examples.tiny_vlm.batches import squeezed
from examples.tiny_vlm.blink_views import strewn
from examples.tiny_vlm.context_views import scene
from examples.tiny_vlm.lessons import decoded
from examples.tiny_vlm.model import grown
from examples.tiny_vlm.story_views import stories
from examples.tiny_vlm.strange_views import strange
from examples.tiny_vlm.train import draw_lessons, train
from examples.tiny_vlm.views import View
from tests.conftest import CHECKOUT

SHIPPED = CHECKOUT / "resources" / "bench_resources" / "models" / "tiny_vlm" / "run-1"

FIRST = ("strewn", "pair", "strange")
MORE = ("stories", "scene", "styles", "forgeries", "boxes", "turned", "problems", "IQ_Test")


def _world(kinds: tuple[str, ...], shown: tuple[str, ...]) -> dict[str, Any]:
    stage: dict[str, Any] = {"steps": 1, "lessons_a_step": 2, "fresh": []}
    told = {**stage, "shares": dict.fromkeys(shown, 1), "fresh": shown[:1]}
    seen = {**stage, "shares": dict.fromkeys(shown, 1)}
    asked = {**stage, "shares": dict.fromkeys(kinds, 1), "told": 0.5}
    return {"look": shown[:1], "told": told, "shown": seen, "asked": asked, "checkpoints": [1]}


PLAN = {
    "seed": 1,
    "threads": 1,  # on a busy machine two would mostly wait for one another
    "first_seed": 1000,
    "views": dict.fromkeys((*FIRST, *MORE), 2),
    "worlds": [_world(FIRST, FIRST), _world(MORE, ("scene", "styles"))],
}


@pytest.mark.long
def test_a_run_writes_checkpoints_that_the_project_loads_and_a_record(tmp_path: Path) -> None:
    from transformers import LlavaForConditionalGeneration as Llava

    train(tmp_path, PLAN)
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    stages = ["told", "shown", "asked"] * 2
    assert [one["stage"] for one in record["losses"]] == stages
    kept = sorted(folder.name for folder in tmp_path.glob("step-*"))
    assert kept == ["step-0001", "step-0002", "step-0004"]
    for name in kept:
        Llava.from_pretrained(tmp_path / name)


def test_a_grown_model_reads_what_it_knew_as_before() -> None:
    from transformers import AutoTokenizer

    folder = SHIPPED / "step-6840"
    known = AutoTokenizer.from_pretrained(folder)
    _, tokenizer = grown(folder, ["Xylophones at grandmother's.", "A giant doughnut."])
    old, new = "An elephant stands on a giant doughnut.", "Xylophones"
    assert tokenizer.encode(old) == known.encode(old)
    assert len(tokenizer.encode(new)) == 1 < len(known.encode(new))


def test_what_a_mini_edition_never_shows_is_shown_in_most_lessons() -> None:
    """Else the text of a question would tell that nothing of it is to be seen."""
    told = [
        (asked.prompt.split()[3], asked.response)
        for seed in range(600)
        for asked in strange(Random(seed)).talk
        if asked.prompt.startswith(("What colour is the", "What is the"))
        and "sky behind" not in asked.prompt
    ]
    denied = [words for words, said in told if said.startswith(("There is no", "The picture"))]
    assert 100 < len(denied) < 0.45 * len(told)


def test_every_number_that_a_lesson_counts_is_read_as_its_option() -> None:
    for seed in range(100):
        for asked in strewn(Random(seed)).talk:
            options = re.findall(r"\([A-D]\) (\d+)", asked.prompt)
            letter = read_choice(asked.response, options).letter
            number = asked.response.rpartition(". Answer")[0].split()[-1]
            assert letter is not None
            assert options["ABCD".index(letter)] == number


def contents(view: View) -> frozenset[str]:
    return frozenset(word for cells in view.cells for words in cells.values() for word in words)


def test_what_the_mini_edition_of_journeybench_shows_is_never_taught() -> None:
    shown = {
        frozenset(member.words[kind] for kind in ("subject", "mount", "accessory", "sky"))
        | {member.words["small"]}
        for member in members()
    }
    for seed in range(100):
        taught = contents(strange(Random(seed)))
        assert not any(combination <= taught for combination in shown)


@pytest.mark.parametrize(
    ("edition", "shifted", "views"),
    [
        pytest.param(codis, codis, lambda seed: [scene(Random(seed))], id="codis"),
        pytest.param(
            cogbench, tales, lambda seed: stories(seed)[:2], id="cogbench", marks=pytest.mark.long
        ),
    ],
)
def test_no_image_of_a_mini_edition_is_taught_wherever_its_parts_lie(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    edition: ModuleType,
    shifted: ModuleType,
    views: Callable[[int], list[View]],
) -> None:
    monkeypatch.setattr(shifted, "_SHIFT", 0)  # px that parts may lie off their places
    edition.write(tmp_path)
    files = (tmp_path / "images").glob("*.png")
    tested = {data for data in (file.read_bytes() for file in files) if data[:2] == b"\x89P"}
    assert len(tested) > 20
    taught = {
        image.tobytes() for seed in range(200) for view in views(seed) for image in view.draw()
    }
    assert len(taught) > 100
    assert not taught & {decoded(data).tobytes() for data in tested}


@pytest.mark.long
def test_no_image_of_a_lesson_is_one_of_a_mini_edition(tmp_path: Path) -> None:
    codis.write(tmp_path / "codis")
    cogbench.write(tmp_path / "cogbench")
    tested = {data for name in MATERIAL for data in material(name, 0).values()}
    tested |= {file.read_bytes() for file in tmp_path.rglob("*.png")}
    tested |= {member.draw(Random(0)) for member in members()}
    lessons = draw_lessons(PLAN | {"views": dict.fromkeys(PLAN["views"], 20)})  # type: ignore[call-overload]
    taught = [image for kind in lessons.values() for lesson in kind for image in lesson.images]
    assert len(taught) > 20 * len(lessons)
    assert not {sha256(image).digest() for image in taught} & _squeezed(tested)


def test_the_run_that_ships_is_small() -> None:
    weights = [file.stat().st_size for file in SHIPPED.glob("*/model.safetensors")]
    assert len(weights) >= 3
    assert sum(weights) <= 20_000_000


def _squeezed(files: set[bytes]) -> set[bytes]:
    """Digests of images as the model sees them."""
    images = [data for data in files if data[:2] in (b"\xff\xd8", b"\x89P", b"P6")]
    return {sha256(squeezed(decoded(data))).digest() for data in images if b"torn" not in data}
