"""Imports results of other harnesses into a home: ``bench import``."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.evaluation.suite import name_defects
from bench_assets.evaluation.task import Evaluation
from bench_assets.external_results.evaluation import imported_evaluation
from bench_assets.external_results.reading import read_external_results
from bench_assets.external_results.results import ExternalResults
from bench_assets.external_results.suite import (
    imported_task,
    read_imports,
    to_imported_task,
)
from bench_assets.workspace.console.new_home import print_new_home
from bench_assets.workspace.evaluate.stored_evaluation import store_evaluation
from bench_resources.config.environment import IMPORTS_FILE, default_home
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.home_files import hold_file
from bench_resources.tables.parquet import TableFiles


def read_evaluations(
    file: Path, images: ImageStore, *, suite: str = "", model: str = ""
) -> list[Evaluation]:
    """Read results of another harness as evaluations; stores nothing but their images.

    By default, the suite is named by harness and task, and the model as in the file.

    Raises:
        SourceError: As ``read_external_results`` and ``imported_evaluation``.
        SettingsError: If ``suite`` is not a valid name of a suite, or names several tasks.
    """
    defects = name_defects(suite) if suite else []
    if defects:
        raise SettingsError(f"{suite!r}: {defects[0]}; choose another name")
    results = read_external_results(file, model)
    if suite and len(results) > 1:
        names = ", ".join(result.task for result in results)
        raise SettingsError(
            f"{file}: holds several tasks ({names}). Import one task's file, or omit the name"
        )
    try:
        return [_evaluation(result, images, suite, model) for result in results]
    except SourceError as error:
        raise SourceError(f"{file}: {error}") from error


def _evaluation(results: ExternalResults, images: ImageStore, suite: str, model: str) -> Evaluation:
    renamed = replace(results, model=model) if model else results

    def put_image(data: bytes) -> str:
        print_new_home(default_home())
        return images.put(data, f"an image of {results.task}").sha256

    return imported_evaluation(renamed, imported_task(results, suite), put_image)


def store_evaluations(
    home: Path, tables: TableFiles, catalog: Catalog, evaluations: Sequence[Evaluation]
) -> None:
    """Store imported evaluations in a home, for its leaderboard, report and audit.

    Raises:
        SettingsError: If two have the same task and model but other responses, or a task is named
            as another suite.
        SourceError: If a question differs from an earlier import of the task.
        HomeError: If the home cannot be written to.
    """
    first_evaluations: dict[tuple[str, str], Evaluation] = {}  # by task and model
    for evaluation in evaluations:
        task, model = evaluation.task.name, evaluation.model
        first = first_evaluations.setdefault((task, model), evaluation)
        if first.predictions != evaluation.predictions:
            raise SettingsError(
                f"{task}: two files have different responses of {model}. Import them one by one,"
                " under different names"
            )
    print_new_home(home)
    with hold_file(home, IMPORTS_FILE):
        imported_tasks = {imported.suite: imported for imported in read_imports(home)}
        for evaluation in evaluations:
            if evaluation.task.name in catalog.names and evaluation.task.name not in imported_tasks:
                raise SettingsError(
                    f"{evaluation.task.name}: is the name of a suite. Import under another name"
                )
        for evaluation in evaluations:
            store_evaluation(tables, evaluation)
            imported_tasks[evaluation.task.name] = to_imported_task(evaluation.task)
        with open_atomic(home / IMPORTS_FILE) as file:
            content = [asdict(imported) for imported in imported_tasks.values()]
            file.write(json.dumps(content, indent=1, ensure_ascii=False).encode())
