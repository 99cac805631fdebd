"""Writes the samples of every task into the report: questions, images, outcomes, responses."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
from bench_assets.report.site.folder import Site, combined_digest, slug
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
            omits_images = task.suite in self.without_images
            conditions = []
            for source, source_tables in (("", tables), *other_sources(task, tables)):
                conditions += _TaskSamples(
                    site=site,
                    tables=source_tables,
                    task=task,
                    omits_images=omits_images,
                    find_prompts=self.find_prompts,
                    source=source,
                ).write()
            if conditions:
                facts = {"task": task.name, "title": task.display_title, "chunk": page.CHUNK}
                site.put(f"samples-{slug(task.name)}", facts | {"conditions": conditions})
                if "samples" not in site.tabs:
                    site.tabs.append("samples")


class _TableQuestions(NamedTuple):
    about: dict[str, Any]  # data that the page loads first
    ids: pa.Array
    digest: str | None


@dataclass(frozen=True, slots=True)
class _TaskSamples:
    site: Site
    tables: TableFiles
    task: Task
    omits_images: bool
    find_prompts: FindPrompts
    source: str = ""  # name of another source; "": the present one
    questions: dict[tuple[str, ...], dict[str, Question]] = field(default_factory=dict)

    def write(self) -> list[dict[str, Any]]:
        """Write "main" and the evaluated conditions; returns their summaries, or their problems."""
        tables: dict[tuple[str, ...], _TableQuestions] = {}  # shared by conditions
        conditions = []
        for name, condition in self.task.conditions.items():
            key = tuple(questions_key(self.task, name))
            models = self._evaluated_models(name)
            if not self.tables.exists(key) or not (models or name == "main"):
                continue
            if key not in tables:
                tables[key] = self._write_questions(key)
            table_questions = tables[key]
            model_summaries, prompts = list[dict[str, str]](), ""
            if len(table_questions.ids):
                model_summaries = [
                    self._write_model(name, table_questions, model, model_tables)
                    for model, model_tables in models.items()
                ]
                prompts = self._write_prompts(name, table_questions, models)
            edition = table_questions.about.get("edition", "")
            display_name = ", ".join((name, edition, self.source)) if self.source else name
            conditions.append(
                {
                    "name": display_name,
                    "about": condition.about,
                    **table_questions.about,
                    "models": model_summaries,
                    "prompts": prompts,
                }
            )
        return conditions

    def _evaluated_models(self, condition: str) -> dict[str, TableFiles]:
        """Models with their tables; partial evaluations only of models without a full one."""
        key = evaluation_key(self.task, condition, "scores")
        models: dict[str, TableFiles] = {}
        if not self.source:
            partials = partial_tables(self.tables.home)
            models.update(dict.fromkeys(partials.known(key), partials))
        models.update(dict.fromkeys(self.tables.partitions(key), self.tables))
        return dict(sorted(models.items()))

    def _write_prompts(
        self, condition: str, table_questions: _TableQuestions, models: Mapping[str, TableFiles]
    ) -> str:
        """Write the prompts that models were sent; returns the name of the data."""
        base = self._condition_name(condition)
        key, sent = evaluation_key(self.task, condition, "predictions"), SentPrompts()
        models = {model: tables for model, tables in models.items() if tables.exists(key, model)}
        with suppress(TableError):  # reported with the model's responses
            digests = [tables.digest(key, model) for model, tables in models.items()]
            inputs = combined_digest(*map(str, (table_questions.digest, *digests)))
            if self._is_current(f"{base}-prompts-", inputs):
                return base
            numbers = {name: n for n, name in enumerate(table_questions.ids.to_pylist())}
            for model, tables in models.items():
                columns = read_columns(tables, key, Prediction, model, _PROMPT_COLUMNS)
                for name, prompt in _prompts_of_questions(columns):
                    if name in numbers:
                        sent.add(numbers[name], prompt)
            self._put_prompts(base, sent, inputs)
        return base

    def _put_prompts(self, base: str, sent: SentPrompts, inputs: str) -> None:
        for chunk in sent.chunks(self.find_prompts):
            images = [] if self.omits_images else chunk.images
            self.site.put(f"{base}-prompts-{chunk.number}", chunk.turns, inputs, images)

    def _write_questions(self, key: Sequence[str]) -> _TableQuestions:
        """Write questions and their images; returns their ids and summary, or the problem."""
        base = self._data_name("/".join(key))
        sample_list, edition = SampleList(), ""
        try:
            digest, ids = self.tables.digest(key), read_question_ids(self.tables, key)
            inputs = combined_digest(str(digest))
            has_texts = self._is_current(f"{base}-texts-", inputs)
            runs = read_by_question(self.tables, key, Question, "", _QUESTION_COLUMNS, ids, RUN)
            for run_index, columns in enumerate(runs):
                sample_list.add(columns)
                edition = columns["edition"][0]  # the same in all rows
                chunks = [] if has_texts else page.texts(columns)
                for number, chunk in enumerate(chunks, run_index * RUN // page.CHUNK):
                    self.site.put(f"{base}-texts-{number}", chunk, inputs)
        except TableError as error:
            problem = {"problem": escape_to_one_line(str(error)), "n": 0}
            return _TableQuestions(about=problem, ids=pa.array([]), digest=None)
        images = self._write_images(list(sample_list.images))
        data = sample_list.data() | {"images": images}
        image_digests = [] if self.omits_images else sample_list.images
        self.site.put(f"{base}-questions", data, images=image_digests)
        thumbnails = (image[1] for image in images if isinstance(image, list))  # [full, small]
        about: dict[str, Any] = {
            "questions": base,
            "n": len(ids),
            "edition": edition,
            "thumbnail": next(thumbnails, ""),
        }
        if self.omits_images:
            about["withheld"] = True
        return _TableQuestions(about=about, ids=ids, digest=digest)

    def _write_images(self, digests: Sequence[str]) -> list[Any]:
        """Write images; returns the paths of each, or the reason why it is missing."""
        if self.omits_images:
            return ["left out of this report"] * len(digests)
        return [
            list(image) if image else escape_to_one_line(self.site.missing_reason(digest))
            for digest, image in self.site.images(digests).items()
        ]

    def _write_model(
        self, condition: str, table_questions: _TableQuestions, model: str, tables: TableFiles
    ) -> dict[str, str]:
        """Write a model's responses; returns its name and data, with a problem if there is one."""
        base = f"{self._condition_name(condition)}-{slug(model)}"
        summary = {"name": model, "slug": slug(model), "data": base}
        names = ("predictions", "scores", "judgements")
        keys = [evaluation_key(self.task, condition, name) for name in names]
        try:
            digests = [tables.digest(key, model) for key in keys]
            inputs = combined_digest(*map(str, (table_questions.digest, *digests)))
            if not self._is_current(f"{base}-", inputs):
                self._put_model(condition, model, tables, table_questions.ids, inputs)
            is_whole = tables is self.tables
            if is_whole and self._has_other_questions(condition, model, table_questions.digest):
                summary["problem"] = "Evaluated on other questions. Evaluate it again."
        except TableError as error:
            summary["problem"] = escape_to_one_line(str(error))
        return summary

    def _has_other_questions(self, condition: str, model: str, digest: str | None) -> bool:
        """Whether a model was evaluated on questions other than the present ones."""
        key = evaluation_key(self.task, condition, "metrics")
        if not digest or not self.tables.exists(key, model):
            return False
        measured = self.tables.read(key, Metric, model)
        return bool(measured) and measured[0].questions != short_digest(digest)

    def _put_model(
        self, condition: str, model: str, tables: TableFiles, ids: pa.Array, inputs: str
    ) -> None:
        """Write the responses, a run of questions at a time; then outcomes and judge prompts."""

        def read(table: str, row_type: type[Any], names: Sequence[str]) -> Iterator[Columns]:
            key = evaluation_key(self.task, condition, table)
            return read_by_question(tables, key, row_type, model, names, ids, RUN)

        base = f"{self._condition_name(condition)}-{slug(model)}"
        condition_outcomes, sent = list[Outcomes](), SentPrompts()
        find_span = self._find_span(condition)
        judgement_runs: Iterator[Columns | None] = repeat(None)
        if tables.exists(evaluation_key(self.task, condition, "judgements"), model):
            judgement_runs = read("judgements", Judgement, responses.JUDGEMENT)
        runs = zip(
            range(0, len(ids), RUN),
            read("predictions", Prediction, responses.PREDICTION),
            read("scores", Score, responses.SCORE),
            judgement_runs,
            strict=False,  # without a judge, the last one has no end
        )
        for begin, predictions, scores, judgements in runs:
            names = ids.slice(begin, RUN).to_pylist()
            rows = {name: row for row, name in enumerate(names)}
            samples = samples_of(rows, scores, responses.finish_reasons(predictions))
            condition_outcomes.append(outcomes(len(names), samples))
            for response in responses.responses(
                names, predictions, scores, judgements, begin, find_span
            ):
                self.site.put(f"{base}-{response.name}", response.value, inputs)
            if judgements:
                for name, prompt in _prompts_of_questions(judgements):
                    sent.add(begin + rows[name], prompt)
        self.site.put(f"{base}-points", joined_outcomes(condition_outcomes)._asdict(), inputs)
        self._put_prompts(base, sent, inputs)

    def _find_span(self, condition: str) -> FindSpan:
        """Make a function that finds the evidence of an answer, if the task reads its responses."""
        if not self.task.is_read:
            return lambda *_: None
        key = tuple(questions_key(self.task, condition))
        if key not in self.questions:
            rows = self.tables.read(key, Question)
            self.questions[key] = {row.question_id: row for row in rows}
        questions = self.questions[key]
        return lambda name, text, decoding, answer: find_evidence(
            self.task, questions[name], text, decoding, answer
        )

    def _condition_name(self, condition: str) -> str:
        return self._data_name(f"{self.task.name} {condition}")

    def _data_name(self, name: str) -> str:
        """Name of data, which differs between sources."""
        unique_name = f"{name} {self.source}" if self.source else name
        return f"samples-{slug(unique_name)}"

    def _is_current(self, prefix: str, inputs: str) -> bool:
        """Whether there are data with a prefix, and all are up to date."""
        names = self.site.names(prefix)
        return bool(names) and all([self.site.has(name, inputs) for name in names])


_PROMPT_COLUMNS = ("question_id", "prompt_sha256")
_QUESTION_COLUMNS = (
    *("question_id", "kind", "text", "context", "options", "answer", "images", "image_texts"),
    *("category", "group_id", "labels", "edition"),
)


def _prompts_of_questions(columns: Columns) -> Iterator[tuple[str, str | None]]:
    return zip(columns["question_id"], columns["prompt_sha256"], strict=True)
