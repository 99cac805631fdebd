import math
from pathlib import Path

import pytest

import bench_assets.suites.journeybench
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.published_numbers import read_published
from bench_assets.core.schema.rows import Metric, Question, Rejection, Score, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.suites.journeybench.published_files import (
    match_addresses,
    number_repeated,
    read_records,
    read_texts,
)
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.cases import read_cases
from tests.suites.journeybench.published_bench import EVALUATION_TABLES, Bench
from tests.suites.journeybench.release import HOST, write_lines, write_release


def test_a_task_without_files_in_the_source_is_skipped(tmp_path):
    source = write_release(tmp_path / "source")
    for file in source.glob("*.jsonl"):
        file.unlink()
    bench = Bench(tmp_path / "home", source)
    assert bench.build().success
    assert len(bench.rows("hallucination_vqa/questions", Question)) == 2
    assert not bench.tables.exists(["journeybench", "captioning", "questions"])


def step_errors(result):
    return [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]


def test_broken_files_of_two_tasks_do_not_stop_the_third(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "i2t_positive.jsonl").write_text("{")
    (source / "unusual_image_caption_generation.jsonl").write_text("{")
    bench = Bench(tmp_path / "home", source)
    bench.build()
    assert not bench.tables.exists(["journeybench", "captioning", "questions"])
    assert not bench.tables.exists(["journeybench", "retrieval", "questions"])
    assert len(bench.rows("hallucination_vqa/questions", Question)) == 2
    assert bench.evaluate_hallucination("says-cat").success


def test_two_files_of_one_table_are_an_error(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "t2i.json").write_text("[]")  # beside t2i.jsonl
    errors = step_errors(Bench(tmp_path / "home", source).build("retrieval"))
    assert any("hold the same table. Remove one of them" in error for error in errors)


def test_without_readable_captions_retrieval_lacks_only_the_categories(tmp_path):
    source = write_release(tmp_path / "source")
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning", "retrieval")
    with_captions = bench.rows("retrieval/questions", Question)
    (source / "unusual_image_caption_generation.jsonl").write_text("{")
    bench.build("captioning", "retrieval")
    questions = bench.rows("retrieval/questions", Question)
    assert [question.question_id for question in questions] == [
        question.question_id for question in with_captions
    ]
    assert {question.labels["categories"] for question in questions} == {""}


def test_an_ambiguous_image_is_rejected_with_the_addresses_that_it_matches(tmp_path):
    source = write_release(tmp_path / "source")
    addresses = [f"{HOST}/{folder}/0_0.png" for folder in ("one", "two", "three")]
    rows = ({"url": url, "captions": "A cat. A dog."} for url in addresses)
    write_lines(source / "unusual_image_caption_generation.jsonl", *rows)
    images = source / "images"
    (images / "one").mkdir()
    (images / "whale.png").rename(images / "one" / "0_0.png")
    (images / "shark.png").rename(images / "0_0.png")
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning")

    matched, *unmatched = addresses
    (question,) = bench.rows("captioning/questions", Question)
    assert question.labels["image"] == matched
    reasons = bench.rejected("captioning", "rejections")
    assert reasons["images/0_0.png"].startswith("matches 3 addresses, such as")
    assert set(reasons) == {"images/0_0.png", *unmatched}


@pytest.mark.parametrize(
    ("n_rows", "other_image", "edition"),
    [  # The published table has 1,042 rows.
        pytest.param(1042, "cat%20car.png", "published", id="the release"),
        pytest.param(1042, "lost.png", "own", id="an image is missing"),
        pytest.param(1041, "cat%20car.png", "own", id="a row is missing"),
    ],
)
def test_captions_are_published_if_they_are_a_whole_release(tmp_path, n_rows, other_image, edition):
    source = write_release(tmp_path / "source")
    row = {"url": f"{HOST}/whale.png", "captions": "A whale."}
    rows = [row] * (n_rows - 1) + [row | {"url": f"{HOST}/{other_image}"}]
    write_lines(source / "unusual_image_caption_generation.jsonl", *rows)
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning")
    assert {row.edition for row in bench.rows("captioning/questions", Question)} == {edition}


def test_a_file_without_rows_is_an_error(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "caption.csv").write_text("url,captions\n")
    errors = step_errors(Bench(tmp_path / "home", source).build("captioning"))
    assert any("caption.csv: no rows" in error for error in errors)


def test_a_column_that_is_twice_in_a_file_is_an_error(tmp_path):
    file = tmp_path / "mcot.csv"
    file.write_text("question,answer,answer\n?,A,B\n")
    with pytest.raises(SourceError, match=r"mcot\.csv: duplicate column 'answer'"):
        list(read_records(file))


def test_a_number_added_to_an_id_avoids_the_ids_of_other_rows():
    table = Table([Rejection(entry=name, reason="") for name in ("a", "a", "a/2", "a")])
    numbered = number_repeated(table, "entry")
    assert [row.entry for row in numbered.rows] == ["a", "a/3", "a/2", "a/4"]


def test_images_are_stored_unless_they_do_not_decode(bench):
    names = {image.name for image in bench.rows("images", StoredImage)}
    assert names == {"cat car.png", "whale.png", "dog car.png", "shark.png", "moon.png"}
    assert bench.rejected("images") == {"images/torn.png": "not an image in any known format"}


def test_captioning_asks_for_each_image_of_its_table(bench):
    questions = bench.rows("captioning/questions", Question)
    addresses = [question.labels["image"] for question in questions]
    assert addresses == [f"{HOST}/cat%20car.png", f"{HOST}/whale.png"]


