"""Retrieval: samples, candidates, queries, and rankings by encoders in place of chat models."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import decision_keys, label_undecided
from bench_assets.asset_factory.evaluation_assets import EvaluationStep, evaluation_assets
from bench_assets.asset_factory.suite_assets import AssetFolder, source_key
from bench_assets.core.schema.chat import ImageTextEncoder
from bench_assets.core.schema.errors import SourceError, UnknownNameError
from bench_assets.core.schema.rows import Prediction, Question, StoredImage
from bench_assets.suites.journeybench.assets.question_tables import (
    published_or_built_rows,
    question_outs,
    yield_question_tables,
)
from bench_assets.suites.journeybench.assets.source import SUITE, name_images, source_folder
from bench_assets.suites.journeybench.captioning.dataset import (
    CaptionedImage,
    read_captioned_images,
)
from bench_assets.suites.journeybench.construction.filtering import kept_captions
from bench_assets.suites.journeybench.construction.look_alikes import accepted_images
from bench_assets.suites.journeybench.published_files import published_files
from bench_assets.suites.journeybench.raw_material import (
    CaptionDecision,
    LookAlikeDecision,
    StatementDecision,
)
from bench_assets.suites.journeybench.retrieval.captions import CaptionEncoder
from bench_assets.suites.journeybench.retrieval.dataset import (
    RELEASES,
    TASK_NAME,
    Candidate,
    RetrievalSample,
    is_release,
    read_samples,
    to_candidates,
    to_questions,
)
from bench_assets.suites.journeybench.retrieval.scoring import AS_RELEASED, rank
from bench_assets.suites.journeybench.retrieval.shared_vectors import SharedVectors
from bench_assets.suites.journeybench.retrieval.task import TASK
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import EMBEDDED_ENCODERS
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.encoders.dual_encoder import RANDOM, EncoderSpec, open_encoder
from bench_resources.encoders.sentence_encoder import open_text_encoder
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_TASK_FOLDER = AssetFolder(TASK_NAME)
_DECISIONS = {
    name: f"../{name}" for name in ("caption_decisions", "statement_decisions", "look_alikes")
}
_IMAGES = {"files": "../images"}


@_TASK_FOLDER.step("select", reads=_DECISIONS, deps=_TASK_FOLDER.source)
def entries(
    sources: SourceFiles,
    caption_decisions: list[CaptionDecision],
    statement_decisions: list[StatementDecision],
    look_alikes: list[LookAlikeDecision],
) -> list[RetrievalSample]:
    """Read the samples of the published files, or build them from what annotators accepted."""
    files = published_files(source_folder(sources), *RELEASES)
    if not files:
        return _built_samples(caption_decisions, statement_decisions, look_alikes)
    rows = read_samples(files).rows
    if not rows:
        names = " and ".join(file.name for file in files.values())
        raise SourceError(f"{source_folder(sources)}: no rows in {names}. Download them again")
    return rows


def _built_samples(
    caption_decisions: Sequence[CaptionDecision],
    statement_decisions: Sequence[StatementDecision],
    look_alikes: Sequence[LookAlikeDecision],
) -> list[RetrievalSample]:
    statements: dict[str, list[str]] = defaultdict(list)
    for decision in statement_decisions:
        if decision.accepted:
            statements[decision.image].append(decision.text)
    distractors = accepted_images(look_alikes)
    return [
        RetrievalSample(
            entry_id=image,
            image=image,
            texts=tuple(captions),
            text_distractors=tuple(statements[image]),
            captions=tuple(captions),
            image_distractors=tuple(distractors.get(image, ())),
        )
        for image, captions in kept_captions(caption_decisions).items()
    ]


@_TASK_FOLDER.step("distractors", reads=_IMAGES, deps=_TASK_FOLDER.source)
def candidates(
    sources: SourceFiles, entries: list[RetrievalSample], files: list[StoredImage]
) -> list[Candidate]:
    """List the candidates that queries rank."""
    return to_candidates(entries, name_images(sources, files, *RELEASES).by_name)


@_TASK_FOLDER.step(
    "distractors", name="candidates", below=AS_RELEASED, reads=_IMAGES, deps=_TASK_FOLDER.source
)
def candidates_as_released(
    sources: SourceFiles, entries: list[RetrievalSample], files: list[StoredImage]
) -> list[Candidate]:
    """List the candidates that queries rank, including distractors that are right."""
    by_name = name_images(sources, files, *RELEASES).by_name
    return to_candidates(entries, by_name, as_released=True)


@dg.multi_asset(
    name="retrieval_questions",
    ins=_TASK_FOLDER.ins("entries", captioned="../captioning/built", **_IMAGES),
    deps=[*_TASK_FOLDER.source, *decision_keys(TASK)],
    outs=question_outs(_TASK_FOLDER),
)
def questions(
    sources: SourceFiles,
    tables: TableFiles,
    image_store: ImageStore,
    entries: list[RetrievalSample],
    files: list[StoredImage],
    captioned: list[CaptionedImage],
) -> Iterator[dg.Output[list[Any]]]:
    """Build the queries: images that ask for texts, captions that ask for an image."""
    images, image_rejections = name_images(sources, files, *RELEASES)
    table = to_questions(entries, images, _categories(sources, captioned))
    published = published_files(source_folder(sources), *RELEASES)
    row_rejections = read_samples(published).rejections
    table = replace(table, rejections=row_rejections + table.rejections)
    has_all_images = all(
        image in images for entry in entries for image in (entry.image, *entry.image_distractors)
    )
    is_whole = not row_rejections and has_all_images and is_release(published)
    edition = sources.open(SUITE).edition(published=bool(published), whole=is_whole)
    label = partial(label_undecided, task=TASK, tables=tables, settings=sources.settings)
    yield from yield_question_tables(
        table, image_rejections, len(entries), edition, image_store, label
    )


def _categories(sources: SourceFiles, built: list[CaptionedImage]) -> dict[str, tuple[str, ...]]:
    """Categories by image, published or built; an unreadable file is only logged."""
    categories: dict[str, tuple[str, ...]] = {}
    try:
        rows = published_or_built_rows(sources, "captioning", read_captioned_images, built).rows
    except SourceError as error:
        dg.get_dagster_logger().warning("no results by category of images: %s", error)
        rows = []
    for row in rows:
        categories[row.image] = tuple(
            dict.fromkeys((*categories.get(row.image, ()), *row.categories))
        )
    return categories


@contextmanager
def open_named_encoder(
    name: str, settings: Settings, image_store: ImageStore
) -> Iterator[ImageTextEncoder]:
    """Open an encoder by name: one of bench.toml, an embedded one, or ``random``.

    Raises:
        UnknownNameError: If there is no such encoder; lists the known names.
        ModelError: If it does not load.
    """
    suite_settings = settings.suite(SUITE, JourneyBenchSettings)
    embedded = {key: EncoderSpec(**section) for key, section in EMBEDDED_ENCODERS.items()}
    specs = embedded | suite_settings.encoders
    if name != RANDOM and name not in specs:
        raise UnknownNameError(f"encoder in {settings.file}", name, [RANDOM, *specs])
    spec = specs.get(name)
    if spec and spec.kind == "captions":
        sentence_encoder = open_text_encoder(suite_settings.text_encoder, settings.home)
        models = Models(settings=settings, image_store=image_store)
        with closing(models), models.open(spec.path) as model:
            yield CaptionEncoder(model, sentence_encoder)
        return
    path = spec.path if spec else ""
    folder = settings.resolve(path)
    location = str(folder) if folder.exists() else path
    with open_encoder(name, spec, location, image_store) as encoder:
        yield encoder


def ranking_asset(step: EvaluationStep) -> dg.AssetsDefinition:
    """Build the asset that has encoders rank the candidates of every query."""
    # The other conditions rank the candidates of "main".
    candidate_step = step if step.condition == AS_RELEASED else EvaluationStep(TASK)

    @dg.asset(
        ins=step.ins("questions") | candidate_step.ins("candidates"),
        deps=[source_key(SUITE)],  # with the encoders of bench.toml
        description=(
            "One row: the ten candidates that an encoder finds most like one query, best first. "
            f"Condition: {TASK.conditions[step.condition].about} The signature of "
            "the metrics names the pools and the rule for ties (section 4.1)."
        ),
        **step.stage("predictions", "gpu"),
    )
    def predictions(
        context: dg.AssetExecutionContext,
        settings: dg.ResourceParam[Settings],
        image_store: ImageStore,
        questions: list[Question],
        candidates: list[Candidate],
    ) -> dg.Output[list[Prediction]]:
        name = context.partition_key
        with open_named_encoder(name, settings, image_store) as encoder:
            shared = SharedVectors(encoder)
            return table_output(rank(questions, candidates, shared, name, step.condition))

    return predictions


RETRIEVAL_ASSETS = [
    asset
    for condition in TASK.conditions
    for asset in evaluation_assets(TASK, condition, predictions=ranking_asset)
]
