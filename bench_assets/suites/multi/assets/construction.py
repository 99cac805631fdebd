"""Dataset build of raw material: selection, annotation, transformation, near-duplicates (3.2).

For the release these tables are empty, or pass its items through.
"""

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.gold_assets import gold_assets, yield_check
from bench_assets.asset_factory.suite_assets import open_model
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.chat import ChatModel, Request
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.suites.multi.assets.questions import MULTI, open_release
from bench_assets.suites.multi.construction import decisions
from bench_assets.suites.multi.construction.annotation import DIFFICULTY
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    read_annotations,
    requested_transformations,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate, find_duplicates
from bench_assets.suites.multi.construction.selection import SelectionDecision, select
from bench_assets.suites.multi.construction.transformations import (
    TRANSFORMED,
    Transformation,
    apply_transformations,
    mark_rejected_keys,
    proposal_prompt,
    propose,
    read_proposal,
)
from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.settings import MultiSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_SHARE = 0.1  # share of the otherwise unchanged items to negate or to ask without options
_SEED = 0  # seed of the selection and of random transformations


@MULTI.step("select")
def selection(sources: SourceFiles, items: list[MultiItem]) -> list[SelectionDecision]:
    """Select problems by length within each knowledge piece (appendix D)."""
    if not open_release(sources).annotations:
        return []
    return select(items, _SEED)


@MULTI.steps(
    "multi_annotation",
    {"annotated_items": "select", "dropped_items": "select"},
    deps=[*MULTI.source, answers_key(DIFFICULTY)],
)
def annotation(
    sources: SourceFiles,
    tables: TableFiles,
    items: list[MultiItem],
    selection: list[SelectionDecision],
) -> tuple[list[MultiItem], list[Rejection]]:
    """Merge two rounds of annotation, and drop defective items (section 3.2)."""
    annotations = _read_annotations(sources)
    if annotations is None:  # the release has only the result
        return items, list[Rejection]()
    rated = decisions.add_ratings(annotations.rows, counted_rows(tables, DIFFICULTY))
    annotated = decisions.annotate(items, selection, rated)
    return annotated.rows, [*annotations.rejections, *annotated.rejections]


@MULTI.step("distractors", deps=MULTI.source, pool="judge")
def transformation_proposals(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    models: Models,
    annotated_items: list[MultiItem],
) -> list[Transformation]:
    """Propose transformations (section 3.2, data post-process; Figure 6)."""
    annotations = _read_annotations(sources)
    if annotations is None:
        return []
    requests = requested_transformations(annotations.rows)
    rows = propose(annotated_items, requests, _SHARE, _SEED)
    writer = settings.suite("multi", MultiSettings).writer
    if writer:
        changed = {row.item_id for row in rows}
        unchanged = [item for item in annotated_items if item.item_id not in changed]
        with open_model(context, models, writer) as (model, _):
            rows += _propose_rewrites(model, unchanged)
    return rows


proposals = gold_assets(TRANSFORMED)
proposals_are_accepted = yield_check(TRANSFORMED)


@MULTI.step("distractors")
def transformations(
    transformation_proposals: list[Transformation], decided_proposals: list[DecidedProposal]
) -> list[Transformation]:
    """Mark the transformations whose keys are not accepted."""
    return mark_rejected_keys(transformation_proposals, decided_proposals)


@MULTI.step("distractors")
def transformed_items(
    annotated_items: list[MultiItem], transformations: list[Transformation]
) -> list[MultiItem]:
    """Replace items by their applied transformations."""
    return apply_transformations(annotated_items, transformations)


@MULTI.step("select", reads={"stored": "images"}, deps=MULTI.source)
def duplicates(
    sources: SourceFiles,
    image_store: ImageStore,
    transformed_items: list[MultiItem],
    stored: list[StoredImage],
) -> dg.Output[list[Duplicate]]:
    """Find near-duplicates (section 3.2: over 800 were removed), of items with all their images."""
    if not open_release(sources).annotations:
        return table_output(list[Duplicate]())
    digests = {image.name: image.sha256 for image in stored}
    image_names = {name for item in transformed_items for name in item.images if name in digests}
    images = ((name, image_store.open_if_whole(digests[name])) for name in sorted(image_names))
    hashes = {name: image_hash(image) for name, image in images if image is not None}
    complete_items = [item for item in transformed_items if set(item.images) <= hashes.keys()]
    pairs = find_duplicates(complete_items, hashes)
    return table_output(pairs, {"conflicts": sum(bool(pair.conflict) for pair in pairs)})


def _read_annotations(sources: SourceFiles) -> Table[Annotation] | None:
    """Read the annotations of raw material; None for the release."""
    file = open_release(sources).annotations
    return read_annotations(file) if file else None


def _propose_rewrites(model: ChatModel, items: list[MultiItem]) -> list[Transformation]:
    """Let a model rewrite items; those whose response is not in the format are left out.

    Raises:
        ModelError: If an item has no response.
    """
    responses = model.response([Request(prompt=proposal_prompt(item)) for item in items])
    errors = [response.error for response in responses if response.error]
    if errors:
        raise ModelError(
            f"{model.name}: {len(errors)} of {len(items)} items have no response: {errors[0]}. "
            "Materialize again to request only these"
        )
    rewrites = {
        item.item_id: read_proposal(response.parts.answer.strip())
        for item, response in zip(items, responses, strict=True)
    }
    rewritten = [item for item in items if rewrites[item.item_id]]
    return propose(rewritten, rewrites, share=0.0, seed=_SEED, by=model.name)
