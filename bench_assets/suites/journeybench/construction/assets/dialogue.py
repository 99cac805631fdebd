"""The dialogues about the captioned images, as tables (section 3.3, way b)."""

from collections.abc import Sequence
from contextlib import ExitStack

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.text.escaping import as_text
from bench_assets.suites.journeybench.assets.source import SUITE, digests, open_writer
from bench_assets.suites.journeybench.construction.captions import kept_captions
from bench_assets.suites.journeybench.construction.dialogue import (
    DialogueEnd,
    Utterance,
    hold_dialogues,
)
from bench_assets.suites.journeybench.construction.distractors import Statement
from bench_assets.suites.journeybench.decisions import CaptionDecision
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from resources.config.settings_resource import SettingsResource
from resources.datasets.source_files import SourceFiles
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output

_HERE = AssetFolder(SUITE)
_STAGE = _HERE.stage("distractors", asks="judge")


@dg.multi_asset(
    ins=_HERE.ins("caption_decisions", stored="images"),
    outs={
        "dialogues": out(
            _STAGE, Utterance, "One row: one thing that was said about an image (way b)."
        ),
        "dialogue_ends": out(
            _STAGE,
            DialogueEnd,
            "One row: how the dialogue about one image ended: by a decision, because the rounds "
            "were over, or because a response could not be read.",
        ),
        "dialogue_statements": out(
            _STAGE, Statement, "One row: how a dialogue describes its image after one round."
        ),
    },
    pool="judge",
)
def hold(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsResource,
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> tuple[dg.Output[list[Utterance]], dg.Output[list[DialogueEnd]], dg.Output[list[Statement]]]:
    """Have two models talk about every image, of which one sees nothing but a caption."""
    chosen = settings.load().suite(SUITE, JourneyBenchSettings)
    captions = {name: texts[0] for name, texts in kept_captions(caption_decisions).items()}
    with ExitStack() as opened:
        asker = answerer = opened.enter_context(
            open_writer(context, models, chosen.writer, sources)
        )
        if chosen.answerer != chosen.writer:
            answerer = opened.enter_context(open_writer(context, models, chosen.answerer, sources))
        held = hold_dialogues(
            captions,
            digests(stored),
            (asker, answerer),
            rounds=chosen.rounds,
            tries=chosen.tries,
        )
    shown = {"transcript": dg.MetadataValue.md(_transcript(held.utterances, held.endings))}
    return (
        table_output(held.utterances, shown),
        table_output(held.endings),
        table_output(held.statements),
    )


def _transcript(utterances: Sequence[Utterance], endings: Sequence[DialogueEnd], n: int = 4) -> str:
    """The first dialogues as a person reads them."""
    lines = []
    for end in endings[:n]:
        lines += [f"### {as_text(end.image)}", f"Caption: {as_text(end.caption)}", ""]
        for one in utterances:
            if one.image == end.image:
                asked = f" (asked: {as_text(one.heard)})" if one.speaker == "answerer" else ""
                said = "<br>".join(map(as_text, one.said.split("\n")))
                lines.append(f"- **{one.speaker}**, round {one.round}{asked}: {said}")
        lines += [
            "",
            f"Ended by {end.outcome} after {end.rounds} rounds. {as_text(end.decision)}",
            "",
        ]
    return "\n".join(lines)
