"""Other sources as a graph: releases, raw material without annotations, models that write."""

import io
import json
from collections import Counter

import dagster as dg
import pytest
from PIL import Image
from pydantic import ValidationError

from bench_assets.core.schema.errors import ModelError, SourceError
from bench_assets.core.schema.rows import ImageText, Question, Rejection
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.construction.transformations import (
    SolverAnswer,
    Transformation,
    unproven,
)
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.settings import MultiSettings
from tests.suites.multi.bench import Bench
from tests.suites.multi.test_source import PROBLEM


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "release"
    (folder / "images" / "czsw").mkdir(parents=True)
    (folder / "images" / "czsw" / "502_1.png").write_bytes(png())
    (folder / "problem_v1.json").write_text(json.dumps({"czsw_0": PROBLEM}))
    (folder / "hard_list_v1.json").write_text('["czsw_0_1"]')
    (folder / "ocr_v1_easyocr.csv").write_text("../data/images/czsw/502_1.png,猫、狗\n")
    return folder


def png():
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    return file.getvalue()


def test_a_release_goes_through_as_it_is(release, tmp_path):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    first, second = bench.read(Question, "questions")
    assert (first.question_id, first.edition, first.answer) == ("multi/czsw_0_0", "own", ("B",))
    assert bench.read(SelectionDecision, "selection") == []
    assert bench.read(Transformation, "transformations") == []
    assert bench.read(Rejection, "rejections") == []
    assert [q.question_id for q in bench.read(Question, "elite", "questions")] == [
        second.question_id
    ]
    (text,) = bench.read(ImageText, "ocr_for_images", "ocr")
    assert (text.text, text.author) == ("猫、狗", "ocr_v1_easyocr.csv")
    assert bench.read(ImageText, "captions_for_images", "captions") == []


def test_a_release_that_is_cut_short_stops_at_its_file(release, tmp_path):
    (release / "problem_v1.json").write_text('{"czsw_0": ')
    with pytest.raises(SourceError, match=r"problem_v1\.json: not JSON, or cut short"):
        Bench(tmp_path / "home", release).build()


def with_teller(says):
    return (
        f'[models.teller]\nkind = "scripted"\nsays = """{says}"""\n'
        '[suites.multi]\ncaptioner = "teller"\nwriter = "teller"\n'
    )


def test_a_model_may_describe_images(release, tmp_path):
    bench = Bench(tmp_path / "home", release, with_teller("一只猫。"))
    bench.build(dg.AssetSelection.assets(["multi", "captions_for_images", "captions"]))
    (caption,) = bench.read(ImageText, "captions_for_images", "captions")
    assert (caption.text, caption.author) == ("一只猫。", "teller")


def test_a_model_may_propose_rewrites_and_a_rule_decides(tmp_path):
    """The one proposal fits one item, whose stem has these words once."""
    says = "改写：deepen\n原文：属于哺乳动物\n改为：胎生并且哺乳"
    bench = Bench(tmp_path / "home", written=with_teller(says))
    bench.build(dg.AssetSelection.assets(["multi", "transformations"]))
    proposed = [row for row in bench.read(Transformation, "transformations") if row.by == "teller"]
    assert [row.item_id for row in proposed if row.fault.startswith("for review")] == ["czsw_0_0"]
    assert len(proposed) > 10
    assert sum("does not stand there exactly once" in row.fault for row in proposed) > 10


def test_two_solvers_confirm_the_gold_that_both_find(tmp_path):
    models = "".join(f'[models.{one}]\nkind = "scripted"\nsays = "$y=x+2$"\n' for one in ("x", "y"))
    bench = Bench(tmp_path / "home", written=f'{models}[suites.multi]\nsolvers = ["x", "y"]\n')
    bench.build(dg.AssetSelection.assets(["multi", "transformations"]))
    waiting = unproven(bench.read(Transformation, "transformation_proposals"))
    answers = bench.read(SolverAnswer, "solver_answers")
    assert Counter(one.solver for one in answers) == {"x": len(waiting), "y": len(waiting)}
    agreed = {one.new_id for one in answers if one.agrees}
    applied = [row for row in bench.read(Transformation, "transformations") if "x, y" in row.proof]
    assert {row.new_id for row in applied} == agreed == {"czsx_22_0"}
    assert bench.read(Transformation, "transformation_review") != []


def test_one_solver_is_not_enough():
    with pytest.raises(ValidationError, match="expected two different models or more, got one"):
        MultiSettings(solvers=("x", "x"))


def test_raw_material_that_nobody_annotated_is_still_selected_and_checked(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    problems = {f"czsx_{n}": PROBLEM | {"problem_content": "[IMAGE_1]"} for n in range(12)}
    (folder / "raw_problems.json").write_text(json.dumps(problems))
    (folder / "annotations.json").write_text("[]")
    bench = Bench(tmp_path / "home", folder)
    bench.build(dg.AssetSelection.assets(["multi", "annotated_items"]))
    picked = {one.problem_id for one in bench.read(SelectionDecision, "selection") if one.picked}
    assert 0 < len(picked) < 12
    assert {one.problem_id for one in bench.read(MultiItem, "annotated_items")} == picked


def test_a_model_that_cannot_be_reached_stops_the_captions(release, tmp_path):
    written = (
        '[models.gone]\nkind = "server"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        'max_tries = 1\n[suites.multi]\ncaptioner = "gone"\n'
    )
    captions = dg.AssetSelection.assets(["multi", "captions_for_images", "captions"])
    with pytest.raises(ModelError):
        Bench(tmp_path / "home", release, written).build(captions)
