"""Audit checks: agreement of judges with people, and what it means for their numbers."""

from math import isnan

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)

_FAIR = 0.4  # kappa up to which agreement is fair, and too low (Landis and Koch, 1977)
_NO_LABELS = "people judged too few responses (bench annotate verdicts)"


@audit_check("judge_agreement", "Does the judge agree with people?")
def agreement_finding(evidence: Evidence) -> AuditFinding:
    """Find models on whose responses the judge agrees too little with people."""
    kappas = {
        model: check.agreement
        for model, check in evidence.people_checks.items()
        if not isnan(check.agreement.value)
    }
    if not kappas:
        raise SkippedCheckError(_NO_LABELS)
    return AuditFinding(
        sentence=" ".join(f"{model}, with people: {kappa}." for model, kappa in kappas.items()),
        n=sum(kappa.n for kappa in kappas.values()),
        suspects=[
            Suspect(model, str(kappa)) for model, kappa in kappas.items() if kappa.high < _FAIR
        ],
    )


@audit_check("judge_bias", "Are the judge's numbers right, by people's verdicts?")
def bias_finding(evidence: Evidence) -> AuditFinding:
    """Find models whose number the judge surely moves by more than two points."""
    checks = {model: check for model, check in evidence.people_checks.items() if check.corrected}
    if not checks:
        raise SkippedCheckError(_NO_LABELS)
    return AuditFinding(
        sentence=" ".join(f"{model}: {check.sentence}." for model, check in checks.items()),
        n=len(checks),
        suspects=[
            Suspect(model, check.sentence) for model, check in checks.items() if check.is_biased
        ],
    )
