"""A home in which a small benchmark was measured without Dagster, and bundles of it."""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench_assets.bundles.archive import ArchiveFile, pack
from bench_assets.bundles.contents import MANIFEST_NAME, FileFacts, read_manifest
from bench_assets.bundles.packing import BundleOptions, PackedBundle, pack_number
from bench_assets.bundles.rescoring import stored_runner
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import format_judge_setup
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.readers import ask_reader, unread_responses
from bench_assets.evaluation.runner import Runner, StoredResponses, StoredVerdicts
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Evaluation
from bench_assets.file_benchmarks.suite import task_of
from bench_assets.workspace.inspect.table_collection import TableCollection, TableFilter
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.rows import question
from tests.fakes.written_images import plain_png

SECTION = {"file": "/somebody/shelf.jsonl", "title": "A shelf", "slices": ["level"]}
BENCHMARK = FileBenchmarkSettings.model_validate(SECTION)
TASK = task_of("shelf", BENCHMARK, "bench.toml, [benchmarks.shelf]")
SUITE = Suite(name="shelf", tasks=(TASK,), assets=tuple)
IMAGE = plain_png("green")
RESPONSES = ("A", "B", "Answer: B.", "no idea")  # right, wrong, right, wrong


def shelf_questions(images: Sequence[str] = ()) -> list[Question]:
    """Four choices, two of them about an image."""
    return [
        question(
            question_id=f"shelf/{n}",
            task="shelf",
            kind="choice",
            text=f"Which of the {n}?\u2028 \u202e",
            options=("left", "right"),
            answer=(right,),
            images=tuple(images) if n < 2 else (),
            labels={"level": "hard" if n % 2 else "easy", "author": "Ö"},
        )
        for n, right in enumerate("AABA")
    ]


class SequenceModel:
    """A model that gives its responses one after the other."""

    def __init__(self, responses=RESPONSES, name="somebody", signature="sha256:0123|t=0,max=40"):
        self._responses = responses
        self.name = name
        self.signature = signature

    def response(self, requests: Sequence[Request]) -> list[Response]:
        return [Response(text=text) for _, text in zip(requests, self._responses, strict=True)]


class AlwaysAReader:
    """A reader model that finds answer A in every response."""

    name, signature = "judge", "sha256:0123|t=0,max=40"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        return [Response(text="A") for _ in requests]


def judge(questions, predictions, reader):
    """Judge by rules or, if there is a reader, the unread responses by the reader."""
    if reader is None:
        rows = list(pipeline.judge(TASK, questions, predictions, model=None))
        setup = format_judge_setup("rules", setup="")
    else:
        rows = ask_reader(unread_responses(TASK, questions, predictions), reader, "reader:judge")
        setup = format_judge_setup("reader", "0c")
    return [replace(row, setup=setup) for row in rows]


def measure(home, model=None, reader=None):
    """Write the tables of one evaluation, as the graph would; without a reader, rules judge it."""
    model = model or SequenceModel()
    images = ImageStore(folder=str(home / "images"))
    questions = shelf_questions([images.put(IMAGE, "a.png").sha256])
    predictions = pipeline.predict(TASK, questions, model)
    judgements = judge(questions, predictions, reader)
    evaluation = Runner(
        task=TASK, responses=StoredResponses(predictions), judge=StoredVerdicts(judgements)
    ).run(questions)
    tables = TableFiles(folder=str(home / "tables"))
    tables.write(["shelf", "questions"], questions, Question)
    tables.write(["shelf", "predictions"], predictions, Prediction, model.name)
    tables.write(["shelf", "judgements"], judgements, Judgement, model.name)
    tables.write(["shelf", "scores"], evaluation.scores, Score, model.name)
    tables.write(["shelf", "metrics"], evaluation.metrics, Metric, model.name)
    return tables


def rescore(task, questions, predictions, judgements=()):
    """Score stored responses and judgements again."""
    stored = Evaluation(
        task=task,
        model="somebody",
        condition="main",
        questions=questions,
        predictions=predictions,
        judgements=judgements,
        scores=[],
        metrics=[],
    )
    return stored_runner(task, stored, scorer="").run(questions)


def pack_bundle(home: Path, target: Path, **options: Any) -> PackedBundle:
    tables = TableFiles(folder=str(home / "tables"))
    (evaluation,) = TableCollection(tables, TableFilter([TASK])).evaluations()
    defaults = {
        "suite": SUITE,
        "benchmark": BENCHMARK,
        "image_store": ImageStore(folder=str(home / "images")),
        "find_prompt": lambda sha256: None,
        "passed_on": True,
        "images": True,
    }
    return pack_number(evaluation, BundleOptions(**{**defaults, **options}), target)


def read_bundle(bundle: Path) -> dict[str, bytes]:
    """Read the contents of all files of a bundle, by name."""
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_bundle(bundle: Path, files: dict[str, bytes], *, checksummed: bool = False) -> Path:
    """Write the files of a bundle; with ``checksummed`` the manifest gets their digests."""
    if checksummed:
        manifest = read_manifest(read_bundle(bundle)[MANIFEST_NAME], "before")
        facts = {
            name: FileFacts(sha256=sha256(data).hexdigest(), n_bytes=len(data))
            for name, data in files.items()
            if name != MANIFEST_NAME
        }
        manifest = manifest.model_copy(update={"files": facts}).checksummed()
        files = {**files, MANIFEST_NAME: manifest.to_bytes()}
    pack([ArchiveFile(name, partial(bytes, data)) for name, data in files.items()], bundle)
    return bundle


def edit_first_line(files: dict[str, bytes], name: str, fields: dict[str, Any]) -> dict[str, bytes]:
    """Change fields of the first row of a table."""
    first, *other_lines = files[name].splitlines(keepends=True)
    row = json.loads(first) | fields
    changed = json.dumps(row, separators=(",", ":")).encode() + b"\n"
    return {**files, name: b"".join([changed, *other_lines])}
