"""Verifies bundles and rescores them, offline and without a home."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench_assets.bundles.archive import Archive
from bench_assets.bundles.contents import (
    MANIFEST_NAME,
    TABLES,
    Contents,
    Manifest,
    PromptText,
    image_file,
    read_contents,
    read_manifest,
    table_file,
)
from bench_assets.bundles.rescoring import Divergence, find_divergences, stored_runner
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import SourceError
from bench_assets.evaluation.task import Evaluation, Task
from bench_assets.file_benchmarks.suite import task_of
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.response_cache.rows import matches_digest

_MAX_MANIFEST_BYTES = 2**26  # bytes of a manifest, at most


class Bundle(NamedTuple):
    """An intact bundle."""

    path: Path
    manifest: Manifest
    contents: Contents


class VerifiedBundle(NamedTuple):
    """A bundle with its rescored results, and their differences from the stated ones."""

    bundle: Bundle
    evaluation: Evaluation
    divergences: list[Divergence]


class NotReproducibleError(SourceError):
    """A number cannot be reproduced here; says what is missing and how to get it."""


def open_bundle(path: Path) -> Bundle:
    """Read a bundle, and verify all of its files.

    Raises:
        SourceError: If it is not a bundle, was changed, or is truncated; names the file and entry.
    """
    with Archive.open(path) as archive:
        manifest = read_manifest(
            archive.read(MANIFEST_NAME, _MAX_MANIFEST_BYTES), f"{path}, {MANIFEST_NAME}"
        )
        _require_files(archive, manifest)
        contents = read_contents(archive, manifest)
        archive.require_packed()
    _require_one_evaluation(path, manifest, contents)
    _require_prompts_and_images(path, manifest, contents)
    return Bundle(path=path, manifest=manifest, contents=contents)


def verify(path: Path) -> VerifiedBundle:
    """Open a bundle, and evaluate it again from its responses.

    Raises:
        SourceError: As ``open_bundle``.
        NotReproducibleError: If its task is not installed, or not as the manifest describes it.
    """
    bundle = open_bundle(path)
    task = _find_task(bundle)
    _require_same_task(bundle, task)
    contents = bundle.contents
    runner = stored_runner(task, contents, bundle.manifest.scorer)
    evaluation = runner.run(contents.questions)
    return VerifiedBundle(
        bundle=bundle, evaluation=evaluation, divergences=find_divergences(contents, evaluation)
    )


def _require_files(archive: Archive, manifest: Manifest) -> None:
    """Refuse a manifest of other files than a bundle's, and names or sizes other than it lists."""
    path = archive.path
    images = {image_file(image) for image, name in manifest.images.items() if name}
    expected = {table_file(table) for table in TABLES} | images
    if unexpected := sorted(manifest.files.keys() ^ expected):
        raise SourceError(
            f"{path}, {MANIFEST_NAME}: {unexpected[0]!r:.100} is not a file of a bundle"
        )
    if added := sorted(archive.sizes.keys() - manifest.files.keys() - {MANIFEST_NAME}):
        raise SourceError(
            f"{path}, {added[0]!r:.100}: added later: {MANIFEST_NAME} does not list it"
        )
    if missing := sorted(manifest.files.keys() - archive.sizes.keys()):
        raise SourceError(f"{path}: {missing[0]} is missing, but {MANIFEST_NAME} lists it")
    for name, facts in manifest.files.items():
        if archive.sizes[name] != facts.n_bytes:
            raise SourceError(
                f"{path}, {name}: {archive.sizes[name]} bytes, {MANIFEST_NAME} says {facts.n_bytes}"
            )


def _require_one_evaluation(path: Path, manifest: Manifest, contents: Contents) -> None:
    """Refuse foreign rows, verdicts without a response, and other numbers.

    Questions, predictions and scores must be unique.
    """
    question_ids = _unique_keys(path, "questions", (row.question_id for row in contents.questions))
    evaluated = manifest.model, manifest.condition
    for table in ("predictions", "judgements", "scores"):
        for number, row in enumerate(getattr(contents, table), 1):
            if row.question_id not in question_ids or (row.model, row.condition) != evaluated:
                raise SourceError(
                    f"{path}, {table_file(table)}, line {number}: {row.question_id}: belongs to"
                    " another question, model or condition"
                )
    draws = _unique_keys(
        path, "predictions", ((row.question_id, row.sample) for row in contents.predictions)
    )
    _unique_keys(path, "scores", ((row.question_id, row.sample) for row in contents.scores))
    for number, judgement in enumerate(contents.judgements, 1):
        if (judgement.question_id, judgement.sample) not in draws:
            raise SourceError(
                f"{path}, {table_file('judgements')}, line {number}: "
                f"{judgement.question_id}: no response"
            )
    _require_metrics(path, manifest, contents)


