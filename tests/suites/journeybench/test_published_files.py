"""Files of the release that lack something, or say it twice: what each costs, and what not."""

import math
from pathlib import Path

import pytest

import bench_assets.suites.journeybench
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.published_numbers import read_published
from bench_assets.core.schema.rows import Metric, Question, Rejection, Score, StoredImage
from bench_assets.suites.journeybench.assets.question_tables import edition_of
from bench_assets.suites.journeybench.multi_image_vqa.dataset import (
    RELEASES as MULTI_IMAGE_RELEASES,
)
from bench_assets.suites.journeybench.published_files import (
    match_addresses,
    read_texts,
)
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from tests.cases import read_cases
from tests.suites.journeybench.published_bench import EVALUATED, Bench
from tests.suites.journeybench.release import HOST, write_lines, write_release


def test_a_task_that_the_source_does_not_have_is_skipped(tmp_path):
    source = write_release(tmp_path / "source")
    for file in source.glob("*.jsonl"):
        file.unlink()
    bench = Bench(tmp_path / "home", source)
    assert bench.build().success
    assert len(bench.rows("hallucination_vqa/questions", Question)) == 2
    assert not bench.tables.exists(["journeybench", "captioning", "questions"])


def test_a_broken_file_of_one_task_stops_no_other(tmp_path):
    source = write_release(tmp_path / "source")
    for name in ("i2t_positive.jsonl", "unusual_image_caption_generation.jsonl"):
        (source / name).write_text("{")
    (source / "t2i.json").write_text("[]")  # the same table twice
    bench = Bench(tmp_path / "home", source)
    result = bench.build()
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("hold the same table. Remove one of them" in error for error in errors)
    assert len(bench.rows("hallucination_vqa/questions", Question)) == 2
    keys = [["journeybench", "hallucination_vqa", table] for table in EVALUATED]
    assert bench.run(keys, "says-cat").success
    for task in ("captioning", "retrieval"):
        assert not bench.tables.exists(["journeybench", task, "questions"])


def test_captions_that_cannot_be_read_take_only_the_categories_from_retrieval(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "unusual_image_caption_generation.jsonl").write_text("{")
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning", "retrieval")
    questions = bench.rows("retrieval/questions", Question)
    assert {question.labels["categories"] for question in questions} == {""}


def test_images_that_share_their_file_name_are_kept_apart_or_refused(tmp_path):
    source = write_release(tmp_path / "source")
    addresses = [f"{HOST}/{name}/0_0.png" for name in ("one", "two", "three")]
    lines = ({"url": url, "captions": "A cat. A dog."} for url in addresses)
    write_lines(source / "unusual_image_caption_generation.jsonl", *lines)
    images = source / "images"
    (images / "one").mkdir()
    (images / "whale.png").rename(images / "one" / "0_0.png")
    (images / "shark.png").rename(images / "0_0.png")
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning")
    (kept,) = bench.rows("captioning/questions", Question)
    assert kept.labels["image"] == addresses[0]
    reasons = bench.rejected("captioning", "rejections")
    assert reasons["images/0_0.png"].startswith("matches 3 addresses, such as")
    assert set(reasons) == {"images/0_0.png", *addresses[1:]}


@pytest.mark.parametrize(
    ("n", "whole", "edition"),
    [
        pytest.param(179, True, "published", id="the release of the site's history"),
        pytest.param(313, True, "published", id="the release of the hub"),
        pytest.param(313, False, "own", id="an image is missing"),
        pytest.param(312, True, "own", id="a number that no release has"),
    ],
)
def test_how_many_rows_there_are_names_the_edition(tmp_path, n, whole, edition):
    source = write_release(tmp_path / "source")
    (source / "multiimage_vqa.csv").touch()
    sources = SourceFiles(settings=Bench(tmp_path / "home", source).settings)
    counts = {"n": n, "releases": MULTI_IMAGE_RELEASES}
    assert edition_of(sources, "multi_image_vqa", whole=whole, **counts) == edition
    assert edition_of(sources, "mcot", whole=whole, **counts) == "built"


def test_a_file_without_rows_is_an_error(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "caption.csv").write_text("url,captions\n")
    result = Bench(tmp_path / "home", source).build("captioning")
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("no rows" in error for error in errors)


def test_three_tasks_from_files_to_questions(bench):
    names = {image.name for image in bench.rows("images", StoredImage)}
    assert names == {f"{name}.png" for name in ("cat car", "whale", "dog car", "shark", "moon")}
    shown = [question.labels["image"] for question in bench.rows("captioning/questions", Question)]
    assert shown == [f"{HOST}/cat%20car.png", f"{HOST}/whale.png"]
    broken = {"images/torn.png": "not an image in any known format"}
    assert bench.rejected("images") == broken
    ((address, reason),) = bench.rejected("retrieval", "rejections").items()
    assert address == f"{HOST}/lost.png"
    assert reason.startswith("no image in images/")
    (lost,) = [row for row in bench.rows("retrieval/rejections", Rejection) if "lost" in row.entry]
    assert lost.reason == "the distractor's image is missing"
    for task in ("captioning", "retrieval", "hallucination_vqa"):
        editions = {question.edition for question in bench.rows(f"{task}/questions", Question)}
        assert editions == {"own"}


