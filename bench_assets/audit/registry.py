"""Registry of all audit checks, in the order of the report."""

from collections.abc import Callable
from typing import NamedTuple

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import AuditFinding, AuditRow, ranked
from bench_assets.audit.items import annotators, contamination, duplicates
from bench_assets.audit.items.duplicates import redundant_questions
from bench_assets.audit.items.item_statistics import solved_by_some, tells_models_apart
from bench_assets.audit.items.subsets import smallest_subset
from bench_assets.audit.items.wrong_keys import suspected_keys
from bench_assets.audit.judges import judge_reliability
from bench_assets.audit.robustness import parsing_coverage, position_bias, scorer_sensitivity
from bench_assets.audit.shortcuts import (
    answer_leaks,
    blind_solvability,
    file_metadata,
    guessable_keys,
    missing_images,
    surface_classifier,
)
from bench_assets.core.schema.errors import BenchError


class Examiner(NamedTuple):
    """One thing that is asked of a benchmark."""

    check: str  # its name in tables and in the UI: "duplicate_images"
    asks: str  # the same for people: "Is any image there twice?"
    examine: Callable[[Evidence], AuditFinding]


EXAMINERS: tuple[Examiner, ...] = (
    Examiner("needs_images", "Does it need its images?", blind_solvability.needs_images),
    # the key gives itself away
    Examiner(
        "one_answer", "Is one letter, or one answer, right too often?", guessable_keys.one_answer
    ),
    Examiner(
        "lengths", "Is the longest or the shortest option right too often?", guessable_keys.lengths
    ),
    Examiner("numbers", "Is the largest, smallest or middle number right?", guessable_keys.numbers),
    Examiner("row_order", "Does the order of the rows tell the key?", guessable_keys.row_order),
    Examiner(
        "answer_in_question", "Does a question hold its answer?", answer_leaks.answer_in_question
    ),
    Examiner("file_names", "Does the name of an image tell the answer?", answer_leaks.file_names),
    Examiner("image_files", "Do sizes of images tell the answer?", file_metadata.image_files),
    Examiner(
        "surface",
        "Does the way options are written tell the right one?",
        surface_classifier.surface,
    ),
    # what is not there, and what is there twice
    Examiner("missing_images", "Is every image there?", missing_images.missing_images),
    Examiner("duplicate_images", "Is any image there twice?", missing_images.duplicate_images),
    Examiner("images_elsewhere", "Is an image in another suite?", missing_images.images_elsewhere),
    Examiner("repeated_questions", "Is a question asked twice?", duplicates.repeated_questions),
    Examiner("contradicting_keys", "Has a question two answers?", duplicates.contradicting_keys),
    Examiner("questions_elsewhere", "Does another suite ask it?", duplicates.questions_elsewhere),
    # what models were trained on, where a user says it
    Examiner("training_images", "Were models trained on them?", contamination.training_images),
    Examiner("training_texts", "Were models trained on its words?", contamination.training_texts),
    Examiner(
        "unread_responses",
        "Does a model's place hang on responses that nobody could read?",
        parsing_coverage.unread_finding,
    ),
    Examiner(
        "readings_apart",
        "Are two models in another order as another reading has it?",
        scorer_sensitivity.readings_finding,
    ),
    Examiner(
        "judge_agreement",
        "Does the judge tell right responses from wrong ones?",
        judge_reliability.agreement_finding,
    ),
    Examiner(
        "judge_injections",
        "Does the judge do what a response tells it to do?",
        judge_reliability.injections_finding,
    ),
    Examiner(
        "judge_length",
        "Does the judge call long responses right more often?",
        judge_reliability.length_finding,
    ),
    Examiner(
        "judge_order",
        "Do verdicts change with the order of the options?",
        judge_reliability.order_finding,
    ),
    Examiner(
        "judge_drift",
        "Is the same response judged in two ways, or the judge not what it was?",
        judge_reliability.drift_finding,
    ),
    Examiner(
        "annotators_at_chance",
        "Does anybody of those who made it vote without looking?",
        annotators.agreement_finding,
    ),
    Examiner(
        "annotators_too_fast",
        "Does anybody vote too fast to look?",
        annotators.speed_finding,
    ),
    Examiner(
        "annotators_drift",
        "Does anybody agree with the others less and less?",
        annotators.drift_finding,
    ),
    Examiner(
        "option_orders",
        "Does a model's place hang on the order of the options?",
        position_bias.orders_finding,
    ),
    Examiner("item_statistics", "Do the questions tell models apart?", tells_models_apart),
    Examiner("suspected_keys", "Do models contradict keys?", suspected_keys),
    Examiner("redundant_questions", "Do questions ask the same again?", redundant_questions),
    Examiner("solved_by_some", "Is each question solved by some, not by all?", solved_by_some),
    Examiner("smallest_subset", "How few questions rank models as all do?", smallest_subset),
)


def examined(evidence: Evidence) -> list[AuditRow]:
    """Ask everything of one task."""
    return [_examined(evidence, examiner) for examiner in EXAMINERS]


def _found(evidence: Evidence, examiner: Examiner) -> AuditFinding:
    """Look; what keeps one examination from looking does not keep the others.

    Nor does it pass for that: nobody knows what is in a table that cannot be read.
    """
    try:
        return examiner.examine(evidence)
    except BenchError as why:
        return AuditFinding(passed=False, sentence=f"Could not look: {why}", n=0, skipped=str(why))


def _examined(evidence: Evidence, examiner: Examiner) -> AuditRow:
    found = _found(evidence, examiner)
    suspects = ranked(found.suspects)
    return AuditRow(
        task=evidence.task.name,
        check=examiner.check,
        asks=examiner.asks,
        passed=found.passed,
        sentence=found.sentence,
        n=found.n,
        skipped=found.skipped,
        about=tuple(one.about for one in suspects),
        evidence=tuple(one.evidence for one in suspects),
        weight=tuple(one.weight for one in suspects),
    )
