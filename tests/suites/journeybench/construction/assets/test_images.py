import json
from collections import Counter

import dagster as dg
import pytest
from PIL import Image

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Metric, Question, Rejection, StoredImage
from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.construction.assets import images as assets
from bench_assets.suites.journeybench.mcot import assets as mcot
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import Quantity
from bench_assets.suites.journeybench.mcot.task import TASK as MCOT
from bench_assets.suites.journeybench.solutions.assets import solution_assets
from tests.fakes.fair_exam import unfair
from tests.suites.journeybench.construction.built_bench import DATASET_MODULES, Bench


@pytest.fixture(scope="module")
def mini_bench(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("home"))
    bench.build(dg.load_assets_from_modules(DATASET_MODULES))
    return bench


@pytest.mark.long
def test_mcot_has_twenty_problems_with_three_images_one_without_the_things(mini_bench):
    questions = mini_bench.rows("mcot/questions", Question)
    group_sizes = Counter(question.group_id for question in questions)
    assert Counter(group_sizes.values()) == {3: 20}
    assert sum("hallucination" in question.category for question in questions) == 20
    assert {question.edition for question in questions} == {"mini"}


@pytest.mark.long
def test_each_text_of_mcot_has_three_answers(mini_bench):
    questions = mini_bench.rows("mcot/questions", Question)
    texts_and_answers = {(question.text, question.answer) for question in questions}
    assert Counter(Counter(text for text, _ in texts_and_answers).values()) == {3: 20}


@pytest.mark.parametrize("task", ["mcot", "multi_image_vqa"])
@pytest.mark.long
def test_built_questions_cannot_be_guessed_from_their_words(mini_bench, task):
    # One exam is enough: the seed changes only positions in images, not the questions.
    assert unfair([mini_bench.rows(f"{task}/questions", Question)]) == {}


@pytest.mark.long
def test_painted_images_read_from_a_folder_give_the_same_tables(mini_bench, tmp_path):
    (tmp_path / "generated").mkdir()
    for image in mini_bench.rows("mcot/painted_images", StoredImage):
        file = tmp_path / "generated" / image.name
        file.write_bytes(mini_bench.images.read(image.sha256))
    bench = Bench(tmp_path / "home", '[suites.journeybench]\ngenerated = "../generated"\n')
    bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
    for table in ("painted_images", "questions"):
        key = ["journeybench", "mcot", table]
        assert bench.tables.digest(key) == mini_bench.tables.digest(key)


@pytest.mark.long
def test_solutions_are_verified_by_a_judge_of_solutions(mini_bench):
    (mini_bench.home / "bench.toml").write_text(
        '[models.m]\nkind = "scripted"\nsays = "9+4 = 13, so 39"\n'
    )
    mcot_assets = [
        *evaluation_assets(MCOT),
        *solution_assets(MCOT),
        *dg.load_assets_from_modules(DATASET_MODULES),
    ]
    tables = ("predictions", "solution_judgements", "solution_verification")
    selection = dg.AssetSelection.assets(*(["journeybench", "mcot", table] for table in tables))
    mini_bench.build(mcot_assets, selection=selection, model="m")
    rows = mini_bench.rows("mcot/solution_verification", Metric, "m")
    (overall,) = (row for row in rows if row.category == "all")
    # One of 60 questions has no solution: without mushrooms the number of gaps is below zero.
    assert (overall.n_scored, overall.n_failed) == (59, 0)
    assert overall.value == pytest.approx(1 / 59)  # only the first question has 13, then 39
    assert "judge:rules" in overall.signature


def write_raw_problem(folder):
    """Write raw material with a single problem."""
    folder.mkdir()
    line = {
        "question": "Ann has 3 pies at 2 dollars. What is paid?",
        "answer": "The 3 pies cost 3*2=<<3*2=6>>6 dollars.\n#### 6",
    }
    (folder / "gsm8k.jsonl").write_text(json.dumps(line))
    return folder


def test_a_request_without_a_recorded_response_is_rejected(tmp_path):
    bench = Bench(tmp_path / "home")
    source = write_raw_problem(tmp_path / "raw")
    (bench.home / "bench.toml").write_text(f'[sources]\njourneybench = "{source}"\n')
    bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
    (reason,) = bench.rejected("mcot", "built").values()
    assert "no recorded response in" in reason
    assert not bench.tables.exists(["journeybench", "mcot", "questions"])


