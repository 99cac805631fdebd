"""The verdicts of models that judge, each beside that of rules on the same reply."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_assets import flow
from bench_assets.core.asking import at_last
from bench_assets.core.rows import Prediction, Question
from bench_assets.soundness.evidence import Evidence, Verdict
from bench_assets.soundness.injections import without_injections
from bench_assets.soundness.sampling import sampled
from bench_assets.task import RULES, ByRules, Task


def verdicts(evidence: Evidence) -> list[Verdict]:
    """Readable verdicts of a model on measured models' replies; on all, or on a sample of many."""
    if not evidence.task.is_judged:
        return []
    models = evidence.results().models
    asked = sampled(evidence.questions, len(models))
    return [one for model in models for one in _verdicts_on(evidence, asked, model)]


def _verdicts_on(evidence: Evidence, asked: Sequence[Question], model: str) -> Iterator[Verdict]:
    ids = {question.question_id for question in asked}
    rows = [
        row
        for row in at_last(evidence.judgements(model, of=ids))
        if not row.by_rules and row.verdict is not None
    ]
    if not rows:
        return
    said = evidence.predictions(model, of=ids)
    rules = _by_rules(evidence.task, asked, said)
    texts = {(row.question_id, row.sample): row.text for row in said}
    for row in rows:
        key = row.question_id, row.sample
        if key in texts:
            yield Verdict(model, row, texts[key], rules.get((*key, row.criterion)))


def _by_rules(
    task: Task, asked: Sequence[Question], said: Sequence[Prediction]
) -> dict[tuple[str, int, str], bool | None]:
    if not isinstance(task.judges.get(RULES), ByRules):
        return {}
    # What a reply tells the judge is nothing that rules should read an answer out of.
    plain = [replace(row, text=without_injections(row.text)) for row in said]
    rows = flow.judge(task, asked, plain, None, RULES)
    return {(row.question_id, row.sample, row.criterion): row.verdict for row in rows}
