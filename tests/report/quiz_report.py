"""The report of the quiz's samples, from tables that a test writes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.core.schema.training_runs import parse_step
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Task
from bench_assets.report.building import write_report
from bench_assets.report.samples.writer import Samples
from bench_assets.report.site.folder import Site, slug
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.audit.test_report_page import data
from tests.fakes.quiz import TASK


def catalog_of(task: Task) -> Catalog:
    return Catalog(suites=(Suite(name="quiz", tasks=(task,), assets=tuple),))


class IndexNames:
    """The part of the index that the page of samples reads: a task, and models with their steps."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the names of the task and of the models that have scores."""
        steps = {name: parse_step(name) for name in tables.partitions(["quiz", "scores"])}
        models = [
            {"name": name, "run": step.run if step else None, "step": step.step if step else None}
            for name, step in steps.items()
        ]
        task = {"name": "quiz", "slug": slug("quiz"), "title": "a quiz"}
        site.put("index", {"tasks": [task], "models": models, "rows": {}, "standings": []})


class QuizReport:
    """A home of the quiz, and the data of its report."""

    def __init__(self, folder: Path, task: Task = TASK) -> None:
        self.task = task
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.images = ImageStore(folder=str(folder / "images"))
        self.folder = folder / "report"

    def write_questions(self, *questions: Question) -> None:
        self.tables.write(["quiz", "questions"], questions, Question)

    def write_responses(
        self,
        *responses: Prediction,
        points: float | None = 1.0,
        scorer: str = "",
        **score_fields: Any,
    ) -> None:
        """Write responses of one model, and scores that differ in nothing but the question."""
        scores = [
            replace(Score.of(response, points=points, **score_fields), scorer=scorer)
            for response in responses
        ]
        self._write_tables(responses, scores)

    def write_scored_responses(self, responses, points, answers):
        """Write responses of one model, each with its own points and answer."""
        scores = [
            Score.of(response, points=gained, answer=answer)
            for response, gained, answer in zip(responses, points, answers, strict=True)
        ]
        self._write_tables(responses, scores)

    def _write_tables(self, responses: Sequence[Prediction], scores: Sequence[Score]) -> None:
        model = responses[0].model
        self.tables.write(["quiz", "predictions"], responses, Prediction, model)
        self.tables.write(["quiz", "scores"], scores, Score, model)

    def build(self, **sample_options: Any) -> Path:
        """Build the report of the samples alone; return its page."""
        site = Site(self.folder, self.images)
        samples = Samples(**sample_options)
        write_report(site, self.tables, catalog_of(self.task), [IndexNames(), samples])
        return self.folder / "index.html"

    def data_files(self) -> dict[str, Path]:
        """The data files of samples, by the names under which the page loads them."""
        files = (self.folder / "data").glob("samples-*.js")
        return {file.name.split(".")[0]: file for file in files}

    def read_data(self, name: str) -> Any:
        return data(self.folder.parent, name)
