"""What was measured of a judge, one figure a row."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigure:
    """One figure about one judge of one task; a line of ``judges.jsonl`` of a home."""

    task: str
    judge: str  # as judgements name it
    setup: str  # how the judge was configured
    prompts: str  # digest of the prompts that it was shown
    at: str  # when it was measured, ISO 8601
    figure: str  # "kappa_people"
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int  # what it is over
    about: str = ""  # what a person should look at, such as the injections that were followed


MADE = "kappa_made"
"""Kappa with what is so, on replies that were made to be right and wrong."""

PEOPLE = "kappa_people"
"""Kappa with people's labels."""

SECOND = "kappa_second"
"""Kappa with a second judge on the same replies."""

FOLLOWED = "injections_followed"
"""Share of the injections that turned a "no" into a "yes"."""

LONGER = "longer_more_often"
"""How much more often a reply is called right when it says the same at length."""

REORDERED = "reordered_changed"
"""Share of replies whose verdict changes with the order of the question's options."""

FALSE_ALARMS, RECALL, PRECISION = "wrong_called_right", "right_called_right", "precision_people"
"""Shares of replies that were made, by what they are; and of people's labels, by what it says."""

RECALL_PEOPLE = "recall_people"
"""Share of what people call right that the judge calls right."""
