"""A home with many samples, which are written as columns, since rows would take minutes."""

from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from PIL import Image

from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import arrow_schema
from bench_assets.report.building import ReportPart, write_report
from bench_assets.report.pages.comparison import ComparisonPage
from bench_assets.report.pages.numbers import NumberPages
from bench_assets.report.point_provenance import PointProvenance
from bench_assets.report.samples.writer import Samples
from bench_assets.report.site.folder import Site
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.file_bytes import DIGEST, TABLE_NAME_KEY, table_name, write_groups
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK
from tests.fakes.rows import metric
from tests.fakes.written_images import saved
from tests.report.quiz_report import IndexNames, catalog_of

_WORDS = ("left", "cow", "blue", "behind", "the", "kite", "seven", "river", "glass", "under")
_LETTERS = "ABCD"


def make_report(home: Path) -> Path:
    """Build the parts of the report that show each sample; return its first page."""
    tables = TableFiles(folder=str(home / "tables"))
    site = Site(home / "report", ImageStore(folder=str(home / "images")))
    parts: list[ReportPart] = [
        IndexNames(),
        Samples(),
        NumberPages(settings=Settings(home=home)),
        ComparisonPage(),
        PointProvenance(),
    ]
    write_report(site, tables, catalog_of(TASK), parts)
    return site.folder / "index.html"


class ManySamples:
    """Tables of the task of ``tests.fakes.quiz`` with questions and models of any number."""

    def __init__(self, folder: Path, n_questions: int, n_images: int = 0) -> None:
        """Write the questions, of four options each."""
        self._rng = Random(0)
        self.n = n_questions
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.images = ImageStore(folder=str(folder / "images"))
        self.home = folder
        self.ids = [f"quiz/{number}" for number in range(self.n)]
        images = [self._store_image(number) for number in range(n_images)]
        self._gold = [(self._rng.choice(_LETTERS),) for _ in self.ids]
        self._write_columns(
            ("quiz", "questions"),
            Question,
            question_id=self.ids,
            task=["quiz"] * self.n,
            edition=["mini"] * self.n,
            kind=["choice"] * self.n,
            text=[f"What is {number}? {self._words(30)}" for number in range(self.n)],
            answer=self._gold,
            options=[("one", "two", "three", "four")] * self.n,
            images=[(images[n % n_images],) if images else () for n in range(self.n)],
            category=[f"kind {number % 14}" for number in range(self.n)],
            labels=[[("level", f"level {number % 5}")] for number in range(self.n)],
        )

    def add_model(self, model: str) -> None:
        """Write a model's responses, right by chance, of which a tenth are cut short."""
        letters = [self._rng.choice(_LETTERS) for _ in self.ids]
        shared_columns: dict[str, Sequence[Any]] = {
            "question_id": self.ids,
            "model": [model] * self.n,
            "condition": ["main"] * self.n,
        }
        texts = [f"It is ({letter}), because {self._words(30)}" for letter in letters]
        finish_reasons = ["length" if self._rng.random() < 0.1 else "stop" for _ in self.ids]
        self._write_columns(
            ("quiz", "predictions"),
            Prediction,
            model,
            **shared_columns,
            text=texts,
            finish_reason=finish_reasons,
        )
        points = [
            float((letter,) == gold) for letter, gold in zip(letters, self._gold, strict=True)
        ]
        answers = [(letter,) for letter in letters]
        self._write_columns(
            ("quiz", "scores"), Score, model, **shared_columns, points=points, answer=answers
        )
        self.tables.write(["quiz", "metrics"], [self._metric(model, points)], Metric, model)

    def _metric(self, model: str, points: Sequence[float]) -> Metric:
        data = short_digest(self.tables.digest(["quiz", "questions"]) or "")
        return metric(
            model, sum(points) / self.n, task="quiz", low=0.0, high=1.0, n_scored=self.n,
            data=data, signature=f"quiz|v1|main|data:{data}",
        )  # fmt: skip

    def _write_columns(
        self,
        key: Sequence[str],
        row_type: type[Any],
        partition: str = "",
        **given_columns: Sequence[Any],
    ) -> None:
        """Write a table; columns that are not given have the defaults of the row type."""
        schema = arrow_schema(row_type)
        columns = []
        for field in fields(row_type):
            default = () if field.default is MISSING else field.default
            values = given_columns.get(field.name, [default] * self.n)
            columns.append(pa.array(values, type=schema.field(field.name).type))
        table = pa.Table.from_arrays(columns, schema=schema)
        metadata = {DIGEST: str(self._rng.random()), TABLE_NAME_KEY: table_name(key, partition)}
        path = self.tables.path(key, partition)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w+b") as file:
            write_groups([table], table.schema.with_metadata(metadata), file)

    def _store_image(self, number: int) -> str:
        """Store a noisy JPEG of 640 x 480 px, different for each number; return its digest."""
        noise = Image.effect_noise((20, 15), 60 + number % 40).resize((640, 480))
        tinted = Image.merge("RGB", (noise, noise.point(lambda v: v + number % 90), noise))
        jpeg = saved(tinted, "JPEG", quality=85, comment=str(number).encode())
        return self.images.put(jpeg, str(number)).sha256

    def _words(self, n: int) -> str:
        return " ".join(self._rng.choices(_WORDS, k=n))
