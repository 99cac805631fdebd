"""The report of the samples of the quiz, of tables made by hand."""

import json
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
from tests.fakes.quiz import TASK


def catalog_of(task: Task) -> Catalog:
    """A catalog of one suite with one task."""
    return Catalog(suites=(Suite(name="quiz", tasks=(task,), assets=tuple),))


class Names:
    """As much of the index as the page of samples asks for: a task, and models with their steps."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Put the names."""
        steps = {name: parse_step(name) for name in tables.partitions(["quiz", "scores"])}
        models = [
            {"name": name, "run": step and step.run, "step": step and step.step}
            for name, step in steps.items()
        ]
        task = {"name": "quiz", "slug": slug("quiz"), "title": "a quiz"}
        site.put("index", {"tasks": [task], "models": models, "rows": {}, "standings": []})


def make_samples(
    folder: Path, tables: TableFiles, image_store: ImageStore, task: Task = TASK, **chosen: Any
) -> Path:
    """Make a report of the samples alone; give its page."""
    site = Site(folder, image_store)
    write_report(site, tables, catalog_of(task), [Names(), Samples(**chosen)])
    return folder / "index.html"


class QuizReport:
    """A home of the quiz, and the data of its report."""

    def __init__(self, folder: Path, task: Task = TASK) -> None:
        self.task = task
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.images = ImageStore(folder=str(folder / "images"))
        self.folder = folder / "report"

    def ask(self, *questions: Question) -> None:
        self.tables.write(["quiz", "questions"], questions, Question)

    def say(
        self,
        *responses: Prediction,
        points: float | None = 1.0,
        scorer: str = "",
        **scored: Any,
    ) -> None:
        model = responses[0].model
        self.tables.write(["quiz", "predictions"], responses, Prediction, model)
        plain = [Score.of(one, points=points, **scored) for one in responses]
        scores = [replace(score, scorer=scorer) for score in plain]
        self.tables.write(["quiz", "scores"], scores, Score, model)

    def say_each(
        self,
        responses: Sequence[Prediction],
        points: Sequence[float],
        read: Sequence[tuple[str, ...]],
    ) -> None:
        model = responses[0].model
        self.tables.write(["quiz", "predictions"], responses, Prediction, model)
        scores = [
            Score.of(one, points=gained, answer=answer)
            for one, gained, answer in zip(responses, points, read, strict=True)
        ]
        self.tables.write(["quiz", "scores"], scores, Score, model)

    def make(self, **chosen: Any) -> Path:
        return make_samples(self.folder, self.tables, self.images, self.task, **chosen)

    def files(self) -> dict[str, Path]:
        found = (self.folder / "data").glob("samples-*.js")
        return {file.name.split(".")[0]: file for file in found}

    def data(self, name: str) -> Any:
        script = self.files()[name].read_text(encoding="utf-8")
        return json.loads(script.removeprefix(f'Bench.put("{name}",').removesuffix(");\n"))
