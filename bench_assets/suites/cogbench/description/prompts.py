"""Every text a model reads in the description task: section 3.3 and Figures 8 and 9, word for word.

As in the authors' code, a figure's text before the description is the system prompt, and the rest
is the user's turn. Line breaks are those of the code.
"""

from collections.abc import Sequence

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question

NO_VERDICT = (
    "That is not what was asked for. Write one verdict for each number in the list, 0 or 1 in "
    "square brackets after the number, and nothing else."
)
"""Complaint about unreadable verdicts; the wording is ours."""

_KEY_POINTS = """\
Given a <DESCRIPTION> and some <KEY POINT>s, please tell me if the <DESCRIPTION> explicitly \
presents the exact or similar semantics of each <KEY POINT>. The following points are required:

1) Instead of reasoning about whether each <KEY POINT> is possibly correct based on the \
<DESCRIPTION>, you only need to determine whether the <DESCRIPTION> mentions the semantics in the \
<KEY POINT>.
2) Do not overlook the semantics in the <DESCRIPTION> that are semantically equivalent to the \
<KEY POINT> but expressed in different ways. For instance, if the <DESCRIPTION> mentions "The \
woman is playing with her son...", we can tell it successfully includes semantics in the \
<KEY POINT> "The woman is the mother of the boy."
3) If several possible scenarios are listed using 'or' at a <KEY POINT>, you only need to \
determine whether one of these scenarios is mentioned in the <DESCRIPTION>.

Assign a score of 0 or 1 to each <KEY POINT>, where 0 represents NO and 1 represents YES."""

_EVENT_RELATIONSHIPS = """\
Given a <DESCRIPTION> and some <EVENT RELATIONSHIP>s, please tell me whether this <DESCRIPTION> \
clearly depicts the cause-and-effect relationships between events.

The format of a <EVENT RELATIONSHIP> follows the structure "A1 + A2 + ... + An -> B", where A1, \
A2, ..., An and B are events. Events A1, A2, ..., An are the causes of event B, and event B is \
the result caused by events A1, A2, ..., An. The criteria for judgment lie in whether the \
<DESCRIPTION> mentions these events and clearly depicts the causal relationships between them.

Assign a score of 0 or 1 to each <EVENT RELATIONSHIP>, where 0 represents NO and 1 represents \
YES."""

EXAMPLE = "(number + square brackets):\n1. [1]  2. [0]"
"""How verdicts are written; a judge that repeats it gives none."""

_POINTS_TEMPLATE = """\
<DESCRIPTION>:
{description}

<{label}>:
{numbered}

Please write your answers in "[ ]" with 0 or 1 in the following format {example}
Your answers to the {n} <{label}>(s) above:
{blanks}"""


def main(question: Question) -> Prompt:
    """Ask for a description in detail (section 3.3)."""
    return Prompt.of(*map(Image, question.images), question.text)


def judge_key_points(description: str, points: Sequence[str]) -> Prompt:
    """Ask which conclusions a description mentions (Figure 8)."""
    return Prompt.of(_format_points("KEY POINT", description, points), system=_KEY_POINTS)


def judge_event_relationships(description: str, chains: Sequence[str]) -> Prompt:
    """Ask which chains of cause and effect a description depicts (Figure 9)."""
    return Prompt.of(
        _format_points("EVENT RELATIONSHIP", description, chains), system=_EVENT_RELATIONSHIPS
    )


def _format_points(label: str, description: str, texts: Sequence[str]) -> str:
    return _POINTS_TEMPLATE.format(
        label=label,
        example=EXAMPLE,
        description=description,
        numbered="\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1)),
        n=len(texts),
        blanks="  ".join(f"{number}. [ ]" for number in range(1, len(texts) + 1)),
    )