@pytest.mark.parametrize(
    ("lost", "edition"),
    [
        pytest.param((), "published", id="all tables"),
        pytest.param(("i2t_negative",), "own", id="texts without their distractors"),
        pytest.param(("i2t_positive", "i2t_negative"), "published", id="image retrieval alone"),
    ],
)
def test_texts_without_their_distractors_are_no_published_edition(tmp_path, lost, edition):
    source = write_release(tmp_path / "source")
    t2i = {"url": f"{HOST}/whale.png", "captions": "A whale.", "distractor_url": []}
    write_lines(source / "t2i.jsonl", t2i)
    for name in lost:
        (source / f"{name}.jsonl").unlink()
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning", "retrieval")
    assert {q.edition for q in bench.rows("retrieval/questions", Question)} == {edition}


def test_without_a_judge_model_hallucination_has_no_number(bench):
    keys = [["journeybench", "hallucination_vqa", table] for table in EVALUATED]
    assert bench.run(keys, "says-cat").success
    rows = bench.rows("hallucination_vqa/metrics", Metric, "says-cat")
    assert {(row.category, row.n_scored) for row in rows} == {
        ("all", 0),
        ("false premises", 0),
        ("visual challenge", 0),
        ("generated", 0),
    }
    assert all(math.isnan(row.value) for row in rows)
    (note,) = {row.note for row in bench.rows("hallucination_vqa/scores", Score, "says-cat")}
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
            for row in bench.rows(f"retrieval/{table}", Metric, "random")
            if row.category == "all"
        }
        for table in ("metrics", "without_distractors/metrics")
    )
    assert list(hard) == [f"{way}_r@{k}" for way in ("text", "image") for k in (1, 5, 10)]
    assert all(hard[name].value <= easy[name].value for name in hard)
    assert easy["text_r@5"].value == easy["image_r@5"].value == 1  # of 3 texts and 2 images
    assert "+own distractors" in hard["text_r@1"].signature


ROWS = read_published(Path(bench_assets.suites.journeybench.__file__).with_name("published.csv"))
HUMAN = "HaloQuest, README (human evaluation)"


@pytest.mark.parametrize(
    ("task", "model", "metric", "printed"),
    [
        ("retrieval", "InternVL-G-14B", "image_r@1", "63.71"),
        ("captioning", "InstructBLIP-12B", "cider", "00.46"),
        ("multi_image_vqa", "Human", "accuracy", "78.90"),
        ("mcot", "GPT-4V", "accuracy", "49.34"),
    ],
)
def test_cells_of_the_paper(task, model, metric, printed):
    found = {
        row.printed
        for row in ROWS
        if (row.task, row.model, row.metric) == (f"journeybench/{task}", model, metric)
        and (row.condition, row.category) == ("main", "all")
    }
    assert printed in found


def test_haloquests_overall_is_made_of_its_image_sources_except_where_noted():
    """391 generated and 217 real questions; three rows stand on 348, two do not add up."""
    cells = {(r.model, r.category): r for r in ROWS if r.source == HUMAN}
    models = {model for model, _ in cells}
    assert len(models) == 16
    off = {
        model
        for model in models
        for overall in [cells[model, "all"]]
        if abs(
            (391 * cells[model, "generated"].value + 217 * cells[model, "real"].value) / 608
            - overall.value
        )
        > 0.001
    }
    noted = {model for model in models if "348" in cells[model, "all"].note}
    assert len(noted) == 3
    assert off - noted <= {"MiniGPT4 (13B)", "MiniGPT4 (7B)"}


# Which files of a folder are which, and which of its images an address means.


@pytest.mark.parametrize(
    ("names", "addresses", "file_of"),
    read_cases(__file__, "address_files.jsonl"),
)
def test_which_file_is_the_image_of_an_address(names, addresses, file_of):
    assert match_addresses(names, addresses).file_of == file_of


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param([" a ", "", "b"], ["a", "b"], id="a list"),
        pytest.param("['a', 'b']", ["a", "b"], id="a list as Python writes it"),
        pytest.param("[a cat", ["[a cat"], id="a text that begins like a list"),
        pytest.param(None, [], id="nothing"),
    ],
)
def test_fields_that_hold_one_or_several_texts(written, read):
    assert read_texts({"field": written}, "field") == read


HALLUCINATION_TASK = "journeybench/hallucination_vqa"


class OnlyHallucination(Workbench):
    """A home folder in which one task can be built."""

    def refresh_questions(self, suite):
        if suite != HALLUCINATION_TASK:
            raise SourceError(f"{suite}: t2i.jsonl, line 1: not JSON")


def test_where_a_suite_cannot_be_built_its_tasks_are_built_one_by_one(tmp_path):
    with OnlyHallucination(load_settings(tmp_path), ["journeybench"]) as bench:
        bench.tables.path([*HALLUCINATION_TASK.split("/"), "questions"]).parent.mkdir(parents=True)
        bench.tables.path([*HALLUCINATION_TASK.split("/"), "questions"]).touch()
        built, failures = build_questions(bench, "journeybench")
        assert built == [HALLUCINATION_TASK]
        assert len(failures) == 1 + 4
        with pytest.raises(SourceError, match="line 1"):
            build_questions(bench, "journeybench/retrieval")
