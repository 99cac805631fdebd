"""Suites without coordinates: turned images change no question, and are shown upright.

The raw material of a mini edition is built twice: as it is, and with each image stored turned, in
another of the eight EXIF orientations than the one before it.
"""

import shutil
from dataclasses import replace
from hashlib import sha256
from itertools import cycle

import dagster as dg
import numpy as np
import pytest
from PIL import UnidentifiedImageError

from bench_assets.core.schema.rows import Question
from bench_assets.suites.codis import synthetic as codis
from bench_assets.suites.cogbench.synthetic import edition as cogbench
from bench_assets.suites.journeybench.synthetic import edition as journeybench
from bench_assets.suites.multi.synthetic import edition as multi
from tests.fakes.turned_images import turn
from tests.suites.codis.assets.test_questions import Bench as Codis
from tests.suites.cogbench.graph import DATASET_ASSETS as COGBENCH
from tests.suites.cogbench.graph import Bench as CogBench
from tests.suites.journeybench.construction.built_bench import DATASET_MODULES as JOURNEYBENCH
from tests.suites.journeybench.construction.built_bench import Bench as JourneyBench
from tests.suites.multi.bench import Bench as Multi


def of_codis(home, source):
    bench = Codis(home, source)
    bench.build()
    return bench.questions(), bench.images


def of_multi(home, source):
    bench = Multi(home, source)
    bench.build(dg.AssetSelection.assets(["multi", "questions"]))
    return bench.read(Question, "questions"), bench.images


def of_cogbench(home, source):
    bench = CogBench(home, source=source)
    bench.materialize_and_check(COGBENCH)
    tasks = ("description", "vqa")
    return [q for t in tasks for q in bench.rows(f"{t}/questions", Question)], bench.images


def of_journeybench(home, source):
    bench = JourneyBench(home, f'[sources]\njourneybench = "{source}"\n')
    bench.build(dg.load_assets_from_modules(JOURNEYBENCH))
    tasks = ("mcot", "multi_image_vqa")
    return [q for t in tasks for q in bench.rows(f"{t}/questions", Question)], bench.images


def write_turned(folder, turned):
    """Turn each image in another orientation; returns those that occur."""
    shutil.copytree(folder, turned)
    used = []
    for file, orientation in zip(sorted((turned / "images").rglob("*.*")), cycle(range(1, 9))):
        try:
            turn(file, orientation)
        except (UnidentifiedImageError, OSError):
            continue  # planted: a torn file
        used.append(orientation)
    return used


def plain(questions, images):
    """Questions by id, with the pixels that are shown in the places of digests."""
    names = {image: sha256(np.asarray(images.open(image)).tobytes()).hexdigest()
             for question in questions for image in question.images}  # fmt: skip
    return {q.question_id: replace(q, images=tuple(map(names.get, q.images))) for q in questions}


@pytest.mark.parametrize(
    ("write", "build"),
    [
        pytest.param(codis.write, of_codis, id="CODIS"),
        pytest.param(multi.write, of_multi, id="MULTI", marks=pytest.mark.long),
        pytest.param(cogbench.write, of_cogbench, id="CogBench", marks=pytest.mark.long),
        pytest.param(
            journeybench.write, of_journeybench, id="JourneyBench", marks=pytest.mark.long
        ),
    ],
)
def test_turned_images_are_shown_upright_and_change_no_question(tmp_path, write, build):
    write(tmp_path / "upright")
    assert {*write_turned(tmp_path / "upright", tmp_path / "turned")} == {*range(1, 9)}
    before = plain(*build(tmp_path / "one", tmp_path / "upright"))
    after = plain(*build(tmp_path / "two", tmp_path / "turned"))
    assert len(before) > 40
    assert after == before
