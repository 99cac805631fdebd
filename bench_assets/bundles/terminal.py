"""Terminal output of reproductions and bundles."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bench_assets.bundles.contents import Manifest
from bench_assets.bundles.reproduction import ReproductionResult
from bench_assets.bundles.rescoring import Divergence, format_digits
from bench_assets.bundles.verification import VerifiedBundle
from bench_assets.cli.output.explanations import CAUSE_COLUMNS
from bench_assets.core.schema.rows import Metric
from bench_assets.workspace.console.output import Cell, print_message, print_result, print_rows

_MAX_DIVERGENCES = 12  # divergences that are printed
_STATUS = {0: "same", 1: "different", 2: "cannot be evaluated"}  # by exit code

_REQUIREMENT_COLUMNS: Mapping[str, Cell] = {
    "part": lambda row: row.part,
    "takes": lambda row: row.takes,
    "here": lambda row: row.here,
}
DIGIT_COLUMNS: Mapping[str, Cell] = {
    "metric": lambda row: row.metric,
    "category": lambda row: row.category,
    "value": lambda row: format_digits(row.value),
    "low": lambda row: format_digits(row.low),
    "high": lambda row: format_digits(row.high),
    "n": lambda row: str(row.n_scored),
    "unscored": lambda row: str(row.n_unscored),
    "failed": lambda row: str(row.n_failed),
    "constant": lambda row: format_digits(row.constant),
    "shuffled": lambda row: format_digits(row.shuffled),
}
_DIVERGENCE_COLUMNS: Mapping[str, Cell] = {
    "step": lambda row: row.step,
    "entry": lambda row: row.entry,
    "field": lambda row: row.field,
    "before": lambda row: row.before,
    "again": lambda row: row.after,
}


def print_reproduction(reproduction: ReproductionResult) -> None:
    """Print a number's requirements, its new digits, and the comparison."""
    print_result(reproduction.number.text)
    print_rows(reproduction.requirements, as_json=False, columns=_REQUIREMENT_COLUMNS)
    for requirement in reproduction.requirements:
        if requirement.missing:
            problem = f"{requirement.part}: {requirement.here}; {requirement.missing}"
            print_message(f"cannot be evaluated: {problem}")
    if reproduction.stale:
        print_message(f"stale: {reproduction.stale}")
    if reproduction.evaluation is None:
        return
    metrics = reproduction.evaluation.metrics
    print_rows(metrics, as_json=False, columns=DIGIT_COLUMNS)
    _print_verdict(reproduction.divergences, len(metrics), "the tables of this home")
    if reproduction.causes:
        print_rows(reproduction.causes, as_json=False, columns=CAUSE_COLUMNS)


def print_bundle_verification(verified: VerifiedBundle) -> None:
    """Print a bundle's signature and digest, what it lacks, its new digits, and the comparison."""
    manifest = verified.bundle.manifest
    print_result(manifest.signature)
    print_result(f"bundle {manifest.digest}")
    warn_about_licence(manifest)
    for kind, n in sorted(manifest.not_there.items()):
        if n:
            print_message(f"{kind.replace('_', ' ')} included by digest only: {n}")
    metrics = verified.evaluation.metrics
    print_rows(metrics, as_json=False, columns=DIGIT_COLUMNS)
    _print_verdict(verified.divergences, len(metrics), "the bundle")


def warn_about_licence(manifest: Manifest) -> None:
    """Print a warning if the questions in a bundle may not be shared."""
    if not manifest.passed_on:
        print_message(
            f"do not share the file: the licence of its questions forbids it ({manifest.licence})"
        )


def reproduction_json(reproduction: ReproductionResult) -> dict[str, Any]:
    """Format a reproduction as one JSON object."""
    metrics = reproduction.evaluation.metrics if reproduction.evaluation else ()
    return {
        "signature": reproduction.number.text,
        "status": _STATUS[reproduction.exit_code],
        "needs": [asdict(requirement) for requirement in reproduction.requirements],
        "stale": reproduction.stale,
        "metrics": [_cells(row) for row in metrics],
        "divergences": [asdict(divergence) for divergence in reproduction.divergences],
        "causes": [
            {"cause": cause.cause, "effect": cause.effect, "n": cause.n}
            for cause in reproduction.causes
        ],
    }


def bundle_verification_json(verified: VerifiedBundle) -> dict[str, Any]:
    """Format a verified bundle as one JSON object."""
    manifest = verified.bundle.manifest
    return {
        "signature": manifest.signature,
        "status": "different" if verified.divergences else "same",
        "digest": manifest.digest,
        "passed_on": manifest.passed_on,
        "metrics": [_cells(row) for row in verified.evaluation.metrics],
        "divergences": [asdict(divergence) for divergence in verified.divergences],
    }


def _print_verdict(divergences: Sequence[Divergence], n_metrics: int, reference: str) -> None:
    if not divergences:
        print_result(f"same digits: {n_metrics} numbers, compared with {reference}")
        return
    steps = list(dict.fromkeys(divergence.step for divergence in divergences))
    print_result(f"different: {', '.join(steps)}; compared with {reference}")
    print_rows(divergences[:_MAX_DIVERGENCES], as_json=False, columns=_DIVERGENCE_COLUMNS)
    if len(divergences) > _MAX_DIVERGENCES:
        print_message(f"... and {len(divergences) - _MAX_DIVERGENCES} more")


def _cells(row: Metric) -> dict[str, str]:
    return {name: cell(row) for name, cell in DIGIT_COLUMNS.items()}
