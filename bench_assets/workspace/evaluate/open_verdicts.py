"""Publishes responses whose verdicts of people are missing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench_assets.features import hook_of
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings

if TYPE_CHECKING:
    from bench_assets.annotation.answers.progress import AnnotationProgress


def publish_verdicts(bench: Workbench, n_unjudged: Mapping[str, int]) -> str:
    """Publish the responses that need human verdicts; returns their numbers and the next steps.

    ``n_unjudged`` has the number of such responses by task. Verdicts are collected when the
    evaluation runs again.
    """
    publish = hook_of("publish units", "people as judges")
    sentences = []
    for name, n in n_unjudged.items():
        form = bench.catalog.task(name).response_tasks[0].task.name
        progress: AnnotationProgress = publish(bench, form, datetime.now(UTC))
        deadline = bench.settings.annotation.tasks[form].until
        until = f" by {deadline}" if deadline else ""
        sentences.append(
            f"{name}: {n} responses need human verdicts; {form} lacks {progress.lacking}"
            f" answers{until}. {_answering_hint(bench.settings, form)}"
        )
    return " ".join([*sentences, "Then run the same command again; cached responses are reused"])


def _answering_hint(settings: Settings, form: str) -> str:
    if settings.annotation.kind == "pages":
        return f"Run `bench annotate links --task {form} --person NAME` and `bench annotate serve`."
    folder = settings.home / "annotation" / form
    return f"The units are in {folder / 'units.jsonl'}; write answers to answers.jsonl beside it."
