"""The authors' rules for the option a reply chooses, in their order (appendix A.3)."""

from collections.abc import Sequence

_LETTERS = ("A", "B", "C", "D", "E")
OPTIONS = tuple(f"({letter})" for letter in _LETTERS)
"""What the authors' rules can read, and the only replies of a judge that count."""


def official_option(reply: str, n_options: int) -> str | None:
    r"""Read an option by the rules of the authors' ``analyze_answer``, or None: ask the judge.

    1. The whole reply is a letter from A to E, offered or not; blanks around it do not count as
       whole.
    2. The whole reply is such a letter in brackets.
    3. Exactly one offered letter in brackets stands by itself, between blanks, in the last
       paragraph; else, in the whole reply. "(A)." and "A" are not found.

    >>> official_option("B", 2), official_option("(E)", 2), official_option("It is (A) left", 2)
    ('(B)', '(E)', '(A)')
    >>> official_option("(A) or (B)?\n\nThe answer is (B) right", 2), official_option(" B", 2)
    ('(B)', None)
    """
    if reply in _LETTERS:
        return f"({reply})"
    if reply in OPTIONS:
        return reply
    offered = OPTIONS[:n_options]
    last = _standing_alone(reply.rsplit("\n\n", maxsplit=1)[-1], offered)
    whole = _standing_alone(reply, offered)
    if len(last) == 1:
        return last.pop()
    return whole.pop() if len(whole) == 1 else None


def _standing_alone(text: str, offered: Sequence[str]) -> set[str]:
    return set(offered) & set(text.split())
