"""The whole graph: the only module that knows every leaf."""

import warnings
from importlib import import_module
from pathlib import Path

import dagster as dg

from bench_assets.catalog import SUITES, TASKS
from bench_assets.checks import task_checks
from bench_assets.evaluation import evaluation_assets
from bench_assets.leaderboard import leaderboard, leaderboard_export, published_numbers
from bench_assets.regression import regression_checks
from resources.images import ImageStore
from resources.models import Models
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import RowTables, TableFiles
from sensors.checkpoints import checkpoint_sensors
from sensors.failed_checks import failed_check_sensor
from sensors.first_look import FIRST_LOOK, first_look_assets

_LEAVES = (
    "codis.assets",
    "codis.caption_assets",
    "codis.studies",
    "blink.assets",
    "blink.ablations",
    "blink.studies",
    "blink.submission",
    "multi.assets",
    "multi.build_assets",
    "multi.ablation_assets",
    "multi.studies",
    "cogbench.assets",
    "cogbench.checks",
    "cogbench.description.assets",
    "cogbench.description.caption_studies",
    "cogbench.description.studies",
    "cogbench.vqa.assets",
    "cogbench.vqa.studies",
    "journeybench.assets",
    "journeybench.built.assets",
    "journeybench.built.dialogue_assets",
    "journeybench.built.distractor_assets",
    "journeybench.built.look_alike_assets",
    "journeybench.built.retrieval_assets",
    "journeybench.built.trigger_assets",
    "journeybench.captioning.assets",
    "journeybench.captioning.studies",
    "journeybench.diversity.assets",
    "journeybench.hallucination_vqa.assets",
    "journeybench.mcot.assets",
    "journeybench.multi_image_vqa.assets",
    "journeybench.retrieval.assets",
    "journeybench.retrieval.evaluation",
    "journeybench.solution_assets",
)
"""The Dagster files of the leaves, below ``bench_assets``."""


def build_definitions(
    settings: SettingsFile, tables: Path | None = None, *, show_progress: bool = False
) -> dg.Definitions:
    """Put the whole graph together over one home folder.

    Args:
        settings: The home folder's ``bench.toml``, and what is to be different this time.
        tables: Where tables go instead of the home folder's ``tables``.
        show_progress: Draw progress bars on the terminal.
    """
    # Partitioned checks and data versions are called beta; constraints.txt pins what was tested.
    warnings.simplefilter("ignore", dg.BetaWarning)
    warnings.simplefilter("ignore", dg.PreviewWarning)
    jobs = [
        dg.define_asset_job(name, selection, description=description)
        for suite in SUITES
        for name, selection, description in _jobs(suite)
    ]
    look = "Ask one model a few questions of every task."
    jobs.append(
        dg.define_asset_job(FIRST_LOOK, dg.AssetSelection.groups(FIRST_LOOK), description=look)
    )
    leaves = [import_module(f"bench_assets.{name}") for name in _LEAVES]
    evaluation = [
        asset
        for task in TASKS
        if task.asked_of == "model"  # who asks others brings assets of its own
        for condition in task.conditions
        for asset in evaluation_assets(task, condition)
    ]
    return dg.Definitions(
        assets=[
            *dg.load_assets_from_modules(leaves),
            *evaluation,
            *first_look_assets(TASKS),
            published_numbers,
            leaderboard,
            leaderboard_export,
        ],
        asset_checks=[
            *dg.load_asset_checks_from_modules(leaves),
            *(check for task in TASKS for check in task_checks(task)),
            *(check for task in TASKS for check in regression_checks(task)),
        ],
        jobs=jobs,
        sensors=[*checkpoint_sensors(jobs), failed_check_sensor()],
        executor=dg.in_process_executor,  # a spawned step could not share loaded weights
        resources=_resources(settings, tables, show_progress=show_progress),
    )


def _resources(
    settings: SettingsFile, tables: Path | None, *, show_progress: bool
) -> dict[str, object]:
    images = ImageStore(folder=str(Path(settings.home) / "images"))
    files = TableFiles(folder=str(tables or Path(settings.home) / "tables"))
    return {
        "settings": settings,
        "sources": SourceFiles(settings=settings),
        "images": images,
        "models": Models(settings=settings, images=images, show_progress=show_progress),
        "tables": files,
        "io_manager": RowTables(files=files),
    }


def _jobs(suite: str) -> list[tuple[str, dg.AssetSelection, str]]:
    main, ablations = (
        dg.AssetSelection.groups(suite),
        dg.AssetSelection.groups(f"{suite}_ablations"),
    )
    per_model = dg.AssetSelection.tag("bench/per", "model")
    return [
        (
            f"{suite}_questions",
            (main | ablations) - per_model,
            f"Build the question tables of {suite} from its source.",
        ),
        (
            f"evaluate_{suite}",
            main & per_model,
            f"Ask, judge, score and measure one model on {suite}.",
        ),
        (
            f"{suite}_ablations",
            ablations & per_model,
            f"The ablations and studies of {suite} for one model.",
        ),
    ]
