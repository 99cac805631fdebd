"""Packing: collects one number with its tables, prompts and images, redacted."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench_assets.bundles.contents import (
    Contents,
    Manifest,
    PromptText,
    installed_versions,
    suite_distribution,
    write_contents,
)
from bench_assets.bundles.rescoring import find_divergences, stored_runner
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Task
from bench_assets.workspace.inspect.table_collection import ModelResponses
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.images.store import ImageStore

_PLACES = {"file", "image_folder", "split", "shots_file", "shots_split", "answers_file"}


class PackedBundle(NamedTuple):
    """A bundle that was written."""

    manifest: Manifest
    n_left_out: int  # images of which only the digest is packed


class BundleOptions(NamedTuple):
    """Inputs of a bundle in addition to the tables of the evaluation."""

    suite: Suite
    benchmark: FileBenchmarkSettings | None  # settings of a file benchmark
    image_store: ImageStore
    remembered: Callable[[str], str | None]  # digest of a prompt -> its turns
    passed_on: bool  # whether the licence permits to redistribute questions and images
    images: bool  # whether to pack images


def pack_number(one: ModelResponses, beside: BundleOptions, target: Path) -> PackedBundle:
    """Write the bundle of a number, if it is reproducible from its responses.

    Raises:
        TableError: If a table is missing, or the number is not reproduced; says what differs.
        HomeError: If the file cannot be written.
    """
    _require_tables(one)
    contents, not_there = _contents(one, beside)
    _require_reproducible(one, contents)
    draft = _make_manifest(one, beside, not_there)
    manifest = write_contents(contents, draft, target, beside.image_store.read)
    return PackedBundle(manifest, len(contents.shown) - len(contents.images))


def _require_tables(one: ModelResponses) -> None:
    wanted = {"questions": one.exam.questions, "predictions": one.predictions,
              "scores": one.scores, "metrics": one.metrics}  # fmt: skip
    for name, rows in wanted.items():
        if not rows:
            chosen = "" if one.condition == "main" else f" --condition {one.condition}"
            raise TableError(
                f"{one.name} of {one.model}: no {name};"
                f" run `bench evaluate {one.task.name} --model {one.model}{chosen}`"
            )


def _require_reproducible(one: ModelResponses, contents: Contents) -> None:
    """Refuse to pack a number that cannot be reproduced.

    Raises:
        TableError: Names the first thing that differs.
    """
    runner = stored_runner(one.task, contents, one.scorer)
    if divergences := find_divergences(contents, runner.run(contents.questions)):
        first, chosen = (
            divergences[0],
            "" if one.condition == "main" else f" --condition {one.condition}",
        )
        raise TableError(
            f"{one.name} of {one.model}: cannot be reproduced from its responses:"
            f" {first.step}, {first.entry}, {first.field}: {first.before} -> {first.after}"
            f"; evaluate again: `bench evaluate {one.task.name} --model {one.model}{chosen}`"
        )


def _contents(one: ModelResponses, options: BundleOptions) -> tuple[Contents, dict[str, int]]:
    sent = {row.prompt_sha256 for row in one.predictions if row.prompt_sha256}
    judged = {row.prompt_sha256 for row in one.judgements if row.prompt_sha256}
    rendered = _render_prompts(one.task, one.condition, one.exam.questions, one.predictions)
    prompts = _prompts(sent, lambda sha: rendered.get(sha) or options.remembered(sha), options)
    judge_prompts = _prompts(judged, options.remembered, options)
    contents = Contents(
        questions=one.exam.questions,
        prompts=prompts,
        predictions=one.predictions,
        judge_prompts=judge_prompts,
        judgements=one.judgements,
        scores=one.scores,
        metrics=one.metrics,
        images=_images(one.exam.questions, options),
    )
    missing = {
        "prompts": len(sent) - len(prompts),
        "judge_prompts": len(judged) - len(judge_prompts),
    }
    return contents, missing


def _render_prompts(
    task: Task, condition: str, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> dict[str, str]:
    """Prompts of a condition as rendered now, by digest; empty for encoders."""
    if task.asked_of != "model":
        return {}
    question_ids = {row.question_id for row in predictions}
    make = task.condition(condition).prompt
    prompts = [make(question) for question in questions if question.question_id in question_ids]
    return {prompt.sha256: prompt.to_json() for prompt in prompts}


def _prompts(
    sent: set[str], find: Callable[[str], str | None], options: BundleOptions
) -> list[PromptText]:
    """Known prompts."""
    known = ((sha256, find(sha256)) for sha256 in sorted(sent))
    return [PromptText(sha256=sha256, turns=turns) for sha256, turns in known if turns]


def _images(questions: Sequence[Question], options: BundleOptions) -> dict[str, int]:
    if not (options.images and options.passed_on):
        return {}
    digests = {digest for question in questions for digest in question.images}
    return dict(sorted(options.image_store.place.sizes(digests).items()))


def _make_manifest(
    one: ModelResponses, options: BundleOptions, not_there: dict[str, int]
) -> Manifest:
    task, first = one.task, one.metrics[0]
    benchmark = options.benchmark
    return Manifest(
        task=task.name,
        title=task.title,
        version=task.version,
        extensions=task.extensions,
        condition=one.condition,
        model=one.model,
        edition=first.edition,
        scorer=one.scorer,
        signature=first.signature,
        setup=first.setup,
        package=suite_distribution(task.suite) if benchmark is None else "",
        benchmark=None if benchmark is None else benchmark.model_dump(mode="json", exclude=_PLACES),
        release=options.suite.release,
        licence=options.suite.licence,
        passed_on=options.passed_on,
        versions=installed_versions(),
        images={},
        not_there=not_there,
        files={},
    )
