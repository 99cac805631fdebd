"""Audit check: agreement of judges with people."""

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.core.stats.rater_agreement import Kappa
from bench_assets.evaluation.measured_figures import PEOPLE

_FAIR = 0.4  # kappa up to which agreement is fair, and too low (Landis and Koch, 1977)


@audit_check("judge_agreement", "Does the judge agree with people?")
def agreement_finding(evidence: Evidence) -> AuditFinding:
    """Find judges whose agreement with people is too low."""
    figures = [one for one in evidence.judge_figures if one.figure == PEOPLE]
    latest = {figure.judge: figure for figure in figures}
    if not latest:
        raise SkippedCheckError("no judge was compared with people (bench audit judge)")
    sentences = {
        judge: f"{judge} and people: {Kappa(of.value, of.low, of.high, of.n)}. {of.about}".strip()
        for judge, of in latest.items()
    }
    return AuditFinding(
        sentence=" ".join(sentences.values()),
        n=sum(figure.n for figure in latest.values()),
        suspects=[
            Suspect(judge, sentences[judge]) for judge in latest if latest[judge].high < _FAIR
        ],
    )