def test_invalid_rows_of_raw_material_are_rejections_of_the_step_that_reads_them(tmp_path):
    source = tmp_path / "raw"
    source.mkdir()
    invalid_rows = {
        "gsm8k": '{"question": "?"}',
        "image_counts": "[]",
        "copa": "{}",
        "knowledge": "{",
        "gallery": '{"image": "a.png"}',
        "filter_votes": "5",
    }
    for name, row in invalid_rows.items():
        (source / f"{name}.jsonl").write_text(f"{row}\n")
    bench = Bench(tmp_path / "home", f'[sources]\njourneybench = "{source}"\n')
    bench.build(dg.load_assets_from_modules(DATASET_MODULES))

    entries = [row.entry for row in bench.rows("rejections", Rejection)]
    assert entries == ["gallery.jsonl, line 1", "filter_votes.jsonl, line 1"]
    mcot_entries = list(bench.rejected("mcot", "built"))
    assert mcot_entries == ["gsm8k.jsonl, line 1", "image_counts.jsonl, line 1"]
    pair_entries = list(bench.rejected("multi_image_vqa", "planned_pairs"))
    assert pair_entries == ["copa.jsonl, line 1", "knowledge.jsonl, line 1"]


def test_a_configured_writer_replaces_recorded_responses(tmp_path):
    source = write_raw_problem(tmp_path / "raw")
    quantities = (
        '[{"text": "3 pies", "number": "3", "things": "pies",'
        ' "image_prompt": "exactly {count} of: pie"}]'
    )
    bench = Bench(
        tmp_path / "home",
        f'[sources]\njourneybench = "{source}"\n[suites.journeybench]\nwriter = "w"\n'
        f"[models.w]\nkind = \"scripted\"\nsays = '{quantities}'\n",
    )
    bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
    questions = bench.rows("mcot/questions", Question)
    assert [question.edition for question in questions] == ["built"] * 3
    assert {question.text for question in questions} == {
        "Ann has the pies in the image at 2 dollars. What is paid?"
    }
    assert {row.writer for row in bench.rows("mcot/quantities", Quantity)} == {"w"}


def write_published_source(folder, *images):
    """Write a release of one MCOT row and one multi-image row; returns its TOML section."""
    (folder / "images").mkdir(parents=True)
    for colour, name in enumerate(images):
        Image.new("RGB", (8, 8), (0, 0, 99 * colour)).save(folder / "images" / name)
    url = "https://host/a.png"
    row = {"index": "7", "url": url, "question": "How many cups?", "answer": "no cups; 0"}
    (folder / "mcot.jsonl").write_text(json.dumps(row | {"category": "hallucination;odd"}))
    pair = {"url1": url, "url2": "https://host/b.png", "External_Knowledge": "1"}
    (folder / "multi_image_vqa.jsonl").write_text(
        json.dumps(pair | {"question": "How many legs?", "answer": "12"})
    )
    return f'[sources]\njourneybench = "{folder}"\n'


def test_a_published_source_gives_questions_without_the_built_route(tmp_path):
    toml = write_published_source(tmp_path / "jb", "a.png", "b.png")
    # There is no model of that name, and no text to be written.
    bench = Bench(tmp_path / "home", f'{toml}[suites.journeybench]\nwriter = "nobody"\n')
    bench.build(dg.load_assets_from_modules(DATASET_MODULES))
    (question,) = bench.rows("mcot/questions", Question)
    assert (question.question_id, question.edition) == ("journeybench/mcot/7", "own")
    assert (question.answer, question.category) == (("no cups", "0"), "hallucination")
    (pair,) = bench.rows("multi_image_vqa/questions", Question)
    assert (pair.category, len(pair.images)) == ("External Knowledge", 2)
    assert bench.rows("mcot/problems", Problem) == []


def test_a_published_source_without_any_image_is_an_error(tmp_path):
    bench = Bench(tmp_path / "home", write_published_source(tmp_path / "jb"))
    message = (
        "none of the 1 rows became a question; .* is missing .* Put missing images into images/"
    )
    with pytest.raises(SourceError, match=message):
        bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
