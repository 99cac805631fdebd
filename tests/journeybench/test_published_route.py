"""The published route as assets: three tasks from files in the forms of the release to metrics."""

import dagster as dg
import pytest

from bench_assets.core.rows import Metric, Question, Rejection, StoredImage
from bench_assets.evaluation import evaluation_assets
from bench_assets.journeybench import assets as shared
from bench_assets.journeybench.captioning import assets as captioning
from bench_assets.journeybench.captioning import studies
from bench_assets.journeybench.captioning.source import CaptionedImage
from bench_assets.journeybench.captioning.studies import CaptionScore
from bench_assets.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.journeybench.hallucination_vqa import assets as hallucination
from bench_assets.journeybench.hallucination_vqa.source import TriggerQuestion
from bench_assets.journeybench.hallucination_vqa.task import TASK as HALLUCINATION
from bench_assets.journeybench.retrieval import assets as retrieval
from bench_assets.journeybench.retrieval.encoders import ENCODERS
from bench_assets.journeybench.retrieval.evaluation import RETRIEVAL_ASSETS
from bench_assets.journeybench.retrieval.source import RetrievalSample
from bench_assets.partitions import MODELS
from resources.images import ImageStore
from resources.models import Models
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import RowTables, TableFiles, table_output
from tests.journeybench.release import HOST, write_release

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
                "sources": SourceFiles(settings=settings),
                "images": images,
                "models": Models(settings=settings, images=images),
                "tables": self.tables,
                "io_manager": RowTables(files=self.tables),
            },
        )
        self.instance = dg.DagsterInstance.ephemeral()
        self.instance.add_dynamic_partitions(MODELS.name, ["says-cat"])
        self.instance.add_dynamic_partitions(ENCODERS.name, ["random"])

    def build(self):
        graph = self.definitions.resolve_asset_graph()
        keys = [key for key in graph.get_all_asset_keys() if not graph.get(key).is_partitioned]
        return self.run(keys)

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


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "home", write_release(tmp_path / "source"))


def test_three_tasks_from_files_to_metrics(bench):
    (bench.source / "images" / "torn.png").write_text("no picture")
    assert bench.build().success
    names = {image.name for image in bench.read("images", StoredImage)}
    assert names == {
        *(f"{HOST}/{name}.png" for name in ("cat%20car", "whale", "dog%20car", "shark")),
        "moon.png",  # nobody names it by its address
    }
    broken = {row.entry: row.reason for row in bench.read("broken_images", Rejection)}
    assert broken == {
        f"{HOST}/lost.png": "not downloaded; set download = true",
        "torn.png": f"{bench.source}/images/torn.png: not a picture in any known format",
    }
    (lost,) = [row for row in bench.read("retrieval/rejections", Rejection) if "lost" in row.entry]
    assert lost.reason == "no picture of a distractor"
    editions = {
        task: {question.edition for question in bench.read(f"{task}/questions", Question)}
        for task in ("captioning", "retrieval", "hallucination_vqa")
    }
    assert editions == {
        "captioning": {"published"},
        "retrieval": {"published in part"},
        "hallucination_vqa": {"published"},
    }


def test_captions_are_scored_one_by_one_and_by_category(bench):
    bench.build()
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


def test_hallucination_is_judged_by_rules(bench):
    bench.build()
    keys = [["journeybench", "hallucination_vqa", table] for table in EVALUATED]
    assert bench.run(keys, "says-cat").success
    rows = bench.read("hallucination_vqa/metrics", Metric, "says-cat")
    assert {(row.category, row.value) for row in rows} == {
        ("all", 0.0),
        ("false premises", 0.0),
        ("visual challenge", 0.0),
        ("generated", 0.0),
    }


def test_an_encoder_is_measured_with_and_without_distractors(bench):
    bench.build()
    for prefix in ([], ["without_distractors"]):
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


def test_an_unknown_encoder_is_named_with_those_there_are(bench):
    bench.build()
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
    result = bench.build()
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("none of the 2 pictures is there: put them into images/" in e for e in errors)
    rejections = bench.read("hallucination_vqa/rejections", Rejection)
    assert len(rejections) == 2


def test_a_table_in_two_forms_is_refused(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "caption.csv").write_text("url,captions\n")
    bench = Bench(tmp_path / "home", source)
    result = bench.build()
    errors = [str(e.step_failure_data.error) for e in result.all_events if e.is_step_failure]
    assert any("hold the same table; take one of them away" in error for error in errors)
