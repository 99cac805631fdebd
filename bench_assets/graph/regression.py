"""Whether a checkpoint got worse: than the one before it in its run, and than a chosen baseline."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

import dagster as dg
import numpy as np

from bench_assets.core.errors import TableError
from bench_assets.core.markdown import as_text
from bench_assets.core.paired import Pair, change, clusters_of, compare, holm, questions_enough
from bench_assets.core.rows import Metric, Question, Score
from bench_assets.core.signature import Signature
from bench_assets.evaluation import evaluation_key, questions_key
from bench_assets.graph.staleness import Configured
from bench_assets.partitions import MODELS
from bench_assets.task import Task
from resources.home.tables import TableFiles
from resources.settings.settings_file import SettingsFile

Verdict: TypeAlias = Literal["better", "worse", "no difference shown", "not enough questions"]

ALPHA = 0.05
"""Chance that any of the metrics of one comparison is called better or worse while none is."""

_COMPARED = ("data", "prompts", "reading", "n")  # parts of a signature
_CHECKPOINT = re.compile(
    r"(?P<run>(?:.*/)?)(?P<step>[^/]+(?=@)|step-\d+)(?:@[0-9a-f]{8,40})?"  # one may go unnamed
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One line of the verdict: a checkpoint against another model on one slice of a task."""

    against: str
    category: str  # "all", or the slice of the questions it is over
    verdict: Verdict
    change: float  # points gained, as a share of the points there are
    p: float  # corrected for all slices of the comparison
    test: str
    n: int  # questions that both have points for
    n_enough: int  # questions that would show the smallest change of interest


def regression_checks(task: Task, condition: str = "main") -> list[dg.AssetChecksDefinition]:
    """Build the check on the metrics of a task that is asked of models; else none."""
    return [_no_regression(task, condition)] if task.asked_of == "model" else []


def compared_with(model: str, written: Mapping[str, float], baseline: str) -> list[str]:
    """Models that a checkpoint is compared with: its predecessor in the run, and the baseline.

    Steps are ordered by the numbers in their names. Where a step was overwritten, the weights that
    were evaluated last count. A model of bench.toml that is called ``run/step-100`` counts too;
    what is no checkpoint has no predecessor.

    >>> compared_with("r/s-1000@aaaaaaaa", {"r/s-900@bbbbbbbb": 1, "r/s-100@cccccccc": 2}, "")
    ['r/s-900@bbbbbbbb']

    Args:
        model: A partition key.
        written: Every model that has metrics, and when they were written.
        baseline: A model, or "".
    """
    earlier = [other for other in written if _is_before(other, model)]
    before = max(earlier, key=lambda other: (_step(other), written[other]), default="")
    others = dict.fromkeys((before, baseline if baseline in written else ""))
    return [other for other in others if other not in ("", model)]


def not_comparable(before: Sequence[Metric], after: Sequence[Metric]) -> str:
    """Say what keeps two models from being compared: other questions, prompts, reading or judge.

    A judge that was not needed ("none") fits every other.
    """
    old, new = (_compared(rows) for rows in (before, after))
    differs = [part for part in ("task", *_COMPARED) if old.get(part) != new.get(part)]
    judges = {old.get("judge", "none"), new.get("judge", "none")} - {"none"}
    return ", ".join([*differs, *(["judge"] if len(judges) > 1 else [])])


def comparisons(
    task: Task,
    questions: Sequence[Question],
    before: Sequence[Score],
    after: Sequence[Score],
    smallest_change: float,
) -> list[Comparison]:
    """Compare two models over all questions and over each slice, paired on questions.

    What is compared are the points of the questions that both have points for, samples averaged.
    Questions of one group, and those that show the same pictures, are one cluster.

    The p-values are corrected for the number of slices by Holm's method. Where no difference is
    shown, ``smallest_change`` says whether there were questions enough to see one.
    """
    slices = _pairs(task, questions, before, after)
    if not slices:
        return []
    name = f"{task.name} {before[0].model} {after[0].model}"
    rng = np.random.default_rng(list(sha256(name.encode()).digest()))
    outcomes = {category: compare(pairs, rng) for category, pairs in slices.items()}
    corrected = holm([outcome.p for outcome in outcomes.values()])
    found = []
    for (category, pairs), p in zip(slices.items(), corrected, strict=True):
        n_enough = questions_enough(pairs, smallest_change, ALPHA / len(slices))
        gained = change(pairs)
        found.append(
            Comparison(
                against=before[0].model,
                category=category,
                verdict=_verdict(p, gained, len(pairs) >= n_enough),
                change=gained,
                p=p,
                test=outcomes[category].test,
                n=len(pairs),
                n_enough=n_enough,
            )
        )
    return found


