"""Whose pictures a report should not carry to others."""

from bench_assets.catalog import Catalog
from bench_assets.core.errors import TableError
from bench_assets.core.rows import Question
from bench_assets.evaluation import questions_key
from resources.home.columns import read_columns
from resources.home.tables import TableFiles


def not_to_be_passed_on(tables: TableFiles, catalog: Catalog) -> list[str]:
    """Suites of which the report shows data that their licence lets nobody pass on.

    Those are the suites whose files a program may not fetch, where their questions were made of
    such files; what the mini edition draws is anybody's.
    """
    return [
        suite.name
        for suite in catalog.suites
        if suite.by_hand
        and any(_is_released(tables, questions_key(task, "main")) for task in suite.tasks)
    ]


def _is_released(tables: TableFiles, key: list[str]) -> bool:
    try:
        editions = read_columns(tables, key, Question, names=("edition",))["edition"]
    except TableError:  # no table, or one that nothing is shown of
        return False
    return any(edition != "mini" for edition in editions)
