"""Everyday styles of short answers: how often our reading and the authors' rules differ."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from bench_assets.core.metrics import official_rules, short_answers
from tests.fakes.rows import question

STYLES = (
    *("{}", "{}.", "The answer is {}.", "Answer: {}", "**{}**", "{} (approximately)"),
    *("It is {}.", '"{}"', " {} ", "The final answer is: {}"),
)
"""Sentences in which models give a short answer."""

_NUMBERS = ("23", "0.25", "25%", "1,234", "1200", "-3.5", "7", "1990", "12.5", "100")
_WORDS = ("Yes", "No", "blue", "New York", "Italy")


class Rule(NamedTuple):
    """A rule of authors beside our reading."""

    title: str
    ours: Callable[[str, Sequence[str]], float]
    official: Callable[..., float]
    keys: tuple[str, ...]
    n_people: int = 1  # who gave the key; if several, one more gave another answer


_RULES = (
    Rule("ChartQA", short_answers.relaxed_match, official_rules.chartqa, (*_NUMBERS, *_WORDS)),
    Rule("DocVQA", short_answers.anls, official_rules.docvqa, (*_NUMBERS[:4], *_WORDS)),
    Rule("VQA", short_answers.vqa_accuracy, official_rules.vqa, (*_NUMBERS[:4], *_WORDS), 9),
)


def style_lines() -> Iterator[str]:
    """A line for each rule: the number of right answers that it scores differently from us."""
    for rule in _RULES:
        pairs = [(style.format(key), key) for key in rule.keys for style in STYLES]
        n_differing = sum(_differs(rule, response, key) for response, key in pairs)
        yield f"| {rule.title} | {n_differing} of {len(pairs)} |"


def _differs(rule: Rule, response: str, key: str) -> bool:
    references = (key,) if rule.n_people == 1 else ((key,) * rule.n_people + ("another",))
    example = question(kind="text", answer=references)
    return abs(rule.ours(response, references) - rule.official(response, example)) > 1e-9
