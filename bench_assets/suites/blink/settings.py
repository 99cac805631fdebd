"""Settings of ``[suites.blink]``."""

from bench_assets.evaluation.suite import RawData, SuiteSettings
from bench_assets.suites.blink.construction.recipes import RECIPES, BuilderParameters, n_questions
from bench_assets.suites.blink.dataset import find_route


class BlinkSettings(SuiteSettings):
    """Settings of every suite, and of BLINK's built route and studies."""

    seed: int = 0
    """Seed of the built route and of the mini edition."""
    builders: BuilderParameters = BuilderParameters()
    """Parameters of the fourteen builders: ``counts`` (questions of each task; default: the
    paper's), ``height`` (px of images that are drawn on; default 1024) and ``near_duplicate`` (bits
    in which the hashes of near-duplicates may differ; default 4)."""
    captioner: str = ""
    """Vision-language model whose captions replace the images (section 4.3 of the paper)."""


def _build_settings(settings: BlinkSettings, task: str) -> object:
    """Return the settings that the questions built for a task depend on."""
    parameters = settings.builders
    n_wanted = n_questions(task, parameters)
    return [settings.seed, parameters.height, parameters.near_duplicate, n_wanted]


RAW_DATA = RawData(
    folders={task: recipe.folder for task, recipe in RECIPES.items()},
    settings=_build_settings,
    is_in=lambda source: find_route(source) == "raw",
)
"""The raw data sets of the fourteen tasks."""
