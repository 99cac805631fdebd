"""Figures of readers and option permutations, and units drawn for people, as a home stores them."""

from dataclasses import dataclass
from math import nan


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
    about: str = ""


NULL_FOREIGN, NULL_HALVED = "null_foreign", "null_halved"
"""Shares of responses to other questions, and of halved ones, in which a reader finds no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFigure:
    """A measured figure of option permutations; a line of the home's ``orders.jsonl``."""

    task: str
    model: str
    setup: str  # configuration of model and judge
    data: str  # digest of the questions, as in signatures
    orders: int  # per question; 0: one per option
    at: str  # ISO 8601
    figure: str
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int  # questions
    n_unscored: int = 0  # questions with an unscored response, or one that names no option
    expected: float = nan  # without position bias; NaN: unknown
    p: float = nan  # two-sided p-value of the deviation; NaN: not tested


CIRCULAR = "circular"
"""Share of questions that are answered right in every order."""

ALL_ORDERS = "all_orders"
"""Share of points over all orders."""

CONSISTENCY = "consistent"
"""Share of questions with the same option chosen in every order."""

PUBLISHED_ORDER_GAIN = "published_order_gains"
"""Share of points in the benchmark's order minus that in the other orders."""

ORDER = "order_"
"""Share of points in one order: ``order_1`` is the benchmark's."""

LETTER = "letter_"
"""Share of responses that choose a letter: ``letter_A``."""


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
