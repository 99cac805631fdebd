"""Distractors of the captioned images, and trigger questions (section 3.3)."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

import dagster as dg
import numpy as np

from bench_assets.asset_factory.annotation_inputs import required_votes, undecided_by_decisions
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.suites.journeybench.assets.generation import generated_texts, open_writer
from bench_assets.suites.journeybench.assets.source import SUITE, source_folder
from bench_assets.suites.journeybench.construction import annotation, distractors, triggers
from bench_assets.suites.journeybench.construction.dialogue import (
    DialogueEnd,
    Utterance,
    dialogue_statements,
    hold_dialogues,
)
from bench_assets.suites.journeybench.construction.distractors import Statement
from bench_assets.suites.journeybench.construction.filtering import (
    VotedStep,
    count_steps,
    kept_captions,
)
from bench_assets.suites.journeybench.construction.look_alikes import (
    LookAlike,
    composition,
    propose_look_alikes,
    verify_look_alikes,
)
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TriggerQuestion
from bench_assets.suites.journeybench.raw_material import (
    CAPTIONS,
    IMAGES,
    LOOK_ALIKES,
    STATEMENTS,
    CaptionDecision,
    FilterDecision,
    GalleryImage,
    LookAlikeDecision,
    LookAlikeVote,
    StatementDecision,
    StatementVote,
    TriggerVote,
    unused_rows,
)
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.text_generation import GeneratedText
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.encoders.sentence_encoder import SentenceEncoder, open_text_encoder
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_FOLDER = AssetFolder(SUITE)
_CAPTIONED_IMAGES = {
    "caption_decisions": ("caption_decisions", CaptionDecision),
    "stored": ("images", StoredImage),
}

statement_responses = generated_texts(
    _FOLDER,
    "statement_responses",
    _CAPTIONED_IMAGES,
    lambda caption_decisions, stored: distractors.statement_prompts(
        kept_captions(caption_decisions), annotation.digests(stored)
    ),
    role="answerer",
)


@_FOLDER.step("distractors")
def statements(
    statement_responses: list[GeneratedText], dialogues: list[Utterance]
) -> list[Statement]:
    """Gather the statements of both ways: written by a model, and from dialogues."""
    model_statements = distractors.read_statements(statement_responses).rows
    return model_statements + dialogue_statements(dialogues)


@_FOLDER.step("distractors")
def statement_decisions(
    settings: dg.ResourceParam[Settings],
    statements: list[Statement],
    caption_decisions: list[CaptionDecision],
    statement_votes: list[StatementVote],
) -> dg.Output[list[StatementDecision]]:
    """Keep the statements that conflict with their image."""
    if not statements:
        return table_output([])
    rows = distractors.verify_statements(
        statements,
        kept_captions(caption_decisions),
        statement_votes,
        _sentence_encoder(settings),
        least_votes=required_votes(settings, annotation.CONFLICTS, annotation.N_CHECKING),
    )
    return table_output(rows, {"accepted": sum(row.accepted for row in rows)})


@_FOLDER.step("distractors", reads={"stored": "images"}, deps=_FOLDER.source, pool="judge")
def dialogues(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> dg.Output[list[Utterance]]:
    """Hold a dialogue about every captioned image; the asker knows only its first caption."""
    suite_settings = settings.suite(SUITE, JourneyBenchSettings)
    writer, answerer = suite_settings.writer, suite_settings.answerer
    captions = {name: texts[0] for name, texts in kept_captions(caption_decisions).items()}
    if not captions:
        return table_output([])
    with ExitStack() as stack:
        asker = stack.enter_context(open_writer(context, models, writer, sources))
        answering_model = asker
        if answerer not in ("", writer):
            answering_model = stack.enter_context(open_writer(context, models, answerer, sources))
        utterances, endings = hold_dialogues(
            captions,
            annotation.digests(stored),
            asker,
            answering_model,
            rounds=suite_settings.rounds,
            tries=suite_settings.tries,
        )
    outcomes = Counter[str](end.outcome for end in endings)
    metadata = {
        "transcript": dg.MetadataValue.md(_transcript(utterances, endings)),
        "ended_by": dg.MetadataValue.json({**outcomes}),
    }
    return table_output(utterances, metadata)


def _transcript(utterances: Sequence[Utterance], endings: Sequence[DialogueEnd]) -> str:
    """Write the first four dialogues as Markdown."""
    lines = []
    for end in endings[:4]:
        lines += [
            f"### {escape_markdown(end.image)}",
            f"Caption: {escape_markdown(end.caption)}",
            "",
            *(_transcript_line(row) for row in utterances if row.image == end.image),
            "",
            f"Ended by {end.outcome} after {end.rounds} rounds. {escape_markdown(end.decision)}",
            "",
        ]
    return "\n".join(lines)


def _transcript_line(utterance: Utterance) -> str:
    is_answer = utterance.speaker == "answerer"
    question = f" (asked: {escape_markdown(utterance.heard)})" if is_answer else ""
    text = "<br>".join(map(escape_markdown, utterance.said.split("\n")))
    return f"- **{utterance.speaker}**, round {utterance.round}{question}: {text}"


@_FOLDER.step("distractors", reads={"stored": "images"})
def look_alike_proposals(
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    gallery: list[GalleryImage],
    decisions: list[FilterDecision],
    stored: list[StoredImage],
) -> list[LookAlike]:
    """Find images that are alike in subject, composition, or both."""
    kept = {decision.image for decision in decisions if decision.kept}
    digest_of = annotation.digests(stored)
    prompts: dict[str, str] = {}
    compositions = []
    for row in gallery:
        if row.image in kept:
            image = image_store.open_if_whole(digest_of[row.image])
            if image is not None:
                prompts[row.image] = row.prompt
                compositions.append(composition(image))
    if not prompts:
        return []
    subjects = _sentence_encoder(settings).encode_texts(list(prompts.values()))
    return propose_look_alikes(list(prompts), subjects, np.stack(compositions))


@_FOLDER.step("distractors")
def look_alikes(
    settings: dg.ResourceParam[Settings],
    look_alike_proposals: list[LookAlike],
    look_alike_votes: list[LookAlikeVote],
) -> dg.Output[list[LookAlikeDecision]]:
    """Keep the images that annotators call alike and in conflict with the captions."""
    least_votes = required_votes(settings, annotation.ALIKE, annotation.N_CHECKING)
    rows = verify_look_alikes(look_alike_proposals, look_alike_votes, least_votes)
    return table_output(rows, {"accepted": sum(row.accepted for row in rows)})


trigger_responses = generated_texts(
    _FOLDER,
    "trigger_responses",
    _CAPTIONED_IMAGES,
    lambda caption_decisions, stored: triggers.trigger_prompts(
        kept_captions(caption_decisions), annotation.digests(stored)
    ),
    role="answerer",
)


@AssetFolder(f"{SUITE}/hallucination_vqa").step(
    "select",
    name="built",
    reads={name: f"../{name}" for name in ("trigger_responses", "trigger_votes")},
)
def trigger_questions(
    settings: dg.ResourceParam[Settings],
    trigger_responses: list[GeneratedText],
    trigger_votes: list[TriggerVote],
) -> list[TriggerQuestion]:
    """Keep the trigger questions that annotators accept."""
    least_votes = required_votes(settings, annotation.TRIGGER, annotation.N_CHECKING)
    return triggers.verify_triggers(trigger_responses, trigger_votes, least_votes).rows


@_FOLDER.step("distractors", deps=_FOLDER.source)
def rejections(
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    statement_responses: list[GeneratedText],
    trigger_responses: list[GeneratedText],
    trigger_votes: list[TriggerVote],
) -> list[Rejection]:
    """List rejected responses, trigger questions and rows of raw material, with reasons."""
    least_votes = required_votes(settings, annotation.TRIGGER, annotation.N_CHECKING)
    return (
        unused_rows(source_folder(sources))
        + distractors.read_statements(statement_responses).rejections
        + triggers.verify_triggers(trigger_responses, trigger_votes, least_votes).rejections
    )


@_FOLDER.step("distractors")
def funnel(
    settings: dg.ResourceParam[Settings],
    tables: TableFiles,
    decisions: list[FilterDecision],
    caption_decisions: list[CaptionDecision],
    statement_decisions: list[StatementDecision],
    look_alikes: list[LookAlikeDecision],
) -> list[VotedStep]:
    """Count the items of each step, kept and undecided."""
    undecided = {
        table.task: undecided_by_decisions(tables, settings, table)
        for table in (IMAGES, CAPTIONS, STATEMENTS, LOOK_ALIKES)
    }
    return count_steps(decisions, caption_decisions, statement_decisions, look_alikes, undecided)


def _sentence_encoder(settings: Settings) -> SentenceEncoder:
    text_encoder = settings.suite(SUITE, JourneyBenchSettings).text_encoder
    return open_text_encoder(text_encoder, settings.home)
