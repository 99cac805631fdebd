"""Files of the release that lack something, or say it twice: what each costs, and what not."""

import pytest

from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.suites.journeybench.assets.question_tables import edition_of
from bench_assets.suites.journeybench.multi_image_vqa.dataset import (
    RELEASES as MULTI_IMAGE_RELEASES,
)
from tests.suites.journeybench.published_bench import EVALUATED, Bench
from tests.suites.journeybench.release import HOST, write_lines, write_release


def test_a_task_that_the_source_does_not_have_is_skipped(tmp_path):
    source = write_release(tmp_path / "source")
    for file in source.glob("*.jsonl"):
        file.unlink()
    bench = Bench(tmp_path / "home", source)
    assert bench.build().success
    assert len(bench.read("hallucination_vqa/questions", Question)) == 2
    assert not bench.tables.exists(["journeybench", "captioning", "questions"])


def test_without_any_image_the_questions_say_what_to_do(tmp_path):
    source = write_release(tmp_path / "source")
    for file in (source / "images").iterdir():
        file.unlink()
    bench = Bench(tmp_path / "home", source)
    result = bench.build("hallucination_vqa")
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("none of the 2 images is there: put them into images/" in e for e in errors)
    rejections = bench.read("hallucination_vqa/rejections", Rejection)
    assert len(rejections) == 2


def test_a_table_in_two_forms_is_refused(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "caption.csv").write_text("url,captions\n")
    bench = Bench(tmp_path / "home", source)
    result = bench.build("captioning")
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("hold the same table; take one of them away" in error for error in errors)


def test_a_broken_file_of_one_task_stops_no_other(tmp_path):
    source = write_release(tmp_path / "source")
    for name in ("i2t_positive.jsonl", "unusual_image_caption_generation.jsonl"):
        (source / name).write_text("{")
    (source / "t2i.json").write_text("[]")  # the same table twice
    bench = Bench(tmp_path / "home", source)
    assert not bench.build().success
    assert len(bench.read("hallucination_vqa/questions", Question)) == 2
    keys = [["journeybench", "hallucination_vqa", table] for table in EVALUATED]
    assert bench.run(keys, "says-cat").success
    for task in ("captioning", "retrieval"):
        assert not bench.tables.exists(["journeybench", task, "questions"])


def test_captions_that_cannot_be_read_take_only_the_categories_from_retrieval(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "unusual_image_caption_generation.jsonl").write_text("{")
    bench = Bench(tmp_path / "home", source)
    bench.build("captioning", "retrieval")
    questions = bench.read("retrieval/questions", Question)
    assert {question.labels["categories"] for question in questions} == {""}


def test_images_that_share_their_file_name_are_told_apart_or_refused(tmp_path):
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
    (asked,) = bench.read("captioning/questions", Question)
    assert asked.labels["image"] == addresses[0]
    reasons = {r.entry: r.reason for r in bench.read("captioning/broken_images", Rejection)}
    assert reasons["images/0_0.png"].startswith("could be the image of 3 addresses, such as")
    assert set(reasons) == {"images/0_0.png", *addresses[1:]}


@pytest.mark.parametrize(
    ("n", "whole", "edition"),
    [
        pytest.param(179, True, "published", id="the release of the site's history"),
        pytest.param(313, True, "published", id="the release of the hub"),
        pytest.param(313, False, "own", id="an image is missing"),
        pytest.param(312, True, "own", id="a number that no release has"),
        pytest.param(1, False, "own", id="and an image is missing"),
    ],
)
def test_how_many_rows_there_are_names_the_edition(tmp_path, n, whole, edition):
    source = write_release(tmp_path / "source")
    (source / "multiimage_vqa.csv").touch()
    sources = Bench(tmp_path / "home", source).sources
    counts = {"n": n, "releases": MULTI_IMAGE_RELEASES}
    assert edition_of(sources, "multi_image_vqa", whole=whole, **counts) == edition
    assert edition_of(sources, "mcot", whole=whole, **counts) == "built"


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("caption.csv", "captioning"),
        pytest.param("retrieval.csv", "retrieval", marks=pytest.mark.long),
        pytest.param("haloquest-eval.csv", "hallucination_vqa", marks=pytest.mark.long),
    ],
)
def test_a_file_without_rows_is_an_error(tmp_path, name, task):
    source = tmp_path / "source"
    source.mkdir()
    (source / name).write_text("url,captions\n")
    bench = Bench(tmp_path / "home", source)
    failed = [event for event in bench.build(task).all_events if event.is_step_failure]
    errors = [str(event.step_failure_data.error) for event in failed]
    assert any("no rows in" in error for error in errors)
