"""Packing: collects one number with its tables, prompts and images."""

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
from bench_assets.comparison.comparable import evaluation_command
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Task
from bench_assets.workspace.inspect.table_collection import ModelResponses
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.images.store import ImageStore

_FILE_SETTINGS = {"file", "image_folder", "split", "shots_file", "shots_split", "answers_file"}


class PackedBundle(NamedTuple):
    """A bundle that was written."""

    manifest: Manifest
    n_left_out: int  # images of which only the digest is packed


class BundleOptions(NamedTuple):
    """Inputs of a bundle in addition to the tables of the evaluation."""

    suite: Suite
    benchmark: FileBenchmarkSettings | None  # settings of a file benchmark
    image_store: ImageStore
    find_prompt: Callable[[str], str | None]  # digest -> turns
    passed_on: bool  # whether the licence permits to redistribute questions and images
    images: bool  # whether to pack images


def pack_number(evaluation: ModelResponses, options: BundleOptions, target: Path) -> PackedBundle:
    """Write the bundle of a number, if it is reproducible from its responses.

    Raises:
        TableError: If a table is missing, the number is not reproduced, or the bundle is too large.
        HomeError: If the file cannot be written.
        ImageError: If an image is damaged.
    """
    _require_tables(evaluation)
    contents, n_missing_prompts = _collect_contents(evaluation, options)
    _require_reproducible(evaluation, contents)
    draft = _make_manifest(evaluation, options, n_missing_prompts)
    manifest = write_contents(contents, draft, target, options.image_store.read)
    n_left_out = len(contents.image_digests) - len(contents.images)
    return PackedBundle(manifest, n_left_out)


def _require_tables(evaluation: ModelResponses) -> None:
    tables = {
        "questions": evaluation.question_table.questions,
        "predictions": evaluation.predictions,
        "scores": evaluation.scores,
        "metrics": evaluation.metrics,
    }
    command = evaluation_command(evaluation.task, [evaluation.model], evaluation.condition)
    for name, rows in tables.items():
        if not rows:
            raise TableError(f"{evaluation.name} of {evaluation.model}: no {name}; run `{command}`")


def _require_reproducible(evaluation: ModelResponses, contents: Contents) -> None:
    runner = stored_runner(evaluation.task, contents, evaluation.scorer)
    if divergences := find_divergences(contents, runner.run(contents.questions)):
        first = divergences[0]
        command = evaluation_command(evaluation.task, [evaluation.model], evaluation.condition)
        raise TableError(
            f"{evaluation.name} of {evaluation.model}: cannot be reproduced from its responses:"
            f" {first.step}, {first.entry}, {first.field}: {first.before} -> {first.after}"
            f"; evaluate again: `{command}`"
        )


def _collect_contents(
    evaluation: ModelResponses, options: BundleOptions
) -> tuple[Contents, dict[str, int]]:
    """Collect tables, prompts and images; returns also the number of missing prompts by table."""
    questions, predictions = evaluation.question_table.questions, evaluation.predictions
    sent = {row.prompt_sha256 for row in predictions if row.prompt_sha256}
    sent_to_judge = {row.prompt_sha256 for row in evaluation.judgements if row.prompt_sha256}
    rendered = _render_prompts(evaluation.task, evaluation.condition, questions, predictions)
    prompts = _find_prompts(sent, lambda sha: rendered.get(sha) or options.find_prompt(sha))
    judge_prompts = _find_prompts(sent_to_judge, options.find_prompt)
    contents = Contents(
        questions=questions,
        prompts=prompts,
        predictions=predictions,
        judge_prompts=judge_prompts,
        judgements=evaluation.judgements,
        scores=evaluation.scores,
        metrics=evaluation.metrics,
        images=_image_sizes(questions, options),
    )
    n_missing_prompts = {
        "prompts": len(sent) - len(prompts),
        "judge_prompts": len(sent_to_judge) - len(judge_prompts),
    }
    return contents, n_missing_prompts


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


def _find_prompts(digests: set[str], find_prompt: Callable[[str], str | None]) -> list[PromptText]:
    """Find prompts by their digests, in their order; unknown ones are left out."""
    prompts = []
    for sha256 in sorted(digests):
        if turns := find_prompt(sha256):
            prompts.append(PromptText(sha256=sha256, turns=turns))
    return prompts


def _image_sizes(questions: Sequence[Question], options: BundleOptions) -> dict[str, int]:
    """Sizes in bytes of the images to pack, by digest."""
    if not (options.images and options.passed_on):
        return {}
    digests = {digest for question in questions for digest in question.images}
    return dict(sorted(options.image_store.place.sizes(digests).items()))


def _make_manifest(
    evaluation: ModelResponses, options: BundleOptions, n_missing_prompts: dict[str, int]
) -> Manifest:
    """Build the manifest without the digests of files and images."""
    task, metric = evaluation.task, evaluation.metrics[0]
    benchmark = None
    if options.benchmark:
        benchmark = options.benchmark.model_dump(mode="json", exclude=_FILE_SETTINGS)
    return Manifest(
        task=task.name,
        title=task.title,
        version=task.version,
        extensions=task.extensions,
        condition=evaluation.condition,
        model=evaluation.model,
        edition=metric.edition,
        scorer=evaluation.scorer,
        signature=metric.signature,
        setup=metric.setup,
        package="" if benchmark else suite_distribution(task.suite),
        benchmark=benchmark,
        release=options.suite.release,
        licence=options.suite.licence,
        passed_on=options.passed_on,
        versions=installed_versions(),
        images={},
        not_there=n_missing_prompts,
        files={},
    )
