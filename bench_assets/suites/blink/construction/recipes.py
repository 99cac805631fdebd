"""Recipes of the fourteen builders: inputs, outputs and parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.suites.blink.builders import (
    art_style,
    counting,
    forensic_detection,
    functional_correspondence,
    iq_test,
    jigsaw,
    multi_view_reasoning,
    object_localization,
    relative_depth,
    relative_reflectance,
    semantic_correspondence,
    spatial_relation,
    visual_correspondence,
    visual_similarity,
)
from bench_assets.suites.blink.builders.art_style import ArtStyleParameters as ArtStyle
from bench_assets.suites.blink.builders.counting import CountingParameters as Counting
from bench_assets.suites.blink.builders.functional_correspondence import (
    FunctionalCorrespondenceParameters as FunctionalCorrespondence,
)
from bench_assets.suites.blink.builders.jigsaw import JigsawParameters as Jigsaw
from bench_assets.suites.blink.builders.multi_view_reasoning import (
    MultiViewParameters as MultiViewReasoning,
)
from bench_assets.suites.blink.builders.object_localization import (
    ObjectLocalizationParameters as ObjectLocalization,
)
from bench_assets.suites.blink.builders.relative_depth import (
    RelativeDepthParameters as RelativeDepth,
)
from bench_assets.suites.blink.builders.relative_reflectance import (
    RelativeReflectanceParameters as RelativeReflectance,
)
from bench_assets.suites.blink.builders.semantic_correspondence import (
    SemanticCorrespondenceParameters as SemanticCorrespondence,
)
from bench_assets.suites.blink.builders.visual_correspondence import (
    VisualCorrespondenceParameters as VisualCorrespondence,
)
from bench_assets.suites.blink.builders.visual_similarity import (
    VisualSimilarityParameters as VisualSimilarity,
)
from bench_assets.suites.blink.dataset.draft import Candidates
from bench_assets.suites.blink.dataset.perception_tasks import PERCEPTION_TASKS

Build: TypeAlias = Callable[[Path, Random], Candidates]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderParameters:
    """What the builders go by; each has its own in its module.

    Raises:
        UnknownNameError: If ``counts`` names a task that is none.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    """Questions wanted of a task, where it is not the paper's number; by task."""
    height: int = 1024
    """px of every image that is drawn on (appendix A.1)."""
    near_duplicate: int = 4
    """Images whose 64-bit perceptual hashes differ in at most so many bits are the same."""
    art_style: ArtStyle = field(default_factory=ArtStyle)
    counting: Counting = field(default_factory=Counting)
    functional_correspondence: FunctionalCorrespondence = field(
        default_factory=FunctionalCorrespondence
    )
    jigsaw: Jigsaw = field(default_factory=Jigsaw)
    multi_view_reasoning: MultiViewReasoning = field(default_factory=MultiViewReasoning)
    object_localization: ObjectLocalization = field(default_factory=ObjectLocalization)
    relative_depth: RelativeDepth = field(default_factory=RelativeDepth)
    relative_reflectance: RelativeReflectance = field(default_factory=RelativeReflectance)
    semantic_correspondence: SemanticCorrespondence = field(default_factory=SemanticCorrespondence)
    visual_correspondence: VisualCorrespondence = field(default_factory=VisualCorrespondence)
    visual_similarity: VisualSimilarity = field(default_factory=VisualSimilarity)

    def __post_init__(self) -> None:
        """Refuse names that would be passed over in silence."""
        for task in self.counts:
            if task not in PERCEPTION_TASKS:
                raise UnknownNameError("task of BLINK", task, PERCEPTION_TASKS)


class Recipe(NamedTuple):
    """How one task is built."""

    folder: str  # of its raw data, below the source
    build: Build


def recipes(parameters: BuilderParameters) -> dict[str, Recipe]:
    """Give each task its recipe, by the name the release has for it."""
    p = parameters
    functional = partial(functional_correspondence.build, parameters=p.functional_correspondence)
    multi_view = partial(multi_view_reasoning.build, parameters=p.multi_view_reasoning)
    localized = partial(object_localization.build, parameters=p.object_localization)
    reflectance = partial(relative_reflectance.build, parameters=p.relative_reflectance)
    semantic = partial(semantic_correspondence.build, parameters=p.semantic_correspondence)
    visual = partial(visual_correspondence.build, parameters=p.visual_correspondence)
    similar = partial(visual_similarity.build, parameters=p.visual_similarity)
    return {
        "Art_Style": Recipe("wikiart", partial(art_style.build, parameters=p.art_style)),
        "Counting": Recipe("tallyqa", partial(counting.build, parameters=p.counting)),
        "Forensic_Detection": Recipe("forensics", forensic_detection.build),
        "Functional_Correspondence": Recipe("funkpoint", functional),
        "IQ_Test": Recipe("puzzles", iq_test.build),
        "Jigsaw": Recipe("photographs", partial(jigsaw.build, parameters=p.jigsaw)),
        "Multi-view_Reasoning": Recipe("wild6d", multi_view),
        "Object_Localization": Recipe("lvis", localized),
        "Relative_Depth": Recipe("diw", partial(relative_depth.build, parameters=p.relative_depth)),
        "Relative_Reflectance": Recipe("iiw", reflectance),
        "Semantic_Correspondence": Recipe("spair", semantic),
        "Spatial_Relation": Recipe("vsr", spatial_relation.build),
        "Visual_Correspondence": Recipe("hpatches", visual),
        "Visual_Similarity": Recipe("nights", similar),
    }


def wanted(task: str, parameters: BuilderParameters) -> int:
    """How many questions of a task to make: the paper's, unless the parameters say otherwise."""
    paper = PERCEPTION_TASKS[task]
    return parameters.counts.get(task, paper.val + paper.test)


def task_rng(seed: int, task: str, what: str = "drafts") -> Random:
    """Draw for one task, whatever is drawn for the others."""
    return Random(f"{seed}\n{task}\n{what}")
