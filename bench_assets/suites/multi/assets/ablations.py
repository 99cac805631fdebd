"""Question tables of MULTI's ablations, and their information gain (sections 3.3 to 4.7)."""

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path

import dagster as dg
from PIL import Image

from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder, open_model
from bench_assets.core.images.drawing import encode_png
from bench_assets.core.images.text_substitutes import describe_images, replace_images_by_texts
from bench_assets.core.schema.rows import ImageText, Question, Rejection, Score, StoredImage
from bench_assets.suites.multi.assets.questions import MULTI, open_release
from bench_assets.suites.multi.construction import markup
from bench_assets.suites.multi.construction.annotation import KNOWLEDGE
from bench_assets.suites.multi.construction.decisions import add_written_pieces
from bench_assets.suites.multi.dataset.questions import (
    KnowledgeLink,
    add_blank_image,
    link_knowledge,
    select_elite,
    select_usable,
    with_knowledge,
)
from bench_assets.suites.multi.dataset.source import (
    Knowledge,
    MultiItem,
    MultiRelease,
    read_hard_list,
    read_image_texts,
    read_items,
    read_knowledge,
)
from bench_assets.suites.multi.prompts import caption
from bench_assets.suites.multi.settings import MultiSettings
from bench_assets.suites.multi.studies import CONDITIONS, InformationGain, compare_conditions
from bench_assets.suites.multi.task import TASK
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_BLANK_SIDE = 24  # px, side of a blank image (section 4.2; footnote 5 has 256)


@MULTI.step("images", reads={"stored": "images"}, pool="gpu", below="captions_for_images")
def captions(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    models: Models,
    questions: list[Question],
    stored: list[StoredImage],
) -> list[ImageText]:
    """Take the captions of the source, or else those of the captioner, if any (section 4.5)."""
    file = open_release(sources).captions
    if file:
        return _source_texts(file, stored)
    captioner = settings.suite("multi", MultiSettings).captioner
    if not captioner:
        return []
    with open_model(context, models, captioner) as (model, _):
        return describe_images(_unique_images(questions), caption, model)


@MULTI.step("images", reads={"stored": "images"}, below="ocr_for_images")
def ocr(
    sources: SourceFiles,
    image_store: ImageStore,
    tables: TableFiles,
    questions: list[Question],
    stored: list[StoredImage],
) -> list[ImageText]:
    """Take the OCR texts of the source, or recognise the text in the images (section 4.5).

    Texts that this version of the engine recognised before are kept. Images that do not decode have
    no row.
    """
    file = open_release(sources).ocr
    if file:
        return _source_texts(file, stored)
    key, author = ["multi", "ocr_for_images", "ocr"], markup.ocr_engine()
    earlier_rows = tables.read(key, ImageText) if tables.exists(key) else []
    rows = {row.image: row for row in earlier_rows if row.author == author}
    images = _unique_images(questions)
    unread = [image for image in images if image not in rows]
    if unread:  # else the engine is not loaded, which takes seconds
        opened = ((image, image_store.open_if_whole(image)) for image in unread)
        decodable = ((image, decoded) for image, decoded in opened if decoded is not None)
        for image, text in markup.recognize_texts(decodable):
            rows[image] = ImageText(image=image, text=text, author=author)
    return [rows[image] for image in images if image in rows]


def _source_texts(file: Path, stored: Sequence[StoredImage]) -> list[ImageText]:
    """Read the texts of stored images; one without a text has "", as in the authors' prepare.py."""
    texts = dict(read_image_texts(file).rows)
    by_image = dict.fromkeys((image.sha256 for image in stored), "")
    by_image |= {image.sha256: texts[image.name] for image in stored if image.name in texts}
    return [ImageText(image=image, text=text, author=file.name) for image, text in by_image.items()]


@MULTI.step(
    "questions",
    name="questions",
    reads={"captions": "captions_for_images/captions"},
    below="captions_for_images",
)
def captions_for_images(questions: list[Question], captions: list[ImageText]) -> list[Question]:
    """Replace images by captions."""
    return replace_images_by_texts(questions, captions)


@MULTI.step(
    "questions",
    name="questions",
    reads={"ocr": "ocr_for_images/ocr"},
    below="ocr_for_images",
)
def ocr_for_images(questions: list[Question], ocr: list[ImageText]) -> list[Question]:
    """Replace images by their OCR texts."""
    return replace_images_by_texts(questions, ocr)


@MULTI.step("questions", name="questions", below="blank_image")
def questions_with_blank_image(
    image_store: ImageStore, questions: list[Question]
) -> list[Question]:
    """Add a black image to questions without one, for models that need an image (section 4.2)."""
    image = Image.new("RGB", (_BLANK_SIDE, _BLANK_SIDE))
    blank = image_store.put(encode_png(image), "blank.png")
    return add_blank_image(questions, blank.sha256)


