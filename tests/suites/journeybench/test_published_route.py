"""The published route as assets: three tasks from files in the forms of the release to metrics."""

import math

import dagster as dg
import pytest

from bench_assets.core.rows import Metric, Question, Rejection, Score, StoredImage
from bench_assets.evaluation import evaluation_assets
from bench_assets.partitions import ENCODERS, MODELS
from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.assets.questions import edition_of
from bench_assets.suites.journeybench.captioning.assets import questions as captioning
from bench_assets.suites.journeybench.captioning.assets import studies
from bench_assets.suites.journeybench.captioning.assets.studies import CaptionScore
from bench_assets.suites.journeybench.captioning.source import CaptionedImage
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.hallucination_vqa import assets as hallucination
from bench_assets.suites.journeybench.hallucination_vqa.source import TriggerQuestion
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALLUCINATION
from bench_assets.suites.journeybench.multi_image_vqa.source import RELEASES as MULTI_IMAGE_RELEASES
from bench_assets.suites.journeybench.retrieval.assets import questions as retrieval
from bench_assets.suites.journeybench.retrieval.assets.evaluation import RETRIEVAL_ASSETS
from bench_assets.suites.journeybench.retrieval.source import RetrievalSample
from resources.home.tables import RowTables, TableFiles, table_output
from resources.models.opening import Models
from resources.pictures.images import ImageStore
from resources.settings.settings_file import SettingsFile
from resources.sources.source_files import SourceFiles
from tests.suites.journeybench.release import HOST, write_lines, write_release

EVALUATED = ("predictions", "judgements", "scores", "metrics")


def nothing_built(task, row_type):
    """The built route's table of a task, as it is for a published source."""

    @dg.asset(name="built", key_prefix=["journeybench", task], dagster_type=table_type(row_type))
    def built():
        return table_output([])

    return built


def table_type(row_type):
    return dg.DagsterType(
        name=f"{row_type.__name__}s",
        type_check_fn=lambda _, rows: isinstance(rows, list),
        typing_type=list[row_type],
    )


class Bench:
    """A home folder with the assets of the three tasks, without checks: they know real counts."""

    def __init__(self, home, source):
        home.mkdir()
        self.source = source
        (home / "bench.toml").write_text(
            f'[sources]\njourneybench = "{source}"\n[models.says-cat]\nkind = "scripted"\n'
            'says = "A cat drives a car."\n'
        )
        settings = SettingsFile(home=str(home))
        self.sources = SourceFiles(settings=settings)
        images = ImageStore(folder=str(home / "images"))
        self.tables = TableFiles(folder=str(home / "tables"))
        self.definitions = dg.Definitions(
            assets=[
                *dg.load_assets_from_modules(
                    [shared, captioning, hallucination, retrieval, studies]
                ),
                nothing_built("captioning", CaptionedImage),
                nothing_built("hallucination_vqa", TriggerQuestion),
                nothing_built("retrieval", RetrievalSample),
                *evaluation_assets(CAPTIONING),
                *evaluation_assets(HALLUCINATION),
                *RETRIEVAL_ASSETS,
            ],
            resources={
                "settings": settings,
                "sources": self.sources,
                "images": images,
                "models": Models(settings=settings, images=images),
                "tables": self.tables,
                "io_manager": RowTables(files=self.tables),
            },
        )
        self.instance = dg.DagsterInstance.ephemeral()
        self.instance.add_dynamic_partitions(MODELS.name, ["says-cat"])
        self.instance.add_dynamic_partitions(ENCODERS.name, ["random"])

    def build(self, *tasks):
        """Make what does not hang on a model: of all tasks, or of some and of what they share."""
        graph = self.definitions.resolve_asset_graph()
        made = graph.executable_asset_keys  # not what only an edition that is built has
        keys = [key for key in made if not graph.get(key).is_partitioned]
        return self.run([key for key in keys if not tasks or key.path[1] in (*tasks, key.path[-1])])

    def run(self, keys, partition=None):
        job = self.definitions.resolve_implicit_global_asset_job_def()
        return job.execute_in_process(
            instance=self.instance,
            asset_selection=[dg.AssetKey(key) if isinstance(key, list) else key for key in keys],
            partition_key=partition,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )

    def read(self, table, row_type, partition=""):
        return self.tables.read(["journeybench", *table.split("/")], row_type, partition)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Three tasks, built of a release in which one picture does not decode."""
    folder = tmp_path_factory.mktemp("published")
    bench = Bench(folder / "home", write_release(folder / "source"))
    (bench.source / "images" / "torn.png").write_text("no picture")
    assert bench.build().success
    return bench


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
    assert broken == {"images/torn.png": "not a picture in any known format"}
    (broken,) = bench.read("retrieval/broken_images", Rejection)
    reason = "not downloaded; set download = true"
    assert (broken.entry, broken.reason) == (f"{HOST}/lost.png", reason)
    (lost,) = [row for row in bench.read("retrieval/rejections", Rejection) if "lost" in row.entry]
    assert lost.reason == "no picture of a distractor"
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
    assert easy["text_r@5"].value == easy["image_r@5"].value == 1  # of 3 texts and 2 pictures
    assert "+own distractors" in hard["text_r@1"].signature


@pytest.mark.long
def test_an_unknown_encoder_is_named_with_those_there_are(bench):
    bench.instance.add_dynamic_partitions(ENCODERS.name, ["clip"])
    result = bench.run([["journeybench", "retrieval", "predictions"]], "clip")
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "no encoder in" in str(failure.step_failure_data.error)
    assert "known: random" in str(failure.step_failure_data.error)


def test_a_task_that_the_source_does_not_have_is_skipped(tmp_path):
    source = write_release(tmp_path / "source")
    for file in source.glob("*.jsonl"):
        file.unlink()
    bench = Bench(tmp_path / "home", source)
    assert bench.build().success
    assert len(bench.read("hallucination_vqa/questions", Question)) == 2
    assert not bench.tables.exists(["journeybench", "captioning", "questions"])


def test_without_any_picture_the_questions_say_what_to_do(tmp_path):
    source = write_release(tmp_path / "source")
    for file in (source / "images").iterdir():
        file.unlink()
    bench = Bench(tmp_path / "home", source)
    result = bench.build("hallucination_vqa")
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("none of the 2 pictures is there: put them into images/" in e for e in errors)
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


def test_pictures_that_share_their_file_name_are_told_apart_or_refused(tmp_path):
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
    assert asked.labels["picture"] == addresses[0]
    reasons = {r.entry: r.reason for r in bench.read("captioning/broken_images", Rejection)}
    assert reasons["images/0_0.png"].startswith("could be the picture of 3 addresses, such as")
    assert set(reasons) == {"images/0_0.png", *addresses[1:]}


@pytest.mark.parametrize(
    ("n", "whole", "edition"),
    [
        pytest.param(179, True, "published", id="the release of the site's history"),
        pytest.param(313, True, "published", id="the release of the hub"),
        pytest.param(313, False, "own", id="a picture is missing"),
        pytest.param(312, True, "own", id="a number that no release has"),
        pytest.param(1, False, "own", id="and a picture is missing"),
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
