"""Registry of all audit checks, in the order of the report."""

from collections.abc import Mapping, Sequence
from itertools import chain

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import AuditCheck, AuditRow
from bench_assets.audit.items import ambiguous_options, contamination, duplicates, wrong_keys
from bench_assets.audit.judges import human_agreement
from bench_assets.audit.shortcuts import (
    answer_leaks,
    blind_solvability,
    missing_images,
    option_cues,
)

FAMILIES: Mapping[str, Sequence[AuditCheck]] = {
    "shortcuts": (
        blind_solvability.needs_images,
        option_cues.constant_answer_finding,
        option_cues.length_finding,
        option_cues.number_finding,
        option_cues.row_order_finding,
        answer_leaks.answer_in_question,
        answer_leaks.file_names,
        option_cues.surface_finding,
        missing_images.missing_images,
        missing_images.blank_images,
        missing_images.duplicate_images,
    ),
    "keys": (
        duplicates.repeated_questions,
        duplicates.contradicting_keys,
        ambiguous_options.ambiguous_options,
        wrong_keys.suspected_keys,
    ),
    "contamination": (contamination.training_images, contamination.training_texts),
    "judgements": (human_agreement.agreement_finding, human_agreement.bias_finding),
}
"""Checks by what they ask about; each family is one asset check in Dagster."""

CHECKS: tuple[AuditCheck, ...] = tuple(chain.from_iterable(FAMILIES.values()))


def audit_task(evidence: Evidence) -> list[AuditRow]:
    """Apply all checks to one task."""
    return [check.row(evidence) for check in CHECKS]
