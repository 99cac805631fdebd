"""Diversity of the images, as tables that are made on request."""

import base64
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import numpy as np

from bench_assets.asset_factory.suite_assets import AssetFolder, needs_metadata
from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.source_folder import files_below
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.construction.look_alikes import composition
from bench_assets.suites.journeybench.diversity.measures import (
    OURS,
    THEIRS,
    MapPoint,
    ObjectRelation,
    as_svg,
    pair_objects,
    project_to_plane,
    read_common_sense,
)
from bench_assets.suites.journeybench.retrieval.assets import encoder_of
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.encoders.part_of_speech import open_noun_finder
from bench_resources.images.store import ImageImport, ImageStore
from bench_resources.tables.parquet import table_output

_SEED = 42  # of the map's layout
_FOLDER = AssetFolder(f"{SUITE}/diversity")
_STAGE = _FOLDER.stage("metrics", ablation=True)
_IMAGES = {".png", ".jpg", ".jpeg", ".webp"}


@dg.asset(ins=_FOLDER.ins(questions="../captioning/questions"), **_STAGE)
def image_map(
    settings: dg.ResourceParam[Settings], image_store: ImageStore, questions: list[Question]
) -> dg.Output[list[MapPoint]]:
    """Map the captioned images together with another set of images."""
    chosen = settings.suite(SUITE, JourneyBenchSettings)
    imported = ImageImport([], [])
    if chosen.other_images:
        imported = _store_images(settings.resolve(chosen.other_images), image_store)
    own_names = {question.images[0]: question.labels["image"] for question in questions}
    other_names = {
        image.sha256: image.name for image in imported.images if image.sha256 not in own_names
    }
    if not (laid_out := _compositions([*own_names, *other_names], image_store)):
        raise ImageError(
            f"{SUITE}/diversity/image_map: none of the {len(own_names) + len(other_names)} images"
            " decodes. "
            "Put them into the source again, and build the questions"
        )
    digests = list(laid_out)
    if chosen.map_encoder:
        with encoder_of(chosen.map_encoder, settings, image_store) as encoder:
            places = project_to_plane(encoder.encode_images(digests), _SEED)
    else:
        places = project_to_plane(np.stack(list(laid_out.values())), _SEED)
    rows = [
        MapPoint(
            image_id=own_names.get(image) or other_names[image],
            image=image,
            collection=OURS if image in own_names else THEIRS,
            x=float(x),
            y=float(y),
        )
        for image, (x, y) in zip(digests, places, strict=True)
    ]
    encoded = base64.b64encode(as_svg(rows).encode()).decode()
    plot = dg.MetadataValue.md(f"![map](data:image/svg+xml;base64,{encoded})")
    compared_by = chosen.map_encoder or "composition"
    return table_output(
        rows, {"map": plot, "compared_by": compared_by, "not_decoded": len(imported.rejections)}
    )


@dg.asset(
    ins=_FOLDER.ins(questions="../captioning/questions"),
    metadata=needs_metadata(f"common_sense of [suites.{SUITE}]"),
    **_STAGE,
)
def object_relations(
    settings: dg.ResourceParam[Settings], questions: list[Question]
) -> dg.Output[list[ObjectRelation]]:
    """Look up pairs of objects from captions in a list of common-sense pairs."""
    chosen = settings.suite(SUITE, JourneyBenchSettings)
    if chosen.common_sense is None:
        return table_output([], {"common_sense": f"no list is named in {settings.file}"})
    known = read_common_sense(settings.resolve(chosen.common_sense))
    finder = open_noun_finder()
    rows = [
        relation
        for question in questions
        for relation in pair_objects(
            question.question_id, question.answer, finder.nouns(question.answer), known
        )
    ]
    share = sum(row.known for row in rows) / len(rows) if rows else 0.0
    return table_output(rows, {"share_known": share, "nouns": finder.name})


def _store_images(folder: Path, image_store: ImageStore) -> ImageImport:
    files = [file for file in files_below(folder) if file.suffix.lower() in _IMAGES]
    if not files:
        raise SourceError(f"{folder}: no images (other_images of [suites.{SUITE}] in bench.toml)")
    return image_store.put_files({file.relative_to(folder).as_posix(): file for file in files})


def _compositions(shown: Sequence[str], image_store: ImageStore) -> dict[str, Vectors]:
    """Composition of each image; an undecodable one is logged and left out."""
    opened = ((image, image_store.open_if_whole(image)) for image in shown)
    return {image: composition(shown) for image, shown in opened if shown is not None}
