"""The built route beside other sources: a model that writes, none at all, and published files."""

import json

import dagster as dg
import pytest
from PIL import Image

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.construction.assets import images as assets
from bench_assets.suites.journeybench.mcot import assets as mcot
from bench_assets.suites.journeybench.mcot.image_references import LabelSpelling
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import Quantity
from tests.suites.journeybench.construction.left_half import TASKS, Bench


def test_a_source_without_recorded_responses_says_so_of_every_request(tmp_path):
    bench = Bench(tmp_path / "home")
    only_problems = dg.load_assets_from_modules([shared, assets, mcot])
    source = tmp_path / "raw"
    source.mkdir()
    line = {
        "question": "Ann has 3 pies at 2 dollars. What is paid?",
        "answer": "The 3 pies cost 3*2=<<3*2=6>>6 dollars.\n#### 6",
    }
    (source / "gsm8k.jsonl").write_text(json.dumps(line))
    (bench.home / "bench.toml").write_text(f'[sources]\njourneybench = "{source}"\n')
    bench.build(only_problems)
    (rejection,) = bench.rows("mcot/built_rejections", Rejection)
    assert "no recorded response in" in rejection.reason
    assert not bench.tables.exists(["journeybench", "mcot", "questions"])


def test_a_model_of_the_settings_writes_in_the_place_of_recorded_responses(tmp_path):
    source = tmp_path / "raw"
    source.mkdir()
    line = {
        "question": "Ann has 3 pies at 2 dollars. What is paid?",
        "answer": "The 3 pies cost 3*2=<<3*2=6>>6 dollars.\n#### 6",
    }
    (source / "gsm8k.jsonl").write_text(json.dumps(line))
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
    assert {one.writer for one in bench.rows("mcot/quantities", Quantity)} == {"w"}


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
    assert [row.label for row in bench.rows("mcot/spellings", LabelSpelling)] == [
        "",
        "hallucination",
    ]
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
    with pytest.raises(SourceError, match="none of the 1 images is there: put them into images/"):
        bench.build(dg.load_assets_from_modules([shared, assets, mcot]))
