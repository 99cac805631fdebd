import shutil
from pathlib import Path

import pytest

from bench_assets.comparison.sides import find_evaluations
from bench_assets.core.schema.errors import TableError, UnknownNameError
from bench_assets.core.schema.rows import Metric, Question
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric

KEY = ("quiz", "metrics")


def signed_metric(model: str) -> Metric:
    signature = f"quiz|v1|main|data:0c|model:{model}|t=0|judge:none|scorer:exact|n:3"
    return metric(model, 1.0, task="quiz", signature=signature)


@pytest.fixture
def tables(tmp_path: Path) -> TableFiles:
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], quiz(3), Question)
    for model in ("a", "a/b+likelihood"):
        tables.write(KEY, [signed_metric(model)], Metric, model)
    return tables


def test_a_file_of_metrics_is_of_the_model_that_its_name_spells(tables: TableFiles) -> None:
    file = str(tables.path(KEY, "a/b+likelihood"))
    (evaluation,) = find_evaluations(file, tables, [TASK])
    assert evaluation.model == "a/b+likelihood"


def test_a_copy_under_a_name_that_no_model_has_is_an_error(tables: TableFiles) -> None:
    copy = tables.path(KEY, "a").with_name("a (1).parquet")
    shutil.copy(tables.path(KEY, "a"), copy)
    with pytest.raises(TableError, match=r"a \(1\)\.parquet: expected the name of a model's table"):
        find_evaluations(str(copy), tables, [TASK])


def test_an_unknown_condition_of_a_model_is_named(tables: TableFiles) -> None:
    with pytest.raises(UnknownNameError, match="no condition named 'mian'"):
        find_evaluations("a", tables, [TASK], condition="mian")
