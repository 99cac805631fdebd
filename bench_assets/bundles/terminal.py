"""Terminal output of reproductions and bundles."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench_assets.bundles.reproduction import ReproductionResult
from bench_assets.bundles.rescoring import Divergence, format_digits
from bench_assets.bundles.verification import VerifiedBundle
from bench_assets.cli.output.explanations import CAUSE_COLUMNS
from bench_assets.core.schema.rows import Metric
from bench_assets.workspace.console.output import Cell, print_message, print_result, print_rows

_MAX_DIVERGENCES = 12  # printed

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


def print_reproduction(found: ReproductionResult) -> None:
    """Print a number's requirements, its new digits, and the comparison."""
    print_result(found.number.text)
    print_rows(found.needs, as_json=False, columns=_REQUIREMENT_COLUMNS)
    for need in found.needs:
        if need.missing:
            print_message(f"cannot be evaluated: {need.part}: {need.here}; {need.missing}")
    if found.stale:
        print_message(f"stale: {found.stale}")
    if found.again is None:
        return
    _print_digits(found.again.metrics)
    _print_verdict(found.partings, len(found.again.metrics), "the tables of this home")
    if found.causes:
        print_rows(found.causes, as_json=False, columns=CAUSE_COLUMNS)


def print_bundle_verification(found: VerifiedBundle) -> None:
    """Print a bundle's signature, its new digits, and the comparison."""
    manifest = found.bundle.manifest
    print_result(manifest.signature)
    print_result(f"bundle {manifest.digest}")
    if not manifest.passed_on:
        print_message(
            f"do not share the file: the licence of its questions forbids it ({manifest.licence})"
        )
    for kind, n in sorted(manifest.not_there.items()):
        if n:
            print_message(f"{n} {kind.replace('_', ' ')} are included by digest only")
    _print_digits(found.again.metrics)
    _print_verdict(found.partings, len(found.again.metrics), "the bundle")


def reproduction_json(found: ReproductionResult) -> dict[str, Any]:
    """A reproduction as one JSON object."""
    return {
        "signature": found.number.text,
        "status": ("same", "other", "cannot be evaluated")[found.exit_code],
        "needs": [_fields(need, ("part", "takes", "here", "missing")) for need in found.needs],
        "stale": found.stale,
        "metrics": [_cells(row) for row in (found.again.metrics if found.again else ())],
        "partings": [_divergence_json(divergence) for divergence in found.partings],
        "causes": [_fields(cause, ("cause", "effect", "n")) for cause in found.causes],
    }


def bundle_verification_json(found: VerifiedBundle) -> dict[str, Any]:
    """A verified bundle as one JSON object."""
    manifest = found.bundle.manifest
    return {
        "signature": manifest.signature,
        "status": "other" if found.partings else "same",
        "digest": manifest.digest,
        "passed_on": manifest.passed_on,
        "metrics": [_cells(row) for row in found.again.metrics],
        "partings": [_divergence_json(divergence) for divergence in found.partings],
    }


def _print_digits(rows: Sequence[Metric]) -> None:
    print_rows(rows, as_json=False, columns=DIGIT_COLUMNS)


def _print_verdict(partings: Sequence[Divergence], n: int, compared: str) -> None:
    if not partings:
        print_result(f"same digits: {n} numbers, compared with {compared}")
        return
    steps = list(dict.fromkeys(divergence.step for divergence in partings))
    print_result(f"different: {', '.join(steps)}; compared with {compared}")
    print_rows(partings[:_MAX_DIVERGENCES], as_json=False, columns=_DIVERGENCE_COLUMNS)
    if rest := len(partings) - _MAX_DIVERGENCES:
        print_message(f"... and {rest} more") if rest > 0 else None


def _cells(row: Metric) -> dict[str, str]:
    return {name: cell(row) for name, cell in DIGIT_COLUMNS.items()}


def _divergence_json(one: Divergence) -> dict[str, Any]:
    return _fields(one, ("step", "entry", "field", "before", "after"))


def _fields(row: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
