"""Recipes of the fourteen builders: inputs, outputs and parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field

from bench_assets.core.schema.errors import SourceError, UnknownNameError
from bench_assets.suites.blink.builders.circled_points import (
    RelativeDepthParameters,
    RelativeReflectanceParameters,
    relative_depth,
    relative_reflectance,
)
from bench_assets.suites.blink.builders.correspondences import (
    FunctionalCorrespondenceParameters,
    SemanticCorrespondenceParameters,
    VisualCorrespondenceParameters,
    functional_correspondence,
    semantic_correspondence,
    visual_correspondence,
)
from bench_assets.suites.blink.builders.drafts import Candidates
from bench_assets.suites.blink.builders.image_choices import (
    ArtStyleParameters,
    JigsawParameters,
    VisualSimilarityParameters,
    art_style,
    forensic_detection,
    jigsaw,
    visual_similarity,
)
from bench_assets.suites.blink.builders.multi_view_reasoning import (
    MultiViewParameters,
    multi_view_reasoning,
)
from bench_assets.suites.blink.builders.object_localization import (
    ObjectLocalizationParameters,
    object_localization,
)
from bench_assets.suites.blink.builders.whole_images import (
    CountingParameters,
    counting,
    iq_test,
    spatial_relation,
)
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS

Build: TypeAlias = Callable[[Path, Random], Candidates]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderParameters:
    """Parameters of all builders, one section each.

    Raises:
        UnknownNameError: If ``counts`` names no task.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of questions by task; default: the paper's."""
    height: Annotated[int, Field(gt=0)] = 1024
    """Height in px of every image that is drawn on (appendix A.1)."""
    near_duplicate: int = 4
    """Most bits in which the 64-bit perceptual hashes of near-duplicates differ."""
    art_style: ArtStyleParameters = field(default_factory=ArtStyleParameters)
    counting: CountingParameters = field(default_factory=CountingParameters)
    functional_correspondence: FunctionalCorrespondenceParameters = field(
        default_factory=FunctionalCorrespondenceParameters
    )
    jigsaw: JigsawParameters = field(default_factory=JigsawParameters)
    multi_view_reasoning: MultiViewParameters = field(default_factory=MultiViewParameters)
    object_localization: ObjectLocalizationParameters = field(
        default_factory=ObjectLocalizationParameters
    )
    relative_depth: RelativeDepthParameters = field(default_factory=RelativeDepthParameters)
    relative_reflectance: RelativeReflectanceParameters = field(
        default_factory=RelativeReflectanceParameters
    )
    semantic_correspondence: SemanticCorrespondenceParameters = field(
        default_factory=SemanticCorrespondenceParameters
    )
    visual_correspondence: VisualCorrespondenceParameters = field(
        default_factory=VisualCorrespondenceParameters
    )
    visual_similarity: VisualSimilarityParameters = field(
        default_factory=VisualSimilarityParameters
    )

    def __post_init__(self) -> None:
        """Refuse unknown tasks."""
        for task in self.counts:
            if task not in PERCEPTION_TASKS:
                raise UnknownNameError("task of BLINK", task, PERCEPTION_TASKS)


class Recipe(NamedTuple):
    """Construction of one task."""

    folder: str  # of its raw data, below the source
    build: Build

    def candidates(self, folders: Sequence[Path], rng: Random) -> Candidates:
        """Build from every source that has the raw data, one after another.

        Raises:
            SourceError: If none has them.
        """
        sources = [source for folder in folders if (source := folder / self.folder).is_dir()]
        if not sources:
            raise SourceError("no such folder")
        return chain.from_iterable(self.build(source, rng) for source in sources)


def recipes(parameters: BuilderParameters) -> dict[str, Recipe]:
    """Recipes by task, in the release's names."""
    return {
        task: Recipe(folder, _configure_builder(builder, task, parameters))
        for task, folder, builder in _BUILDERS
    }


def require_raw_folder(folder: Path) -> None:
    """Require at least one folder of raw data.

    Raises:
        SourceError: If the folder has none.
    """
    names = RAW_FOLDERS.values()
    if not any((folder / name).is_dir() for name in names):
        raise SourceError(
            f"{folder}: no BLINK data: expected the folders of the release, such as Jigsaw/ with"
            f" its Parquet files, or raw data sets to build from: {', '.join(names)}"
        )


_BUILDERS: tuple[tuple[str, str, Callable[..., Candidates]], ...] = (
    ("Art_Style", "wikiart", art_style),
    ("Counting", "tallyqa", counting),
    ("Forensic_Detection", "forensics", forensic_detection),
    ("Functional_Correspondence", "funkpoint", functional_correspondence),
    ("IQ_Test", "puzzles", iq_test),
    ("Jigsaw", "photographs", jigsaw),
    ("Multi-view_Reasoning", "wild6d", multi_view_reasoning),
    ("Object_Localization", "lvis", object_localization),
    ("Relative_Depth", "diw", relative_depth),
    ("Relative_Reflectance", "iiw", relative_reflectance),
    ("Semantic_Correspondence", "spair", semantic_correspondence),
    ("Spatial_Relation", "vsr", spatial_relation),
    ("Visual_Correspondence", "hpatches", visual_correspondence),
    ("Visual_Similarity", "nights", visual_similarity),
)

RAW_FOLDERS = {task: folder for task, folder, _ in _BUILDERS}
"""Folder of each task's raw data, below the source; in the order in which tasks take images."""


def _configure_builder(
    builder: Callable[..., Candidates], task: str, parameters: BuilderParameters
) -> Build:
    chosen = _section(task, parameters)
    return partial(builder, parameters=chosen) if chosen else builder


def _section(task: str, parameters: BuilderParameters) -> object:
    return getattr(parameters, task.lower().replace("-", "_"), None)


def task_parameters(task: str, parameters: BuilderParameters) -> list[object]:
    """Return the parameters that one task's questions depend on."""
    section = _section(task, parameters)
    shared = [parameters.height, parameters.near_duplicate]
    return [*shared, n_questions(task, parameters), repr(section)]


def n_questions(task: str, parameters: BuilderParameters) -> int:
    """Return the number of questions to build: the parameter, or the paper's."""
    paper = PERCEPTION_TASKS[task]
    return parameters.counts.get(task, paper.val + paper.test)


def task_rng(seed: int, task: str, what: str = "drafts") -> Random:
    """Return a random generator for one task, independent of the other tasks."""
    return Random(f"{seed}\n{task}\n{what}")
