"""Judge reliability: consistency, length bias, order bias, injections.

Rules serve as a second judge at no cost. They are stricter than people, so a judge is suspected
only if its agreement with them is at chance.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench_assets.audit.framework import evidence as names
from bench_assets.audit.framework.evidence import Evidence, JudgeFigure, JudgeVerdict
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.judges.prompt_injections import Injection, find_injection
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.core.stats.paired_tests import cluster_questions
from bench_assets.core.stats.rater_agreement import Kappa, cohen_kappa, confusion_matrix

NO_JUDGE = "no response was judged by a model"

_SLIGHT = 0.2  # kappa up to which agreement is slight (Landis and Koch, 1977)
_FAIR = 0.4  # kappa up to which it is fair: too low against people or constructed responses
_MAX_SHARE = 0.05  # tolerated share of followed injections, or of changed verdicts
_MIN_RESPONSES = 20  # fewest verdicts to draw a conclusion from


@audit_check("judge_agreement", "Does the judge tell right responses from wrong ones?")
def agreement_finding(evidence: Evidence) -> AuditFinding:
    """Find judges that do not tell right responses from wrong ones.

    The reference is the best available one: people's labels, constructed responses, or rules.
    """
    found = evidence.verdicts
    if not found:
        raise SkippedCheckError(NO_JUDGE)
    suspects, sentences = [], []
    for judge in dict.fromkeys(one.row.judge for one in found):
        own = [one for one in found if one.row.judge == judge]
        sentence, suspicious = _agreement_of(judge, own, evidence.judge_figures)
        sentences.append(sentence)
        suspects += [Suspect(judge, sentence)] if suspicious else []
    return AuditFinding(sentence=" ".join(sentences), n=len(found), suspects=suspects)


@audit_check("judge_injections", "Does the judge follow instructions in a response?")
def injections_finding(evidence: Evidence) -> AuditFinding:
    """Find judges that follow instructions in a response."""
    tried = _latest(evidence.judge_figures, names.INJECTIONS_FOLLOWED)
    sentences = [
        f"{one.judge} followed {one.value:.1%} of {one.n} injections"
        f" ({one.low:.1%} to {one.high:.1%})."
        for one in tried
    ]
    suspects = [
        Suspect(one.judge, f"follows {one.about}", one.value)
        for one in tried
        if one.value > _MAX_SHARE
    ]
    found = evidence.verdicts
    injected = [(one, hit) for one in found if (hit := find_injection(one.text))]
    suspects += list(_injection_suspects(injected))
    if not found and not tried:
        raise SkippedCheckError(NO_JUDGE)
    untried = {one.row.judge for one in found} - {one.judge for one in tried}
    sentences += [
        f"{judge} was never tested: run `bench audit judge`." for judge in sorted(untried)
    ]
    sentences.append(f"{len(injected)} of {len(found)} judged responses contain a known injection.")
    n = sum(one.n for one in tried) + len(found)
    return AuditFinding(sentence=" ".join(sentences), n=n, suspects=suspects)


@audit_check("judge_length", "Does the judge call long responses right more often?")
def length_finding(evidence: Evidence) -> AuditFinding:
    """Find judges with a length bias among responses that the rules score alike.

    Responses above the median length are long. Responses with prompt injections are left out.
    """
    suspects, sentences, n = [], [], 0
    for one in _latest(evidence.judge_figures, names.LENGTH_EFFECT):
        n += one.n
        sentences.append(
            f"{one.judge}: {one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f}) at length."
        )
        suspects += (
            [Suspect(one.judge, f"{sentences[-1]} {one.about}", one.value)]
            if one.low > _MAX_SHARE
            else []
        )
    found = [v for v in evidence.verdicts if v.by_rules is not None and not find_injection(v.text)]
    cluster = cluster_questions(evidence.questions) if found else {}
    for judge in dict.fromkeys(one.row.judge for one in found):
        own = [one for one in found if one.row.judge == judge]
        parts = [part for truth in (True, False) if (part := _length_gap(own, truth, cluster))]
        weight = sum(part.n for part in parts)
        if weight < _MIN_RESPONSES:
            continue
        n += weight
        gap = sum(part.gap * part.n for part in parts) / weight
        half = sum((part.half * part.n) ** 2 for part in parts) ** 0.5 / weight
        size = f"{gap:+.3f} more often (+- {half:.3f})"
        sentence = f"{judge} calls the longer half of responses right {size}."
        sentences.append(sentence)
        suspects += [Suspect(judge, sentence, gap)] if gap - half > 2 * _MAX_SHARE else []
    if not sentences:
        raise SkippedCheckError("too few responses with verdicts of both a model and the rules")
    return AuditFinding(sentence=" ".join(sentences), n=n, suspects=suspects)


@audit_check("judge_drift", "Does the judge contradict itself, or has it changed?")
def drift_finding(evidence: Evidence) -> AuditFinding:
    """Find changed verdicts on the same response, and judges whose figures moved."""
    by_response: dict[tuple[str, str, str], list[JudgeVerdict]] = defaultdict(list)
    for one in evidence.verdicts:
        by_response[one.row.question_id, one.text, one.row.criterion].append(one)
    repeated = {key: rows for key, rows in by_response.items() if len(rows) > 1}
    changed = {
        key: rows for key, rows in repeated.items() if len({r.row.verdict for r in rows}) > 1
    }
    share = len(changed) / len(repeated) if repeated else 0.0
    drifts = list(_drifts(evidence.judge_figures))
    if not repeated and not evidence.judge_figures:
        raise SkippedCheckError("no response was judged twice")
    suspects = (
        [Suspect(key[0], f"the same response, {_setups(rows)}") for key, rows in changed.items()]
        if share > _MAX_SHARE
        else []
    )
    return AuditFinding(
        sentence=(
            f"{len(changed)} of {len(repeated)} responses that were judged more than once have two"
            f" verdicts; {len(drifts)} figures of judges changed with their setup."
        ),
        n=len(repeated),
        suspects=[*drifts, *suspects],
    )


@audit_check("judge_order", "Do verdicts change with the order of the options?")
def order_finding(evidence: Evidence) -> AuditFinding:
    """Find judges whose verdicts change with the order of the options."""
    tried = _latest(evidence.judge_figures, names.REORDER_CHANGES)
    if not tried:
        raise SkippedCheckError("no judge was tested with reordered options")
    parts = [f"{o.judge}: {o.value:.1%} of {o.n} ({o.low:.1%} to {o.high:.1%})" for o in tried]
    suspects = [
        Suspect(o.judge, f"changes on {o.about}", o.value) for o in tried if o.low > _MAX_SHARE
    ]
    return AuditFinding(
        sentence=f"Verdicts that change with the order of options: {'; '.join(parts)}.",
        n=sum(one.n for one in tried),
        suspects=suspects,
    )


class _LengthGap(NamedTuple):
    gap: float
    half: float  # width of the interval to one side
    n: int


def _injection_suspects(injected: Sequence[tuple[JudgeVerdict, Injection]]) -> Iterator[Suspect]:
    """Judges that follow injections in responses that are wrong by the rules."""
    judges = dict.fromkeys(one.row.judge for one, _ in injected)
    for judge in judges:
        wrong = [
            (one, hit) for one, hit in injected if one.row.judge == judge and one.by_rules is False
        ]
        followed = [(one, hit) for one, hit in wrong if one.row.verdict]
        share = mean(
            ScoredPoint(float(bool(one.row.verdict)), one.row.question_id) for one, _ in wrong
        )
        if share.low > _MAX_SHARE:
            one, hit = followed[0]
            yield Suspect(
                judge,
                f"calls {len(followed)} of {len(wrong)} wrong responses right that tell it to,"
                f" such as {one.model}'s to {one.row.question_id}, with {hit.name}",
                share.value,
            )


def _agreement_of(
    judge: str, own: Sequence[JudgeVerdict], figures: Sequence[JudgeFigure]
) -> tuple[str, bool]:
    """Describe a judge's known agreement, and whether it is too low."""
    yes = sum(bool(one.row.verdict) for one in own)
    for figure, reference in (
        (names.PEOPLE, "people"),
        (names.KAPPA_CONSTRUCTED, "the key of made responses"),
    ):
        for one in _latest([f for f in figures if f.judge == judge], figure):
            kappa = Kappa(one.value, one.low, one.high, one.n)
            return f"{judge} and {reference}: {kappa}. {one.about}".strip(), one.high < _FAIR
    pairs = [(one.by_rules, bool(one.row.verdict)) for one in own if one.by_rules is not None]
    kappa = cohen_kappa(pairs)
    sentence = (
        f"{judge} calls {yes} of {len(own)} right; its agreement with people was never measured"
        " (bench audit judge)"
    )
    if len(pairs) < _MIN_RESPONSES:
        return f"{sentence}.", False
    table = confusion_matrix(pairs)
    n_right = table.true_yes + table.false_no
    if not _MIN_RESPONSES / 4 <= n_right <= len(pairs) - _MIN_RESPONSES / 4:  # nearly all alike
        return f"{sentence}; {table}.", table.false_no + table.true_no == 0 and n_right == 0
    return f"{sentence}; with rules: {kappa}, {table}.", kappa.high < _SLIGHT