@MULTI.step("questions", name="questions", deps=MULTI.source, below="elite")
def elite_questions(sources: SourceFiles, questions: list[Question]) -> list[Question]:
    """Select MULTI-Elite: the source's hard list (section 3.3); none without one."""
    return select_elite(questions, read_hard_list(open_release(sources).hard_list).rows)


def _unique_images(questions: Sequence[Question]) -> list[str]:
    return list(dict.fromkeys(image for question in questions for image in question.images))


@MULTI.step("source", deps=MULTI.source, below="with_knowledge")
def knowledge_base(sources: SourceFiles) -> list[Knowledge]:
    """Read the knowledge base, MULTI-Extend (section 3.4)."""
    return read_knowledge(open_release(sources)).rows


@MULTI.step(
    "select",
    reads={"pieces": "with_knowledge/knowledge_base"},
    deps=MULTI.source,
    below="with_knowledge",
)
def knowledge_links(
    sources: SourceFiles, transformed_items: list[MultiItem], pieces: list[Knowledge]
) -> list[KnowledgeLink]:
    """Link knowledge pieces to questions (MULTI-Extend, section 3.4)."""
    is_built = open_release(sources).annotations is not None  # the release's own links are kept
    return link_knowledge(transformed_items, {piece.name for piece in pieces}, search=is_built)


@MULTI.step(
    "questions",
    name="questions",
    reads={
        "stored": "images",
        "links": "with_knowledge/knowledge_links",
        "pieces": "with_knowledge/knowledge_base",
    },
    deps=[answers_key(KNOWLEDGE)],
    below="with_knowledge",
)
def questions_with_knowledge(
    tables: TableFiles,
    questions: list[Question],
    links: list[KnowledgeLink],
    pieces: list[Knowledge],
    stored: list[StoredImage],
) -> list[Question]:
    """Add the knowledge piece of each question that has one (section 4.7).

    Without any piece, there are no questions.
    """
    images = {image.name: image for image in stored}
    usable = {piece.name: piece for piece in select_usable(pieces, images).rows}
    knowledge = add_written_pieces(links, usable, counted_rows(tables, KNOWLEDGE))
    rows = with_knowledge(questions, knowledge.links, knowledge.pieces, images)
    return rows if any(row.context for row in rows) else list[Question]()


def _reject_pieces(release: MultiRelease, images: Container[str]) -> list[Rejection]:
    """Reject pieces of knowledge that cannot be read or used."""
    pieces = read_knowledge(release)
    return pieces.rejections + select_usable(pieces.rows, images).rejections


def _reject_unknown_ids(release: MultiRelease, _: Container[str]) -> list[Rejection]:
    """Reject entries of the hard list that are no texts or, in a release, name no question."""
    hard_list = read_hard_list(release.hard_list)
    if release.annotations is None:  # items of a built edition may get other ids
        item_ids = {item.item_id for item in read_items(release).rows}
        for item_id in hard_list.rows:
            if item_id not in item_ids:
                hard_list.reject(f"hard list, {item_id}", "no question has this id")
    return hard_list.rejections


_OWN_FILES: Mapping[str, Callable[[MultiRelease, Container[str]], list[Rejection]]] = {
    "captions_for_images": lambda release, _: read_image_texts(release.captions).rejections,
    "ocr_for_images": lambda release, _: read_image_texts(release.ocr).rejections,
    "elite": _reject_unknown_ids,
    "with_knowledge": _reject_pieces,
}


def _rejections_asset(condition: str) -> dg.AssetsDefinition:
    @dg.asset(
        name="rejections",
        ins=MULTI.ins(stored="images"),
        deps=MULTI.source,
        **MULTI.stage("select", below=condition),
    )
    def rejections(sources: SourceFiles, stored: list[StoredImage]) -> dg.Output[list[Rejection]]:
        """List rows of the condition's own file that cannot be used."""
        images = {image.name for image in stored}
        return table_output(_OWN_FILES[condition](open_release(sources), images))

    return rejections


REJECTIONS = [_rejections_asset(condition) for condition in _OWN_FILES]

_TASK_FOLDER = AssetFolder("multi", str(TASK.version))
_SCORES = {condition: evaluation_key(TASK, condition, "scores") for condition in CONDITIONS}


@_TASK_FOLDER.step(
    "metrics", deps=[dg.AssetKey(key) for key in _SCORES.values()], ablation=True, partitions=MODELS
)
def information_gain(
    context: dg.AssetExecutionContext, tables: TableFiles, questions: list[Question]
) -> dg.Output[list[InformationGain]]:
    """Compare each condition with its baseline, question by question."""
    model = context.partition_key
    scores = {name: tables.read(key, Score, model) for name, key in _SCORES.items()}
    rows = compare_conditions(questions, scores, model)
    gains = {f"gain/{row.condition}/{row.category}": row.gain for row in rows if row.n_questions}
    return table_output(rows, gains)
