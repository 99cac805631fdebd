"""MULTI-Extend as assets: which piece of knowledge belongs to which question (section 3.4)."""

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key, heard
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.suites.multi.assets.questions import MULTI, release_of
from bench_assets.suites.multi.construction.annotation import KNOWLEDGE
from bench_assets.suites.multi.construction.decisions import informed
from bench_assets.suites.multi.dataset.knowledge import KnowledgeLink, link, usable
from bench_assets.suites.multi.dataset.questions import with_knowledge
from bench_assets.suites.multi.dataset.source import MultiItem, read_knowledge
from resources.datasets.source_files import SourceFiles
from resources.tables.parquet import TableFiles, table_output


@dg.asset(
    ins=MULTI.ins("transformed_items"),
    deps=MULTI.source,
    **MULTI.stage("select", below="with_knowledge"),
)
def knowledge_links(
    sources: SourceFiles, transformed_items: list[MultiItem]
) -> dg.Output[list[KnowledgeLink]]:
    """Link knowledge pieces to questions (MULTI-Extend, section 3.4).

    One row: the knowledge piece of one item, or that it has none. In the paper 7,987 of 18,430
    questions have one of 4,595 pieces (Table 9).
    """
    release = release_of(sources)
    built = release.annotations is not None  # the authors' own links are left as they are
    return table_output(link(transformed_items, read_knowledge(release), search=built))


@dg.asset(
    name="questions",
    ins=MULTI.ins("questions", stored="images", links="with_knowledge/knowledge_links"),
    deps=[answers_key(KNOWLEDGE)],
    **MULTI.stage("questions", below="with_knowledge"),
)
def questions_with_knowledge(
    sources: SourceFiles,
    tables: TableFiles,
    questions: list[Question],
    links: list[KnowledgeLink],
    stored: list[StoredImage],
) -> dg.Output[list[Question]]:
    """Add the knowledge piece of each question that has one (section 4.7).

    One row: one question, all of them; Table 8 is over the whole set.
    """
    by_name = {image.name: image for image in stored}
    pieces = usable(read_knowledge(release_of(sources)), by_name).usable
    known = informed(links, pieces, heard(tables, KNOWLEDGE))
    return table_output(with_knowledge(questions, known.links, known.pieces, by_name))
