"""In suites without coordinates, images that are stored turned change no question.

The raw material of a mini edition is built twice: as it is, and with its images stored in the
eight EXIF orientations in turn.
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


def read_questions(bench, *tasks):
    return [row for task in tasks for row in bench.rows(f"{task}/questions", Question)]


def build_codis(home, source):
    bench = Codis(home, source)
    bench.build()
    return bench.questions(), bench.images


def build_multi(home, source):
    bench = Multi(home, source)
    bench.build(dg.AssetSelection.assets(["multi", "questions"]))
    return bench.read(Question, "questions"), bench.images


def build_cogbench(home, source):
    bench = CogBench(home, source=source)
    bench.materialize_and_check(COGBENCH)
    return read_questions(bench, "description", "vqa"), bench.images


def build_journeybench(home, source):
    bench = JourneyBench(home, f'[sources]\njourneybench = "{source}"\n')
    bench.build(dg.load_assets_from_modules(JOURNEYBENCH))
    return read_questions(bench, "mcot", "multi_image_vqa"), bench.images


def write_turned_copy(folder, copy):
    """Copy raw material with its images turned; returns the orientations that occur."""
    shutil.copytree(folder, copy)
    orientations = set()
    for file, orientation in zip(sorted((copy / "images").rglob("*.*")), cycle(range(1, 9))):
        try:
            turn(file, orientation)
        except (UnidentifiedImageError, OSError):
            continue  # a planted torn file
        orientations.add(orientation)
    return orientations


def with_pixel_digests(questions, image_store):
    """Questions by id, with digests of the pixels that are shown in place of those of files."""
    by_id = {}
    for question in questions:
        pixels = [np.asarray(image_store.open(image)) for image in question.images]
        digests = tuple(sha256(array.tobytes()).hexdigest() for array in pixels)
        by_id[question.question_id] = replace(question, images=digests)
    return by_id


@pytest.mark.parametrize(
    ("write", "build"),
    [
        pytest.param(codis.write, build_codis, id="CODIS"),
        pytest.param(multi.write, build_multi, id="MULTI", marks=pytest.mark.long),
        pytest.param(cogbench.write, build_cogbench, id="CogBench", marks=pytest.mark.long),
        pytest.param(
            journeybench.write, build_journeybench, id="JourneyBench", marks=pytest.mark.long
        ),
    ],
)
def test_turned_images_are_shown_upright_and_change_no_question(tmp_path, write, build):
    write(tmp_path / "upright")
    assert write_turned_copy(tmp_path / "upright", tmp_path / "turned") == set(range(1, 9))
    upright = with_pixel_digests(*build(tmp_path / "upright_home", tmp_path / "upright"))
    turned = with_pixel_digests(*build(tmp_path / "turned_home", tmp_path / "turned"))
    assert len(upright) > 40
    assert turned == upright
