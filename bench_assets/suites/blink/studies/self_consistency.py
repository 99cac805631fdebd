"""Self-consistency: the answer that most of several runs agree on (appendix C.3)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bench_assets.core.schema.rows import Question, Score


def majority_votes(questions: Iterable[Question], scores: Iterable[Score]) -> list[Score]:
    """Take one vote on each question: the answer that was read most often in its runs.

    Runs without an answer do not vote, and where none votes the answer is wrong. Of two answers
    with as many votes, the one that came first counts. A question with a run that could not be
    scored is unscored: with that run the vote might be another.
    """
    right = {question.question_id: question.answer for question in questions}
    runs: dict[str, list[Score]] = defaultdict(list)
    for score in sorted(scores, key=lambda one: one.sample):
        runs[score.question_id].append(score)
    return [_vote(of_question, right[name]) for name, of_question in runs.items()]


def _vote(runs: Sequence[Score], right: tuple[str, ...]) -> Score:
    votes = Counter(run.answer for run in runs if run.answer)
    answer = max(votes, key=votes.__getitem__, default=())
    note = ", ".join(f"{'/'.join(said)}: {n}" for said, n in votes.items()) or "no votes"
    unscored = [run for run in runs if run.points is None]
    if unscored:
        return replace(unscored[0], sample=0, answer=(), note=f"a run is unscored; {note}")
    return replace(runs[0], points=float(answer == right), answer=answer, note=note)
