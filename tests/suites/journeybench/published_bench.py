"""The published route of the suite over files of a test: what is made of them."""

from types import GenericAlias

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import ENCODERS, MODELS
from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.captioning import assets as captioning
from bench_assets.suites.journeybench.captioning.dataset import CaptionedImage
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.hallucination_vqa import assets as hallucination
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TriggerQuestion
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALLUCINATION
from bench_assets.suites.journeybench.retrieval import assets as retrieval
from bench_assets.suites.journeybench.retrieval.dataset import RetrievalSample
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, TableIOManager, table_output
from tests.fakes.home import rejections_by_table

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
        typing_type=GenericAlias(list, (row_type,)),
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
        settings = load_settings(home)
        self.sources = SourceFiles(settings=settings)
        image_store = ImageStore(folder=str(home / "images"))
        self.tables = TableFiles(folder=str(home / "tables"))
        self.definitions = dg.Definitions(
            assets=[
                *dg.load_assets_from_modules([shared, captioning, hallucination, retrieval]),
                nothing_built("captioning", CaptionedImage),
                nothing_built("hallucination_vqa", TriggerQuestion),
                nothing_built("retrieval", RetrievalSample),
                *evaluation_assets(CAPTIONING),
                *evaluation_assets(HALLUCINATION),
            ],
            resources={
                "settings": settings,
                "sources": self.sources,
                "image_store": image_store,
                "models": Models(settings=settings, image_store=image_store),
                "tables": self.tables,
                "io_manager": TableIOManager(files=self.tables),
            },
        )
        self._rejected = {}
        self.instance = dg.DagsterInstance.ephemeral()
        self.instance.add_dynamic_partitions(str(MODELS.name), ["says-cat"])
        self.instance.add_dynamic_partitions(str(ENCODERS.name), ["random"])

    def build(self, *tasks):
        """Make what does not hang on a model: of all tasks, or of some and of what they share."""
        graph = self.definitions.resolve_asset_graph()
        made = graph.executable_asset_keys  # not what only an edition that is built has
        keys = [key for key in made if not graph.get(key).is_partitioned]
        return self.run([key for key in keys if not tasks or key.path[1] in (*tasks, key.path[-1])])

    def run(self, keys, partition=None):
        job = self.definitions.resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(
            instance=self.instance,
            asset_selection=[dg.AssetKey(key) if isinstance(key, list) else key for key in keys],
            partition_key=partition,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
        self._rejected |= rejections_by_table(result)
        return result

    def rejected(self, table):
        return self._rejected[dg.AssetKey(["journeybench", *table.split("/")])]

    def read(self, table, row_type, partition=""):
        return self.tables.read(["journeybench", *table.split("/")], row_type, partition)