def _require_metrics(path: Path, manifest: Manifest, contents: Contents) -> None:
    """Refuse a bundle without a number, and numbers that the manifest does not name."""
    where = f"{path}, {table_file('metrics')}"
    if not _unique_keys(path, "metrics", ((row.metric, row.category) for row in contents.metrics)):
        raise SourceError(f"{where}: no metrics")
    expected = manifest.task, manifest.model, manifest.condition, manifest.signature
    for number, row in enumerate(contents.metrics, 1):
        if (row.task, row.model, row.condition, row.signature) != expected:
            raise SourceError(f"{where}, line {number}: not the number that {MANIFEST_NAME} names")


def _require_prompts_and_images(path: Path, manifest: Manifest, contents: Contents) -> None:
    """Require the prompts that were sent, and the images that questions show."""
    sent = {row.prompt_sha256 for row in contents.predictions if row.prompt_sha256}
    sent_to_judge = {row.prompt_sha256 for row in contents.judgements if row.prompt_sha256}
    for table, digests in {"prompts": sent, "judge_prompts": sent_to_judge}.items():
        n_missing = manifest.not_there.get(table, 0)
        _require_prompts(path, table, getattr(contents, table), digests, n_missing)
    if sorted(manifest.images) != contents.image_digests:
        raise SourceError(
            f"{path}, {MANIFEST_NAME}: its images are not those that the questions show"
        )


def _require_prompts(
    path: Path, table: str, rows: Sequence[PromptText], sent: set[str], n_missing: int
) -> None:
    """Require all prompts that were sent, except ``n_missing``, and no others."""
    where = f"{path}, {table_file(table)}"
    digests = _unique_keys(path, table, (row.sha256 for row in rows))
    for number, row in enumerate(rows, 1):
        if not matches_digest(row.sha256, row.turns) or row.sha256 not in sent:
            raise SourceError(f"{where}, line {number}: not a prompt that was sent")
    if len(sent - digests) != n_missing:
        raise SourceError(
            f"{where}: {len(sent - digests)} prompts are missing, {n_missing} by the manifest"
        )


def _unique_keys(path: Path, table: str, keys: Iterable[object]) -> set[object]:
    """The set of the keys of a table, one per line of its file; duplicates are refused."""
    unique: set[object] = set()
    for number, key in enumerate(keys, 1):
        if key in unique:
            raise SourceError(f"{path}, {table_file(table)}, line {number}: duplicate {key}")
        unique.add(key)
    return unique


def _find_task(bundle: Bundle) -> Task:
    """Find the task of a bundle among the installed ones; build that of a file benchmark."""
    manifest = bundle.manifest
    suite = manifest.task.split("/")[0]
    if manifest.benchmark is not None:
        return _build_task(bundle, suite, manifest.benchmark)
    catalog = load_catalog(only={suite})
    for task in catalog.tasks:
        if task.name == manifest.task:
            return task
    problem = f" ({catalog.problems[0]})" if catalog.problems else ""
    raise NotReproducibleError(
        f"{bundle.path}: intact, but {manifest.task} is not installed here{problem}:"
        f" install {manifest.package or suite}, and try again"
    )


def _require_same_task(bundle: Bundle, task: Task) -> None:
    """Require the version, extensions, condition and scorer that the manifest names."""
    manifest = bundle.manifest
    has_same_version = task.version == manifest.version
    if not has_same_version or sorted(task.extensions) != sorted(manifest.extensions):
        packed_task = "+".join((manifest.task, *manifest.extensions))
        installed_task = "+".join((task.name, *task.extensions))
        raise NotReproducibleError(
            f"{bundle.path}: intact, but of {packed_task} v{manifest.version}; here is"
            f" {installed_task} v{task.version}: install {manifest.package}"
            f" with bench-assets {manifest.versions.get('bench-assets', '?')}, and try again"
        )
    if manifest.condition not in task.conditions or manifest.scorer not in task.scorers:
        raise NotReproducibleError(
            f"{bundle.path}: {task.name} has no condition {manifest.condition!r} or no scorer"
            f" {manifest.scorer!r} here: install {manifest.package}, and try again"
        )


def _build_task(bundle: Bundle, name: str, section: dict[str, object]) -> Task:
    where = f"{bundle.path}, {MANIFEST_NAME}, benchmark"
    try:
        benchmark = FileBenchmarkSettings.model_validate(
            {**section, "file": table_file("questions")}
        )
    except ValueError as error:  # pydantic's
        raise SourceError(f"{where}: {error!s:.300}") from error
    return task_of(name, benchmark, where)
