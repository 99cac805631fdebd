"""Image distractors: images that look like a captioned one (section 3.3)."""

import dagster as dg
import numpy as np
from pydantic import Field

from bench_assets.asset_factory.annotation_inputs import least_votes
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.assets.source import SUITE, digests
from bench_assets.suites.journeybench.construction import annotation
from bench_assets.suites.journeybench.construction.assets.encoders import open_sentence_encoder
from bench_assets.suites.journeybench.construction.look_alikes import (
    LookAlike,
    composition,
    propose,
    verify_look_alikes,
)
from bench_assets.suites.journeybench.decisions import FilterDecision, LookAlikeDecision
from bench_assets.suites.journeybench.raw_material import GalleryImage, LookAlikeVote
from resources.config.settings_resource import SettingsResource
from resources.images.store import ImageStore
from resources.tables.parquet import table_output

_HERE = AssetFolder(SUITE)


class Neighbours(dg.Config):
    """How many images are proposed."""

    n: int = Field(8, ge=1)
    """Nearest neighbours an image and criterion."""


@dg.asset(
    ins=_HERE.ins("gallery", "decisions", stored="images"),
    **_HERE.stage("distractors"),
)
def look_alike_proposals(
    config: Neighbours,
    settings: SettingsResource,
    image_store: ImageStore,
    gallery: list[GalleryImage],
    decisions: list[FilterDecision],
    stored: list[StoredImage],
) -> dg.Output[list[LookAlike]]:
    """Find images that are alike in subject, composition, or both.

    One row: one image that may distract from another one. Subjects are compared by what the
    images were generated from, compositions by where light and colours lie. An image that does
    not decode any more is like none; the log names it.
    """
    kept = {decision.image for decision in decisions if decision.kept}
    known = digests(stored)
    decoded = [
        (row, composition(image))
        for row in gallery
        if row.image in kept and (image := image_store.open_if_whole(known[row.image])) is not None
    ]
    if not decoded:
        return table_output([])
    shown = [row for row, _ in decoded]
    layouts = np.stack([layout for _, layout in decoded])
    subjects = open_sentence_encoder(settings).encode_texts([row.prompt for row in shown])
    return table_output(propose([row.image for row in shown], subjects, layouts, config.n))


@dg.asset(
    ins=_HERE.ins("look_alike_proposals", "look_alike_votes"),
    **_HERE.stage("distractors"),
)
def look_alikes(
    settings: SettingsResource,
    look_alike_proposals: list[LookAlike],
    look_alike_votes: list[LookAlikeVote],
) -> dg.Output[list[LookAlikeDecision]]:
    """Keep the images that people find alike and in conflict with the captions.

    One row: what became of one proposed image, and why. About five are kept of each; the
    release has 5,323 for 1,000 texts.
    """
    least = least_votes(settings.load(), annotation.ALIKE, annotation.N_CHECKING)
    rows = verify_look_alikes(look_alike_proposals, look_alike_votes, least=least)
    return table_output(
        rows, {"accepted": sum(row.accepted for row in rows), "open": sum(row.open for row in rows)}
    )
