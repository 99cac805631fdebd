"""Recipes of the fourteen builders: inputs, outputs and parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field

from bench_assets.core.schema.errors import SourceError, UnknownNameError
from bench_assets.suites.blink.builders.circled_points import relative_depth, relative_reflectance
from bench_assets.suites.blink.builders.correspondences import (
    functional_correspondence,
    semantic_correspondence,
    visual_correspondence,
)
from bench_assets.suites.blink.builders.drafts import Candidates
from bench_assets.suites.blink.builders.image_choices import (
    art_style,
    forensic_detection,
    jigsaw,
    visual_similarity,
)
from bench_assets.suites.blink.builders.multi_view_reasoning import multi_view_reasoning
from bench_assets.suites.blink.builders.object_localization import object_localization
from bench_assets.suites.blink.builders.whole_images import counting, iq_test, spatial_relation
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS

Build: TypeAlias = Callable[[Path, Random], Candidates]
"""Builds candidates from a folder; raises ``SourceError`` if its raw data cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderParameters:
    """Parameters of all builders."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of questions by task; default: the paper's."""
    height: Annotated[int, Field(gt=0)] = 1024
    """Height in px of every image that is drawn on (appendix A.1)."""
    near_duplicate: int = 4
    """Most bits in which the 64-bit perceptual hashes of near-duplicates differ."""

    def __post_init__(self) -> None:
        """Refuse counts of unknown tasks."""
        for task in self.counts:
            if task not in PERCEPTION_TASKS:
                raise UnknownNameError("task of BLINK", task, PERCEPTION_TASKS)


class Recipe(NamedTuple):
    """Construction of one task."""

    folder: str  # of its raw data, below the source
    build: Build

    def candidates(self, folders: Sequence[Path], rng: Random) -> Candidates:
        """Build from each of the folders that has the raw data, one after another.

        Raises:
            SourceError: If none has them.
        """
        sources = [folder / self.folder for folder in folders]
        present = [source for source in sources if source.is_dir()]
        if not present:
            raise SourceError("no such folder")
        return chain.from_iterable(self.build(source, rng) for source in present)


def require_raw_folder(folder: Path) -> None:
    """Require at least one folder of raw data.

    Raises:
        SourceError: If the folder has none.
    """
    names = [recipe.folder for recipe in RECIPES.values()]
    if not any((folder / name).is_dir() for name in names):
        raise SourceError(
            f"{folder}: no BLINK data: expected the folders of the release, such as Jigsaw/ with"
            f" its Parquet files, or raw data sets to build from: {', '.join(names)}"
        )


RECIPES: Mapping[str, Recipe] = {
    "Art_Style": Recipe("wikiart", art_style),
    "Counting": Recipe("tallyqa", counting),
    "Forensic_Detection": Recipe("forensics", forensic_detection),
    "Functional_Correspondence": Recipe("funkpoint", functional_correspondence),
    "IQ_Test": Recipe("puzzles", iq_test),
    "Jigsaw": Recipe("photographs", jigsaw),
    "Multi-view_Reasoning": Recipe("wild6d", multi_view_reasoning),
    "Object_Localization": Recipe("lvis", object_localization),
    "Relative_Depth": Recipe("diw", relative_depth),
    "Relative_Reflectance": Recipe("iiw", relative_reflectance),
    "Semantic_Correspondence": Recipe("spair", semantic_correspondence),
    "Spatial_Relation": Recipe("vsr", spatial_relation),
    "Visual_Correspondence": Recipe("hpatches", visual_correspondence),
    "Visual_Similarity": Recipe("nights", visual_similarity),
}
"""Recipes by task, in the release's names; in the order in which tasks take images."""


def n_questions(task: str, parameters: BuilderParameters) -> int:
    """Return the number of questions to build: the parameter, or the paper's."""
    published = PERCEPTION_TASKS[task]
    return parameters.counts.get(task, published.val + published.test)


def task_rng(seed: int, task: str, purpose: str = "drafts") -> Random:
    """Return a random generator for one purpose of one task, independent of all others."""
    return Random(f"{seed}\n{task}\n{purpose}")
