"""What the judges of MCOT and multi-image VQA read (section 4.1).

The paper's appendix with the prompts is not at hand, and the texts in the authors' repository may
not be copied. The wording is ours; the steps and every rule are those of their scripts
answer_verification.py and solution_verification.py.
"""

from bench_assets.core.chat import Prompt
from bench_assets.core.rows import Question

UNKNOWN = "unknown"
"""What the judge writes in the place of a number that is not there."""

NO_NUMBER = (
    'That is not what was asked for. Print the final number in digits, or "unknown", and nothing '
    "else."
)
NO_VERDICT = 'That is not what was asked for. Print "yes" or "no", and nothing else.'
"""What a judge is told whose verdict cannot be read."""

_EXTRACT = """\
Question: {question}

Solution:
{solution}

An AI model wrote this solution. Find the final numeric answer in it. If it is not written as a \
number, infer it where you can. If there is none, the answer is "unknown". Print the number or \
"unknown", and nothing else."""

_VERIFY = """\
Question: {question}

Predicted answer: {predicted}

Ground truth answer: {answer}

Is the predicted answer an answer to the question that agrees with the ground truth? Numbers agree \
if they differ by at most 0.1. Print "yes" or "no", and nothing else."""

_VERIFY_SOLUTION = """\
Question: {question}

Predicted solution:
{solution}

Ground truth solution:
{truth}

Does the predicted solution take the same approach as the ground truth and come to the right \
result? Print "yes" if it does, "no" if it differs much or comes to a wrong result, and nothing \
else."""


def extract(question: Question, solution: str) -> Prompt:
    """Ask for the number that a solution ends in, or "unknown"."""
    return Prompt.of(
        _EXTRACT.format(question=question.text, solution=solution),
        system="You extract numeric answers from solutions.",
    )


def verify(question: Question, predicted: str) -> Prompt:
    """Ask whether an extracted answer agrees with the ground truth, all of whose forms it sees."""
    return Prompt.of(
        _VERIFY.format(
            question=question.text, predicted=predicted, answer="; ".join(question.answer)
        ),
        system="You verify predicted answers against the ground truth.",
    )


def verify_solution(question: Question, solution: str, truth: str) -> Prompt:
    """Ask whether a solution goes the way of the true one."""
    return Prompt.of(
        _VERIFY_SOLUTION.format(question=question.text, solution=solution, truth=truth),
        system="You compare the reasoning steps of two solutions.",
    )
