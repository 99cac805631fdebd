from dataclasses import replace

from bench_assets.asset_factory.evaluation_tables import describe_questions
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import short_digest
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric

WITH_CHANCE = replace(TASK, measures={**TASK.measures, "chance": TASK.measures["accuracy"]})


def test_chance_is_that_of_the_present_questions(tmp_path):
    tables = TableFiles(folder=str(tmp_path))
    tables.write(["quiz", "questions"], quiz(3), Question)
    data = short_digest(str(tables.digest(["quiz", "questions"])))
    signature = f"quiz|v1|main|data:{data}|model:now|n:3"
    current = metric("now", 0.25, task="quiz", metric="chance", signature=signature)
    stale_signature = "quiz|v1|main|data:0c|model:stale|n:2"
    stale = replace(current, model="stale", value=0.5, signature=stale_signature)
    tables.write(["quiz", "metrics"], [current], Metric, "now")
    tables.write(["quiz", "metrics"], [stale], Metric, "stale")
    assert describe_questions(tables, WITH_CHANCE).chance == 0.25

    tables.write(["quiz", "questions"], quiz(2), Question)
    assert describe_questions(tables, WITH_CHANCE).chance is None
