import inspect

import pytest

from bench_assets.annotation.tasks import SuiteAnnotationTask
from bench_assets.catalog import load_catalog

TASKS = [task for suite in load_catalog().suites for task in suite.every_annotation_task]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.task.name)
def test_a_task_reads_the_tables_that_its_units_are_built_from(task: SuiteAnnotationTask) -> None:
    inspect.signature(task.units).bind(**dict.fromkeys(task.reads))
