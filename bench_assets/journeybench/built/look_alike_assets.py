"""Image distractors: pictures that look like a captioned one (section 3.3)."""

import dagster as dg
import numpy as np
from pydantic import Field

from bench_assets.core.rows import StoredImage
from bench_assets.journeybench.assets import SOURCE, in_stage
from bench_assets.journeybench.built.assets import digests, source_folder, tables
from bench_assets.journeybench.built.encoders import open_sentence_encoder
from bench_assets.journeybench.built.filtering import FilterDecision
from bench_assets.journeybench.built.look_alikes import (
    LookAlike,
    LookAlikeDecision,
    composition,
    propose,
    verify_look_alikes,
)
from bench_assets.journeybench.built.raw import (
    GalleryPicture,
    LookAlikeVote,
    read_raw,
)
from resources.images import ImageStore
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output


class Neighbours(dg.Config):
    """How many pictures are proposed."""

    n: int = Field(8, ge=1)
    """Nearest neighbours a picture and criterion."""


@dg.asset(ins=tables("gallery", "decisions", stored="images"), **in_stage("distractors"))
def look_alike_proposals(
    config: Neighbours,
    settings: SettingsFile,
    images: ImageStore,
    gallery: list[GalleryPicture],
    decisions: list[FilterDecision],
    stored: list[StoredImage],
) -> dg.Output[list[LookAlike]]:
    """Find pictures that are alike in subject, composition, or both.

    One row: one picture that may distract from another one. Subjects are compared by what the
    pictures were generated from, compositions by where light and colours lie.
    """
    kept = {decision.picture for decision in decisions if decision.kept}
    shown = [row for row in gallery if row.picture in kept]
    if not shown:
        return table_output([])
    known = digests(stored)
    layouts = np.stack([composition(images.open(known[row.picture])) for row in shown])
    subjects = open_sentence_encoder(settings).encode_texts([row.prompt for row in shown])
    return table_output(propose([row.picture for row in shown], subjects, layouts, config.n))


@dg.asset(ins=tables("look_alike_proposals"), deps=[SOURCE], **in_stage("distractors"))
def look_alikes(
    sources: SourceFiles, look_alike_proposals: list[LookAlike]
) -> dg.Output[list[LookAlikeDecision]]:
    """Keep the pictures that people find alike and in conflict with the captions.

    One row: what became of one proposed picture, and why. About five are kept of each; the
    release has 5,323 for 1,000 texts.
    """
    votes = read_raw(source_folder(sources), LookAlikeVote)
    rows = verify_look_alikes(look_alike_proposals, votes)
    return table_output(rows, {"accepted": sum(row.accepted for row in rows)})
