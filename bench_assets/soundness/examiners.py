"""Everything that is asked of a benchmark, in the order in which it is told."""

from collections.abc import Callable
from typing import NamedTuple

from bench_assets.core.errors import BenchError
from bench_assets.soundness import (
    annotators,
    blind,
    extraction,
    files,
    judges,
    keys,
    leaks,
    orders,
    overlap,
    pictures,
    readings,
    repeats,
    surface,
)
from bench_assets.soundness.evidence import Evidence
from bench_assets.soundness.examined import Examined, Finding, ranked
from bench_assets.soundness.items import solved_by_some, tells_models_apart
from bench_assets.soundness.redundant import redundant_questions
from bench_assets.soundness.subset import smallest_subset
from bench_assets.soundness.suspected_keys import suspected_keys


class Examiner(NamedTuple):
    """One thing that is asked of a benchmark."""

    check: str  # its name in tables and in the UI: "duplicate_pictures"
    asks: str  # the same for people: "Is any picture there twice?"
    examine: Callable[[Evidence], Finding]


EXAMINERS: tuple[Examiner, ...] = (
    Examiner("needs_pictures", "Does it need its pictures?", blind.needs_pictures),
    # the key gives itself away
    Examiner("one_answer", "Is one letter, or one answer, right too often?", keys.one_answer),
    Examiner("lengths", "Is the longest or the shortest option right too often?", keys.lengths),
    Examiner("numbers", "Is the largest, smallest or middle number right?", keys.numbers),
    Examiner("row_order", "Does the order of the rows tell the key?", keys.row_order),
    Examiner("answer_in_question", "Does a question hold its answer?", leaks.answer_in_question),
    Examiner("file_names", "Does the name of a picture tell the answer?", leaks.file_names),
    Examiner("picture_files", "Do sizes of pictures tell the answer?", files.picture_files),
    Examiner("surface", "Does the way options are written tell the right one?", surface.surface),
    # what is not there, and what is there twice
    Examiner("missing_pictures", "Is every picture there?", pictures.missing_pictures),
    Examiner("duplicate_pictures", "Is any picture there twice?", pictures.duplicate_pictures),
    Examiner("pictures_elsewhere", "Is a picture in another suite?", pictures.pictures_elsewhere),
    Examiner("repeated_questions", "Is a question asked twice?", repeats.repeated_questions),
    Examiner("contradicting_keys", "Has a question two answers?", repeats.contradicting_keys),
    Examiner("questions_elsewhere", "Does another suite ask it?", repeats.questions_elsewhere),
    # what models were trained on, where a user says it
    Examiner("training_pictures", "Were models trained on them?", overlap.training_pictures),
    Examiner("training_texts", "Were models trained on its words?", overlap.training_texts),
    Examiner(
        "unread_replies",
        "Does a model's place hang on replies that nobody could read?",
        extraction.unread_finding,
    ),
    Examiner(
        "readings_apart",
        "Are two models in another order as another reading has it?",
        readings.readings_finding,
    ),
    Examiner(
        "judge_agreement",
        "Does the judge tell right replies from wrong ones?",
        judges.agreement_finding,
    ),
    Examiner(
        "judge_injections",
        "Does the judge do what a reply tells it to do?",
        judges.injections_finding,
    ),
    Examiner(
        "judge_length",
        "Does the judge call long replies right more often?",
        judges.length_finding,
    ),
    Examiner(
        "judge_order",
        "Do verdicts change with the order of the options?",
        judges.order_finding,
    ),
    Examiner(
        "judge_drift",
        "Is the same reply judged in two ways, or the judge not what it was?",
        judges.drift_finding,
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
        orders.orders_finding,
    ),
    Examiner("item_statistics", "Do the questions tell models apart?", tells_models_apart),
    Examiner("suspected_keys", "Do models contradict keys?", suspected_keys),
    Examiner("redundant_questions", "Do questions ask the same again?", redundant_questions),
    Examiner("solved_by_some", "Is each question solved by some, not by all?", solved_by_some),
    Examiner("smallest_subset", "How few questions rank models as all do?", smallest_subset),
)


def examined(evidence: Evidence) -> list[Examined]:
    """Ask everything of one task."""
    return [_examined(evidence, examiner) for examiner in EXAMINERS]


def _found(evidence: Evidence, examiner: Examiner) -> Finding:
    """Look; what keeps one examination from looking does not keep the others.

    Nor does it pass for that: nobody knows what is in a table that cannot be read.
    """
    try:
        return examiner.examine(evidence)
    except BenchError as why:
        return Finding(passed=False, sentence=f"Could not look: {why}", n=0, skipped=str(why))


def _examined(evidence: Evidence, examiner: Examiner) -> Examined:
    found = _found(evidence, examiner)
    suspects = ranked(found.suspects)
    return Examined(
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