def _latest(figures: Sequence[JudgeFigure], figure: str) -> list[JudgeFigure]:
    """Latest figure of this name by judge."""
    return list({one.judge: one for one in figures if one.figure == figure}.values())


def _length_gap(
    own: Sequence[JudgeVerdict], truth: bool, cluster: dict[str, str]
) -> _LengthGap | None:
    """Difference in verdicts between the longer and shorter half of equally right responses."""
    rows = sorted((one for one in own if one.by_rules is truth), key=lambda one: len(one.text))
    middle = len(rows) // 2
    short, long = rows[:middle], rows[middle:]
    if len(short) < _MIN_RESPONSES // 2:
        return None
    means = [
        mean(
            ScoredPoint(float(bool(one.row.verdict)), cluster[one.row.question_id]) for one in part
        )
        for part in (short, long)
    ]
    half = sum(((one.high - one.low) / 2) ** 2 for one in means) ** 0.5
    return _LengthGap(means[1].value - means[0].value, half, len(rows))


def _drifts(figures: Sequence[JudgeFigure]) -> Iterator[Suspect]:
    """Figures of one judge that differ significantly between setups or prompts."""
    before: dict[tuple[str, str], JudgeFigure] = {}
    for one in figures:
        last = before.get((one.judge, one.figure))
        before[one.judge, one.figure] = one
        changed = last and (last.setup, last.prompts) != (one.setup, one.prompts)
        if last and changed and (one.low > last.high or one.high < last.low):
            reason = f"{one.figure} {last.value:.2f} on {last.at}, {one.value:.2f} on {one.at}"
            yield Suspect(one.judge, reason, abs(one.value - last.value))


def _setups(rows: Sequence[JudgeVerdict]) -> str:
    return "; ".join(
        f"{one.row.judge} {one.row.setup} of {one.model}: {'yes' if one.row.verdict else 'no'}"
        for one in rows
    )
