"""Puts captions and distractors together for retrieval (section 3.3)."""

from collections import defaultdict

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.construction.captions import kept_captions
from bench_assets.suites.journeybench.construction.look_alikes import accepted_images
from bench_assets.suites.journeybench.decisions import (
    CaptionDecision,
    LookAlikeDecision,
    StatementDecision,
)
from bench_assets.suites.journeybench.retrieval.dataset import RetrievalSample
from resources.tables.parquet import table_output

_HERE = AssetFolder(SUITE)


@dg.asset(
    name="built",
    ins=_HERE.ins("caption_decisions", "statement_decisions", "look_alikes"),
    **AssetFolder(f"{SUITE}/retrieval").stage("select"),
)
def retrieval_samples(
    caption_decisions: list[CaptionDecision],
    statement_decisions: list[StatementDecision],
    look_alikes: list[LookAlikeDecision],
) -> dg.Output[list[RetrievalSample]]:
    """Put what describes an image and what only seems to together.

    One row: one image with its captions, the statements that conflict with it, and the images
    that look like it; in the release about five of each for 1,000 images.
    """
    statements: dict[str, list[str]] = defaultdict(list)
    for decision in statement_decisions:
        if decision.accepted:
            statements[decision.image].append(decision.text)
    images = accepted_images(look_alikes)
    return table_output(
        [
            RetrievalSample(
                entry_id=image,
                image=image,
                texts=tuple(captions),
                text_distractors=tuple(statements[image]),
                captions=tuple(captions),
                image_distractors=tuple(images.get(image, ())),
            )
            for image, captions in kept_captions(caption_decisions).items()
        ]
    )