def _compared(metrics: Sequence[Metric]) -> dict[str, str]:
    if not metrics:
        return {}
    signature = Signature.parse(metrics[0].signature)
    return {**signature.parts, "task": f"{signature.task} v{signature.version}"}


def _no_regression(task: Task, condition: str) -> dg.AssetChecksDefinition:
    scores_key = evaluation_key(task, condition, "scores")
    metrics_key = evaluation_key(task, condition, "metrics")

    @dg.asset_check(
        asset=metrics_key,
        partitions_def=MODELS,
        description=(
            "No metric is significantly worse than that of the checkpoint before it in its run, or "
            "than the baseline's; see [checkpoints] of bench.toml."
        ),
    )
    def no_regression(
        settings: SettingsFile,
        tables: TableFiles,
        metrics: list[Metric],
    ) -> dg.AssetCheckResult:
        model = metrics[0].model if metrics else ""
        chosen = settings.load().checkpoints
        written = {
            other: tables.path(metrics_key, other).stat().st_mtime
            for other in tables.partitions(metrics_key)
        }
        configured = Configured(settings.load())
        lines: list[Comparison] = []
        notes: list[str] = []
        for other in compared_with(model, written, chosen.baseline):
            try:
                their = tables.read(metrics_key, Metric, other)
                before = tables.read(scores_key, Score, other)
            except TableError as unreadable:
                notes.append(f"not comparable with {other}: {unreadable}")
                continue
            differs = not_comparable(their, metrics)
            if why := f"other {differs}" if differs else configured.why_stale(task, their[0]):
                notes.append(f"not comparable with {other}: {why}; evaluate it again")
                continue
            # Read here, not as inputs: most models have nothing that they are compared with.
            questions = tables.read(questions_key(task, condition), Question)
            after = tables.read(scores_key, Score, model)
            lines += comparisons(task, questions, before, after, chosen.smallest_change)
        return _result(lines, notes, dg.AssetCheckSeverity[chosen.severity])

    return no_regression


def _result(
    lines: Sequence[Comparison], notes: Sequence[str], severity: dg.AssetCheckSeverity
) -> dg.AssetCheckResult:
    worse = [line for line in lines if line.verdict == "worse"]
    table = [
        "| against | questions | verdict | change | p | test | n | enough |",
        "|---" * 8 + "|",
        *(
            f"| {line.against} | {as_text(line.category)} | {line.verdict} | {line.change:+.3f} "
            f"| {line.p:.4f} | {line.test} | {line.n} | {line.n_enough} |"
            for line in sorted(lines, key=lambda line: line.verdict != "worse")
        ),
    ]
    return dg.AssetCheckResult(
        passed=not worse,
        severity=severity,
        description="; ".join(
            [
                *(f"{line.category}: {line.change:+.3f} against {line.against}" for line in worse),
                *notes,
            ]
        )
        or ("no metric is worse" if lines else "nothing to compare with"),
        metadata={"comparisons": dg.MetadataValue.md("\n".join(table))} if lines else {},
    )


def _verdict(p: float, gained: float, enough: bool) -> Verdict:
    if p < ALPHA and gained:
        return "better" if gained > 0 else "worse"
    return "no difference shown" if enough else "not enough questions"


def _pairs(
    task: Task, questions: Sequence[Question], before: Sequence[Score], after: Sequence[Score]
) -> dict[str, list[Pair]]:
    old, new = _points(before), _points(after)
    clusters = clusters_of(questions)
    slices: dict[str, list[Pair]] = defaultdict(list)
    for question in questions:
        name = question.question_id
        if name in old and name in new:
            pair = Pair(old[name][0], new[name][0], clusters[name], old[name][1])
            for category in dict.fromkeys(("all", *task.slices(question))):
                slices[category].append(pair)
    return dict(slices)


def _points(scores: Sequence[Score]) -> dict[str, tuple[float, float]]:
    """Points and most points of each question, over its samples; those that were not scored not."""
    given: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        given[score.question_id].append(score)
    return {
        name: (sum(s.points or 0.0 for s in of_one) / len(of_one), of_one[0].max_points)
        for name, of_one in given.items()
        if of_one[0].max_points and all(score.points is not None for score in of_one)
    }


def _is_before(other: str, model: str) -> bool:
    a, b = _CHECKPOINT.fullmatch(other), _CHECKPOINT.fullmatch(model)
    return bool(a and b and a["run"] == b["run"] and _step(other) < _step(model))


def _step(model: str) -> list[tuple[int, str]]:
    """Order steps as people do: ``step-900`` comes before ``step-1000``."""
    matched = _CHECKPOINT.fullmatch(model)
    parts = re.split(r"(\d+)", matched["step"] if matched else "")
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
