"""The dialogues about the captioned pictures, as tables (section 3.3, way b)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import dagster as dg

from bench_assets.core.rows import StoredImage
from bench_assets.journeybench.assets import SUITE
from bench_assets.journeybench.built.assets import digests, source_folder, tables
from bench_assets.journeybench.built.captions import CaptionDecision, kept_captions
from bench_assets.journeybench.built.chat_models import open_writer
from bench_assets.journeybench.built.dialogue import hold_dialogues
from bench_assets.journeybench.built.distractors import Statement
from bench_assets.journeybench.built.settings import BuiltSettings
from bench_assets.journeybench.built.transcript import DialogueEnd, Utterance
from resources.models import Models
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output

Row = TypeVar("Row")


def _out(row_type: type[Any], description: str) -> dg.AssetOut:
    return dg.AssetOut(
        key_prefix=SUITE,
        group_name=SUITE,
        code_version="1",
        kinds={"llm"},
        tags={"bench/stage": "distractors"},
        dagster_type=dg.DagsterType(
            name=f"{row_type.__name__}Table",
            type_check_fn=lambda _, rows: isinstance(rows, list),
            typing_type=list[row_type],  # type: ignore[valid-type]
        ),
        description=description,
    )


@dg.multi_asset(
    ins=tables("caption_decisions", stored="images"),
    outs={
        "dialogues": _out(Utterance, "One row: one thing that was said about a picture (way b)."),
        "dialogue_ends": _out(
            DialogueEnd,
            "One row: how the dialogue about one picture ended: by a decision, because the rounds "
            "were over, or because a reply could not be read.",
        ),
        "dialogue_statements": _out(
            Statement, "One row: how a dialogue describes its picture after one round."
        ),
    },
    pool="judge",
)
def hold(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsFile,
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> Iterator[dg.Output[list[Any]]]:
    """Have two models talk about every picture, of which one sees nothing but a caption."""
    chosen = settings.load().suite(SUITE, BuiltSettings)
    captions = {name: texts[0] for name, texts in kept_captions(caption_decisions).items()}
    folder = source_folder(sources)
    with ExitStack() as opened:
        asker = answerer = opened.enter_context(open_writer(chosen.writer, models, folder, context))
        if chosen.answerer != chosen.writer:
            answerer = opened.enter_context(open_writer(chosen.answerer, models, folder, context))
        held = hold_dialogues(
            captions,
            digests(stored),
            (asker, answerer),
            rounds=chosen.rounds,
            tries=chosen.tries,
        )
    shown = {"transcript": dg.MetadataValue.md(_transcript(held.utterances, held.endings))}
    yield _named("dialogues", held.utterances, shown)
    yield _named("dialogue_ends", held.endings)
    yield _named("dialogue_statements", held.statements)


def _named(
    name: str, rows: list[Row], metadata: Mapping[str, dg.MetadataValue] | None = None
) -> dg.Output[list[Row]]:
    output = table_output(rows, metadata)
    return dg.Output(
        rows, output_name=name, metadata=output.metadata, data_version=output.data_version
    )


def _transcript(utterances: Sequence[Utterance], endings: Sequence[DialogueEnd], n: int = 4) -> str:
    """The first dialogues as a person reads them."""
    lines = []
    for end in endings[:n]:
        lines += [f"### {end.picture}", f"Caption: {end.caption}", ""]
        for one in utterances:
            if one.picture == end.picture:
                asked = f" (asked: {one.heard})" if one.speaker == "answerer" else ""
                said = one.said.replace("\n", "<br>")
                lines.append(f"- **{one.speaker}**, round {one.round}{asked}: {said}")
        lines += ["", f"Ended by {end.outcome} after {end.rounds} rounds. {end.decision}", ""]
    return "\n".join(lines)
