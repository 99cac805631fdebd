"""Writes the samples of every task into the report: questions, images, outcomes, responses."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import repeat
from typing import Any, NamedTuple

import pyarrow as pa

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.evaluation.evidence import find_evidence
from bench_assets.evaluation.task import Task
from bench_assets.report.samples import questions as page
from bench_assets.report.samples import responses
from bench_assets.report.samples.questions import (
    RUN,
    Columns,
    Outcomes,
    SampleList,
    joined_outcomes,
    outcomes,
    samples_of,
)
from bench_assets.report.samples.responses import FindPrompts, FindSpan, SentPrompts
from bench_assets.report.site.folder import Site, slug
from bench_assets.report.site.other_sources import other_sources
from bench_resources.tables.parquet import (
    TableFiles,
    read_by_question,
    read_columns,
    read_question_ids,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Writes ``samples-<task>``, with questions, images, prompts and responses."""

    without_images: Collection[str] = ()
    """Suites whose images stay out of the report."""
    find_prompts: FindPrompts = lambda _: {}

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the samples of every task that has questions."""
        for task in catalog.tasks:
            withheld = task.suite in self.without_images
            conditions = _TaskSamples(site, tables, task, withheld, self.find_prompts).write()
            for source, other_source in other_sources(task, tables):
                conditions += _TaskSamples(
                    site, other_source, task, withheld, self.find_prompts, source
                ).write()
            if conditions:
                entry = {"task": task.name, "title": task.display_title, "chunk": page.CHUNK}
                site.put(f"samples-{slug(task.name)}", entry | {"conditions": conditions})
                site.tabs += ["samples"] * ("samples" not in site.tabs)


class _TableQuestions(NamedTuple):
    """The questions of one table."""

    about: dict[str, Any]  # data that the page loads first
    ids: pa.Array
    digest: str | None


@dataclass(frozen=True, slots=True)
class _TaskSamples:
    """Writer of the samples of one task."""

    site: Site
    tables: TableFiles
    task: Task
    withheld: bool  # whether images are left out
    find_prompts: FindPrompts
    place: str = ""  # name of another source; "": the present one
    questions: dict[tuple[str, ...], dict[str, Question]] = field(default_factory=dict)

    def write(self) -> list[dict[str, Any]]:
        """Write every condition with questions, and return them; unreadable ones with a reason."""
        tables: dict[tuple[str, ...], _TableQuestions] = {}  # shared by conditions
        conditions = []
        for name, condition in self.task.conditions.items():
            key = tuple(questions_key(self.task, name))
            models = self._evaluated(name)
            if not self.tables.exists(key) or not (models or name == "main"):
                continue
            table_questions = tables[key] = tables.get(key) or self._questions(key)
            model_entries = [
                self._model(name, table_questions, *model)
                for model in models.items()
                if len(table_questions.ids)
            ]
            prompts = (
                self._prompts(name, table_questions, models) if len(table_questions.ids) else ""
            )
            edition = table_questions.about.get("edition", "")
            display_name = ", ".join((name, edition, self.place)) if self.place else name
            conditions.append(
                {
                    **{"name": display_name, "about": condition.about, **table_questions.about},
                    **{"models": model_entries, "prompts": prompts},
                }
            )
        return conditions

    def _evaluated(self, condition: str) -> dict[str, TableFiles]:
        """Models with their tables; partial evaluations only of models without a full one."""
        key, partials = (
            evaluation_key(self.task, condition, "scores"),
            partial_tables(self.tables.home),
        )
        part = {} if self.place else dict.fromkeys(partials.known(key), partials)
        return dict(
            sorted({**part, **dict.fromkeys(self.tables.partitions(key), self.tables)}.items())
        )

    def _prompts(
        self, condition: str, table_questions: _TableQuestions, models: Mapping[str, TableFiles]
    ) -> str:
        """Write the prompts that models were sent, each once; returns the name of the data."""
        base = f"samples-{slug(self._placed(f'{self.task.name} {condition}'))}"
        key, sent = evaluation_key(self.task, condition, "predictions"), SentPrompts()
        read = [(tables, model) for model, tables in models.items() if tables.exists(key, model)]
        with suppress(TableError):  # reported with the model's responses
            made_of = _code_digest(
                table_questions.digest, *(tables.digest(key, model) for tables, model in read)
            )
            if self._is_current(f"{base}-prompts-", made_of):
                return base
            numbers = {name: n for n, name in enumerate(table_questions.ids.to_pylist())}
            for tables, model in read:
                columns = read_columns(tables, key, Prediction, model, _SENT)
                for name, prompt in zip(*columns.values(), strict=True):
                    if name in numbers:
                        sent.add(numbers[name], prompt)
            self._put_prompts(base, sent, made_of)
        return base

    def _put_prompts(self, base: str, sent: SentPrompts, made_of: str) -> None:
        for chunk in sent.chunks(self.find_prompts):
            images = [] if self.withheld else chunk.images
            self.site.put(f"{base}-prompts-{chunk.number}", chunk.turns, made_of, images)

    def _questions(self, key: Sequence[str]) -> _TableQuestions:
        """Write questions and their images."""
        base = f"samples-{slug(self._placed('/'.join(key)))}"
        listed, editions = SampleList(), list[str]()
        try:
            digest, ids = self.tables.digest(key), read_question_ids(self.tables, key)
            stays = self._is_current(f"{base}-texts-", made_of := _code_digest(digest))
            runs = read_by_question(self.tables, key, Question, "", _QUESTION_COLUMNS, ids, RUN)
            for n, columns in enumerate(runs):
                listed.add(columns)
                editions = editions or columns["edition"][:1]
                for number, chunk in enumerate([] if stays else page.texts(columns)):
                    self.site.put(f"{base}-texts-{n * RUN // page.CHUNK + number}", chunk, made_of)
        except TableError as error:
            return _TableQuestions(
                {"problem": escape_to_one_line(str(error)), "n": 0}, pa.array([]), None
            )
        images = self._images(list(listed.images))
        image_digests = [] if self.withheld else listed.images
        self.site.put(f"{base}-questions", listed.data() | {"images": images}, images=image_digests)
        entry = {"questions": base, "n": len(ids), "edition": "".join(editions)}
        entry["thumbnail"] = next((image[1] for image in images if isinstance(image, list)), "")
        return _TableQuestions(entry | ({"withheld": True} if self.withheld else {}), ids, digest)

    def _images(self, digests: Sequence[str]) -> list[Any]:
        """Write images; returns the path of each, or the reason why it is missing."""
        if self.withheld:
            return ["left out of this report"] * len(digests)
        stored = self.site.images(digests)
        return [
            list(image)
            if (image := stored[digest])
            else escape_to_one_line(self.site.why_not(digest))
            for digest in digests
        ]

    def _model(
        self, condition: str, table_questions: _TableQuestions, model: str, tables: TableFiles
    ) -> dict[str, str]:
        """Write a model's responses; if its tables cannot be read, the reason."""
        base = f"samples-{slug(self._placed(f'{self.task.name} {condition}'))}-{slug(model)}"
        entry = {"name": model, "slug": slug(model), "data": base}
        keys = {
            table: evaluation_key(self.task, condition, table)
            for table in ("predictions", "scores", "judgements")
        }
        try:
            digests = [tables.digest(key, model) for key in keys.values()]
            made_of = _code_digest(table_questions.digest, *digests)
            if not self._is_current(f"{base}-", made_of):
                self._put_model(
                    condition, base, made_of, table_questions.ids, (model, tables), keys
                )
            if tables is self.tables and self._has_other_questions(
                condition, model, table_questions.digest
            ):
                entry["problem"] = "Evaluated on other questions. Evaluate it again."
        except TableError as error:
            entry["problem"] = escape_to_one_line(str(error))
        return entry

    def _has_other_questions(self, condition: str, model: str, digest: str | None) -> bool:
        """Whether a model was evaluated on questions other than the present ones."""
        key = evaluation_key(self.task, condition, "metrics")
        if not digest or not self.tables.exists(key, model):
            return False
        measured = self.tables.read(key, Metric, model)
        return bool(measured) and measured[0].questions != short_digest(digest)

    def _put_model(
        self,
        condition: str,
        base: str,
        made_of: str,
        ids: pa.Array,
        of: tuple[str, TableFiles],
        keys: dict[str, list[str]],
    ) -> None:
        """Write the responses, a run of questions at a time, then all outcomes."""
        (model, tables), condition_outcomes, sent = of, list[Outcomes](), SentPrompts()

        def read(table: str, row_type: type[Any], names: Sequence[str]) -> Iterator[Columns]:
            return read_by_question(tables, keys[table], row_type, model, names, ids, RUN)

        judged = tables.exists(keys["judgements"], model)
        find_span = self._find_span(condition)
        verdicts = read("judgements", Judgement, responses.JUDGEMENT) if judged else repeat(None)
        predictions = read("predictions", Prediction, responses.PREDICTION)
        scores = read("scores", Score, responses.SCORE)
        runs = zip(range(0, len(ids), RUN), predictions, scores, verdicts, strict=False)
        for begin, responded, scored, judgements in runs:
            names = ids.slice(begin, RUN).to_pylist()
            rows = {name: row for row, name in enumerate(names)}
            samples = samples_of(rows, scored, responses.finish_reasons(responded))
            condition_outcomes.append(outcomes(len(names), samples))
            written = responses.responses(names, responded, scored, judgements, begin, find_span)
            for response in written:
                self.site.put(f"{base}-{response.name}", response.value, made_of)
            if judgements:
                for name, prompt in zip(*(judgements[name] for name in _SENT), strict=True):
                    sent.add(begin + rows[name], prompt)
        self.site.put(f"{base}-points", joined_outcomes(condition_outcomes)._asdict(), made_of)
        self._put_prompts(base, sent, made_of)

    def _find_span(self, condition: str) -> FindSpan:
        """A function that finds the evidence of an answer; of tasks whose answers have a form."""
        if not self.task.is_read:
            return lambda *_: None
        key = tuple(questions_key(self.task, condition))
        if key not in self.questions:
            rows = self.tables.read(key, Question)
            self.questions[key] = {row.question_id: row for row in rows}
        of_id = self.questions[key]
        return lambda name, text, decoding, stored: find_evidence(
            self.task, of_id[name], text, decoding, stored
        )

    def _placed(self, name: str) -> str:
        """Add the name of another source to a name of data."""
        return f"{name} {self.place}" if self.place else name

    def _is_current(self, prefix: str, made_of: str) -> bool:
        """Whether there are data with a prefix, and all are up to date."""
        names = self.site.names(prefix)
        return bool(names) and all([self.site.has(name, made_of) for name in names])


_SENT = ("question_id", "prompt_sha256")
_QUESTION_COLUMNS = (
    *("question_id", "kind", "text", "context", "options", "answer", "images", "image_texts"),
    *("category", "group_id", "labels", "edition"),
)


def _code_digest(*digests: str | None) -> str:
    return sha256("\n".join(map(str, digests)).encode()).hexdigest()