# The table on the hub has 1,000 rows, that of the site 300.
@pytest.mark.parametrize(("n_rows", "edition"), [(1000, "published"), (300, "own")])
def test_retrieval_is_published_if_its_table_is_a_release(tmp_path, n_rows, edition):
    source = write_release(tmp_path / "source")
    for name in ("i2t_positive", "i2t_negative", "t2i"):
        (source / f"{name}.jsonl").unlink()
    row = {"url": f"{HOST}/whale.png", "captions": ["A whale."]}
    write_lines(source / "retrieval.jsonl", *[row] * n_rows)
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning", "retrieval")
    assert {row.edition for row in bench.rows("retrieval/questions", Question)} == {edition}


def test_without_a_judge_model_hallucination_has_no_number(bench):
    assert bench.evaluate_hallucination("says-cat").success
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


def evaluate_retrieval(bench, *condition):
    """Overall metrics of the random encoder by name."""
    tables = [table for table in EVALUATION_TABLES if table != "judgements"]
    keys = [["journeybench", "retrieval", *condition, table] for table in tables]
    assert bench.materialize_keys(keys, "random").success
    rows = bench.rows("/".join(["retrieval", *condition, "metrics"]), Metric, "random")
    return {row.metric: row for row in rows if row.category == "all"}


def test_an_encoder_is_not_better_with_distractors(bench):
    main = evaluate_retrieval(bench)
    easy = evaluate_retrieval(bench, "without_distractors")
    recalls = ["r@1", "r@5", "r@10"]
    assert list(main) == [*(f"text_{name}" for name in recalls), *(f"image_{n}" for n in recalls)]
    assert all(main[name].value <= easy[name].value for name in main)
    assert easy["text_r@5"].value == easy["image_r@5"].value == 1  # of 3 texts and 2 images


@pytest.mark.parametrize(
    ("condition", "has_distractors"),
    [((), True), (("as_released",), True), (("without_distractors",), False)],
)
def test_the_signature_of_retrieval_tells_its_distractors(bench, condition, has_distractors):
    metrics = evaluate_retrieval(bench, *condition)
    assert ("+own distractors" in metrics["text_r@1"].signature) is has_distractors


ROWS = read_published(Path(bench_assets.suites.journeybench.__file__).with_name("published.csv"))
HUMAN_EVALUATION = "HaloQuest, README (human evaluation)"


@pytest.mark.parametrize(
    ("task", "model", "metric", "printed"),
    [
        ("retrieval", "InternVL-G-14B", "image_r@1", "63.71"),
        ("captioning", "InstructBLIP-12B", "cider", "00.46"),
        ("multi_image_vqa", "Human", "accuracy", "78.90"),
        ("mcot", "GPT-4V", "accuracy", "49.34"),
    ],
)
def test_published_csv_has_cells_of_the_paper(task, model, metric, printed):
    overall = [row for row in ROWS if (row.condition, row.category) == ("main", "all")]
    assert printed in {
        row.printed
        for row in overall
        if (row.task, row.model, row.metric) == (f"journeybench/{task}", model, metric)
    }


def test_haloquests_overall_is_the_mean_of_its_image_sources_but_for_two_models():
    rows = {(row.model, row.category): row for row in ROWS if row.source == HUMAN_EVALUATION}
    models = {model for model, _ in rows}
    assert len(models) == 16
    # Of 608 questions, 391 have a generated image and 217 a real one.
    means = {
        model: (391 * rows[model, "generated"].value + 217 * rows[model, "real"].value) / 608
        for model in models
    }
    # The values are rounded to 0.001.
    deviating = {model for model in models if abs(means[model] - rows[model, "all"].value) > 0.001}
    assert deviating == {"MiniGPT4 (13B)", "MiniGPT4 (7B)"}


@pytest.mark.parametrize(
    ("names", "addresses", "file_of"), read_cases(__file__, "address_files.jsonl")
)
def test_an_address_is_matched_with_its_image_file(names, addresses, file_of):
    assert match_addresses(names, addresses).file_of == file_of


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        pytest.param([" a ", "", "b"], ["a", "b"], id="a list"),
        pytest.param("['a', 'b']", ["a", "b"], id="a list as Python writes it"),
        pytest.param("[a cat", ["[a cat"], id="a text that begins like a list"),
        pytest.param(None, [], id="nothing"),
    ],
)
def test_a_field_is_read_as_a_list_of_texts(value, texts):
    assert read_texts({"field": value}, "field", where="") == texts


HALLUCINATION_TASK = "journeybench/hallucination_vqa"


class HallucinationWorkbench(Workbench):
    """A workbench over a home with questions of one task, the only one that can be built."""

    def __init__(self, settings):
        super().__init__(settings, ["journeybench"])
        questions = self.tables.path([*HALLUCINATION_TASK.split("/"), "questions"])
        questions.parent.mkdir(parents=True)
        questions.touch()

    def refresh_questions(self, suite):
        if suite != HALLUCINATION_TASK:
            raise SourceError(f"{suite}: t2i.jsonl, line 1: not JSON")


def test_the_tasks_of_a_suite_that_cannot_be_built_are_built_one_by_one(tmp_path):
    with HallucinationWorkbench(load_settings(tmp_path)) as bench:
        built_tasks, failures = build_questions(bench, "journeybench")
    assert built_tasks == [HALLUCINATION_TASK]
    assert len(failures) == 1 + 4  # of the suite and of its other tasks


def test_a_single_task_that_cannot_be_built_is_an_error(tmp_path):
    with (
        HallucinationWorkbench(load_settings(tmp_path)) as bench,
        pytest.raises(SourceError, match="line 1"),
    ):
        build_questions(bench, "journeybench/retrieval")
