"""The built route as assets: the mini edition from raw material to questions, and back again."""

import json
from collections import Counter, defaultdict

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
from tests.suites.journeybench.construction.left_half import LEFT, TASKS, Bench


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("home"))
    bench.build(dg.load_assets_from_modules(LEFT))
    return bench


@pytest.mark.long
def test_sixty_mcot_questions_in_twenty_groups_of_three(mini):
    questions = mini.rows("mcot/questions", Question)
    assert Counter(Counter(q.group_id for q in questions).values()) == {3: 20}
    assert sum("hallucination" in q.category for q in questions) == 20
    assert {q.edition for q in questions} == {"mini"}
    answers = defaultdict(set)
    for question in questions:
        answers[question.text].add(question.answer)
    assert all(len(value) == 3 for value in answers.values()), "the text alone gives no answer"


@pytest.mark.parametrize("task", ["mcot", "multi_image_vqa"])
@pytest.mark.long
def test_no_task_can_be_passed_without_looking(mini, task):
    # One exam: what is asked does not depend on the seed, which only draws where things lie.
    exam = mini.rows(f"{task}/questions", Question)
    assert unfair([exam]) == {}


@pytest.mark.long
def test_images_of_a_folder_make_the_same_questions(mini, tmp_path):
    (tmp_path / "generated").mkdir()
    for image in mini.rows("mcot/painted_images", StoredImage):
        file = tmp_path / "generated" / image.name
        file.write_bytes(mini.images.read(image.sha256))
    bench = Bench(tmp_path / "home", '[suites.journeybench]\ngenerated = "../generated"\n')
    bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
    for table in ("painted_images", "questions"):
        key = ["journeybench", "mcot", table]
        assert bench.tables.digest(key) == mini.tables.digest(key)


@pytest.mark.long
def test_solutions_are_verified_by_a_judge_of_their_own(mini):
    (mini.home / "bench.toml").write_text(
        '[models.m]\nkind = "scripted"\nsays = "9+4 = 13, so 39"\n'
    )
    selected = [
        *evaluation_assets(MCOT),
        *solution_assets(MCOT),
        *dg.load_assets_from_modules(LEFT),
    ]
    right = dg.AssetSelection.assets(
        *(["journeybench", "mcot", table] for table in ("predictions", "solution_judgements")),
        ["journeybench", "mcot", "solution_verification"],
    )
    mini.build(selected, selection=right, model="m")
    rows = mini.rows("mcot/solution_verification", Metric, "m")
    (overall,) = (row for row in rows if row.category == "all")
    assert (overall.n_scored, overall.n_failed) == (59, 0), "no mushrooms leave minus one gap"
    assert overall.value == pytest.approx(1 / 59), "only the first question has 13, then 39"
    assert "judge:rules" in overall.signature


def one_problem(folder):
    """Raw material of a single problem."""
    folder.mkdir()
    line = {
        "question": "Ann has 3 pies at 2 dollars. What is paid?",
        "answer": "The 3 pies cost 3*2=<<3*2=6>>6 dollars.\n#### 6",
    }
    (folder / "gsm8k.jsonl").write_text(json.dumps(line))
    return folder


def test_a_source_without_recorded_responses_says_so_of_every_request(tmp_path):
    bench = Bench(tmp_path / "home")
    only_problems = dg.load_assets_from_modules([shared, assets, mcot])
    source = one_problem(tmp_path / "raw")
    (bench.home / "bench.toml").write_text(f'[sources]\njourneybench = "{source}"\n')
    bench.build(only_problems)
    (reason,) = bench.rejected("mcot", "built").values()
    assert "no recorded response in" in reason
    assert not bench.tables.exists(["journeybench", "mcot", "questions"])


def test_bad_rows_of_raw_material_are_rejections_of_the_step_that_reads_them(tmp_path):
    source = tmp_path / "raw"
    source.mkdir()
    bad = {"gsm8k": '{"question": "?"}', "image_counts": "[]", "copa": "{}", "knowledge": "{"}
    bad |= {"gallery": '{"image": "a.png"}', "filter_votes": "5"}
    for name, line in bad.items():
        (source / f"{name}.jsonl").write_text(f"{line}\n")
    bench = Bench(tmp_path / "home", f'[sources]\njourneybench = "{source}"\n')
    bench.build(dg.load_assets_from_modules(LEFT))

    rejected = [row.entry for row in bench.rows("rejections", Rejection)]
    assert rejected == ["gallery.jsonl, line 1", "filter_votes.jsonl, line 1"]
    assert [*bench.rejected("mcot", "built")] == [
        "gsm8k.jsonl, line 1",
        "image_counts.jsonl, line 1",
    ]
    assert [*bench.rejected("multi_image_vqa", "planned_pairs")] == [
        "copa.jsonl, line 1",
        "knowledge.jsonl, line 1",
    ]


def test_a_model_of_the_settings_writes_in_the_place_of_recorded_responses(tmp_path):
    source = one_problem(tmp_path / "raw")
    says = json.dumps(
        [
            {
                "text": "3 pies",
                "number": "3",
                "things": "pies",
                "image_prompt": "exactly {count} of: pie",
            }
        ]
    )
    bench = Bench(
        tmp_path / "home",
        f'[sources]\njourneybench = "{source}"\n[suites.journeybench]\nwriter = "w"\n'
        f"[models.w]\nkind = \"scripted\"\nsays = '{says}'\n",
    )
    bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
    questions = bench.rows("mcot/questions", Question)
    assert [question.edition for question in questions] == ["built"] * 3
    assert questions[0].text == "Ann has the pies in the image at 2 dollars. What is paid?"
    assert {row.writer for row in bench.rows("mcot/quantities", Quantity)} == {"w"}


def published(folder, *images):
    """A release of one MCOT row and one multi-image row, with some of their images."""
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


def test_a_published_source_goes_past_the_built_route(tmp_path):
    bench = Bench(tmp_path / "home", published(tmp_path / "jb", "a.png", "b.png"))
    bench.build(dg.load_assets_from_modules([shared, assets, *TASKS]))
    (question,) = bench.rows("mcot/questions", Question)
    assert (question.question_id, question.edition) == ("journeybench/mcot/7", "own")
    assert (question.answer, question.category) == (("no cups", "0"), "hallucination")
    (pair,) = bench.rows("multi_image_vqa/questions", Question)
    assert (pair.category, len(pair.images)) == ("External Knowledge", 2)
    assert bench.rows("mcot/problems", Problem) == []


def test_a_published_image_that_is_missing_costs_its_question_and_the_name(tmp_path):
    bench = Bench(tmp_path / "home", published(tmp_path / "jb", "a.png"))
    file = tmp_path / "jb" / "mcot.jsonl"
    row = json.loads(file.read_text()) | {"index": "8", "url": "https://host/b.png"}
    file.write_text(f"{file.read_text()}\n{json.dumps(row)}")
    bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
    (question,) = bench.rows("mcot/questions", Question)
    assert question.edition == "own"
    (rejection,) = bench.rows("mcot/rejections", Rejection)
    assert rejection.entry == "mcot, 8, https://host/b.png"


def test_a_published_source_without_any_image_says_what_to_do(tmp_path):
    bench = Bench(tmp_path / "home", published(tmp_path / "jb"))
    message = (
        "none of the 1 rows became a question; .* is missing .* Put missing images into images/"
    )
    with pytest.raises(SourceError, match=message):
        bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
