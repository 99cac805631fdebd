"""What people say when an edition is built: entries of the source's files, and their answers.

Of what one person says of one thing, the last word counts; what is answered comes after the files.
"""

from typing import Any

import dagster as dg

from bench_assets.annotation.tasks import SuiteAnnotationTask
from bench_assets.asset_factory.annotation_inputs import answers_key, heard
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.suites.journeybench.assets.source import SUITE, source_folder
from bench_assets.suites.journeybench.construction import annotation
from bench_assets.suites.journeybench.raw_material import (
    CaptionVote,
    FilterVote,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
    WrittenCaption,
    last_words,
    read_raw,
)
from resources.datasets.source_files import SourceFiles
from resources.tables.parquet import TableFiles, table_output

_HERE = AssetFolder(SUITE)


@dg.asset(deps=[*_HERE.source, answers_key(annotation.FILTER)], **_HERE.stage("annotation"))
def filter_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[FilterVote]]:
    """Read the votes on images of the gallery.

    One row: what one annotator says of one image.
    """
    return table_output(_said(sources, tables, annotation.FILTER))


@dg.asset(deps=[*_HERE.source, answers_key(annotation.WRITE)], **_HERE.stage("annotation"))
def written_captions(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[WrittenCaption]]:
    """Read the captions.

    One row: what one writer says of one image; eight write in the paper.
    """
    return table_output(_said(sources, tables, annotation.WRITE))


@dg.asset(deps=[*_HERE.source, answers_key(annotation.VERIFY)], **_HERE.stage("annotation"))
def caption_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[CaptionVote]]:
    """Read the votes on captions.

    One row: what one verifier says of one caption; four verify in the paper.
    """
    return table_output(_said(sources, tables, annotation.VERIFY))


@dg.asset(deps=[*_HERE.source, answers_key(annotation.CONFLICTS)], **_HERE.stage("annotation"))
def statement_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[StatementVote]]:
    """Read the votes on statements.

    One row: whether one annotator finds that a statement conflicts with its image.
    """
    return table_output(_said(sources, tables, annotation.CONFLICTS))


@dg.asset(deps=[*_HERE.source, answers_key(annotation.ALIKE)], **_HERE.stage("annotation"))
def look_alike_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[LookAlikeVote]]:
    """Read the votes on images that may distract from another.

    One row: what one annotator says of two images.
    """
    return table_output(_said(sources, tables, annotation.ALIKE))


@dg.asset(deps=[*_HERE.source, answers_key(annotation.TRIGGER)], **_HERE.stage("annotation"))
def trigger_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[TriggerVote]]:
    """Read the votes on questions that invite hallucinations.

    One row: whether one annotator accepts one question with its answers.
    """
    return table_output(_said(sources, tables, annotation.TRIGGER))


def _said(sources: SourceFiles, tables: TableFiles, task: SuiteAnnotationTask) -> list[Any]:
    return last_words([*read_raw(source_folder(sources), task.row), *heard(tables, task)])
