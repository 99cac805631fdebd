"""The published route as assets: three tasks from files in the forms of the release to metrics."""

import math

import pytest

from bench_assets.asset_factory.suite_assets import ENCODERS
from bench_assets.core.schema.rows import Metric, Question, Rejection, Score, StoredImage
from bench_assets.suites.journeybench.captioning.assets import CaptionScore
from tests.suites.journeybench.published_bench import EVALUATED
from tests.suites.journeybench.release import HOST


def test_three_tasks_from_files_to_questions(bench):
    names = {image.name for image in bench.read("images", StoredImage)}
    assert names == {f"{name}.png" for name in ("cat car", "whale", "dog car", "shark", "moon")}
    named = {
        task: {image.name for image in bench.read(f"{task}/images", StoredImage)}
        for task in ("captioning", "retrieval", "hallucination_vqa")
    }
    cat, whale, *alike = (f"{HOST}/{n}.png" for n in ("cat%20car", "whale", "dog%20car", "shark"))
    assert named == {
        "captioning": {cat, whale},
        "retrieval": {cat, whale, *alike},
        "hallucination_vqa": {cat, whale},
    }
    broken = {row.entry: row.reason for row in bench.read("broken_images", Rejection)}
    assert broken == {"images/torn.png": "not an image in any known format"}
    (broken,) = bench.read("retrieval/broken_images", Rejection)
    reason = "not downloaded; set download = true"
    assert (broken.entry, broken.reason) == (f"{HOST}/lost.png", reason)
    (lost,) = [row for row in bench.read("retrieval/rejections", Rejection) if "lost" in row.entry]
    assert lost.reason == "no image of a distractor"
    editions = {
        task: {question.edition for question in bench.read(f"{task}/questions", Question)}
        for task in ("captioning", "retrieval", "hallucination_vqa")
    }
    assert editions == {
        "captioning": {"own"},
        "retrieval": {"own"},
        "hallucination_vqa": {"own"},
    }


@pytest.mark.long
def test_captions_are_scored_one_by_one_and_by_category(bench):
    keys = [["journeybench", "captioning", table] for table in EVALUATED if table != "judgements"]
    studied = [["journeybench", "captioning", t] for t in ("caption_scores", "metrics_by_category")]
    assert bench.run([*keys, *studied], "says-cat").success
    cat, whale = bench.read("captioning/caption_scores", CaptionScore, "says-cat")
    assert (cat.rouge_l, whale.cider) == (1.0, 0.0)
    overall = bench.read("captioning/metrics", Metric, "says-cat")
    by_category = {
        (row.category, row.metric): row
        for row in bench.read("captioning/metrics_by_category", Metric, "says-cat")
    }
    assert by_category["unexpected behavior", "rouge_l"].value == 1.0
    (cider,) = [row.value for row in overall if row.metric == "cider"]
    parts = [by_category[c, "cider"].value for c in ("unexpected behavior", "strange scene")]
    assert cider == pytest.approx(sum(parts) / 2)


def test_without_a_judge_model_hallucination_has_no_number(bench):
    keys = [["journeybench", "hallucination_vqa", table] for table in EVALUATED]
    assert bench.run(keys, "says-cat").success
    rows = bench.read("hallucination_vqa/metrics", Metric, "says-cat")
    assert {(row.category, row.n_scored) for row in rows} == {
        ("all", 0),
        ("false premises", 0),
        ("visual challenge", 0),
        ("generated", 0),
    }
    assert all(math.isnan(row.value) for row in rows)
    (note,) = {row.note for row in bench.read("hallucination_vqa/scores", Score, "says-cat")}
    assert "name a model as judge" in note


def test_an_encoder_is_measured_with_and_without_distractors(bench):
    for prefix in ([], ["without_distractors"], ["as_released"]):
        keys = [
            ["journeybench", "retrieval", *prefix, table]
            for table in EVALUATED
            if table != "judgements"
        ]
        assert bench.run(keys, "random").success
    hard, easy = (
        {
            row.metric: row
            for row in bench.read(f"retrieval/{table}", Metric, "random")
            if row.category == "all"
        }
        for table in ("metrics", "without_distractors/metrics")
    )
    assert list(hard) == [f"{way}_r@{k}" for way in ("text", "image") for k in (1, 5, 10)]
    assert all(hard[name].value <= easy[name].value for name in hard)
    assert easy["text_r@5"].value == easy["image_r@5"].value == 1  # of 3 texts and 2 images
    assert "+own distractors" in hard["text_r@1"].signature


@pytest.mark.long
def test_an_unknown_encoder_is_named_with_those_there_are(bench):
    bench.instance.add_dynamic_partitions(ENCODERS.name, ["clip"])
    result = bench.run([["journeybench", "retrieval", "predictions"]], "clip")
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "no encoder in" in str(failure.step_failure_data.error)
    assert "known: random" in str(failure.step_failure_data.error)
