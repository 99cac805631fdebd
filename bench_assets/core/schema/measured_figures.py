"""Measured figures of readers, and units drawn for people, as a home stores them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigure:
    """A measured figure of a reader on a task; a line of the home's ``judges.jsonl``."""

    task: str
    judge: str  # as in judgements
    setup: str  # configuration of the judge
    prompts: str  # digest of its prompts
    at: str  # ISO 8601
    figure: str  # ``NULL_FOREIGN`` or ``NULL_HALVED``
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int


NULL_FOREIGN, NULL_HALVED = "null_foreign", "null_halved"
"""Shares of responses to other questions, and of halved ones, in which a reader finds no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnUnit:
    """A unit of a metric that was drawn for people; a line of the home's ``draws.jsonl``.

    Attributes:
        model: Whose responses people judge.
        unit: Its name: a question, or a pair of questions.
        questions: Questions of the unit, joined by ``unit_id``.
        judge: The judge whose verdicts were the strata.
        stratum: Its verdicts on all models of the draw: "yes no".
        probability: Of being drawn: the drawn share of the stratum.
        digest: Of the questions, keys and responses as people see them.
        at: ISO 8601, UTC; units with one time are one draw.
    """

    task: str
    model: str
    unit: str
    questions: str
    judge: str
    stratum: str
    probability: float
    digest: str
    at: str
