"""Rules of reading: ``rules.toml``, compiled."""

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["choice", "choices", "number", "yes_no", "verdict", "grade", "blanks"]
"""Kind of answer that is read."""
Cut: TypeAlias = Literal["end", "scope"]
"""What a rule cuts off: the text after the response, or around its answer."""
Extent: TypeAlias = Literal["end", "scope", "answer", "opening", "mention", "words"]
"""How much of a captured text must be an answer; ``rules.toml`` explains them."""

RULES_FILE = Path(__file__).with_name("rules.toml")


@dataclass(frozen=True, slots=True)
class Rule:
    """Where an answer stands: the group ``answer`` of a pattern."""

    name: str
    pattern: re.Pattern[str]
    reads: Extent
    kinds: tuple[Kind | Cut, ...]
    named: bool  # finds only that one option is named, not that it is stated as the answer
    blocks: bool  # the captured text is meant as the answer, even if it cannot be read
    unless: re.Pattern[str] | None


@cache
def tables() -> dict[str, Any]:
    """The file of rules, uncompiled: parts, languages, rules with their examples."""
    return tomllib.loads(RULES_FILE.read_text(encoding="utf-8"))


@cache
def rule_names() -> frozenset[str]:
    """Names of all rules: the forms of readings."""
    return frozenset(rule.name for rule in _rules())


@cache
def rules_of(kind: Kind | Cut) -> tuple[Rule, ...]:
    """Rules that read one kind of answer, or that cut, in the order of the file."""
    return tuple(rule for rule in _rules() if kind in rule.kinds)


@cache
def part(name: str) -> re.Pattern[str]:
    """One of the file's parts as a pattern."""
    return re.compile(_expand(f"{{{name}}}"))


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(
        Rule(
            name=rule["name"],
            pattern=re.compile(_expand(rule["pattern"])),
            reads=rule["reads"],
            kinds=tuple(rule.get("kinds", (rule["reads"],))),
            named=rule.get("named", False),
            blocks=rule.get("blocks", False),
            unless=re.compile(_expand(rule["unless"])) if "unless" in rule else None,
        )
        for rule in tables()["rule"]
    )


@cache
def _substitutes() -> dict[str, str]:
    """Texts by their names in braces: the parts, and the words of all languages by field.

    Words are written out in lower and upper case: ``re`` finds literals far faster than in any
    case. The longest is tried first.
    """
    words = defaultdict[str, set[str]](set)
    for language in tables()["languages"].values():
        for field, alternatives in language.items():
            for word in alternatives.split("|"):
                words[field] |= {word, word.capitalize(), word.upper()}
    patterns = {
        field: "|".join(map(_whole_word, sorted(forms, key=lambda form: (-len(form), form))))
        for field, forms in words.items()
    }
    return {**tables()["parts"], **patterns}


def _whole_word(text: str) -> str:
    """Pattern of a word without letters beside it, where these have cases: no "is" in "island"."""
    literal = re.escape(text)
    before = rf"(?<![^\W\d_]{literal})" if text[0].lower() != text[0].upper() else ""
    after = r"(?![^\W\d_])" if text[-1].lower() != text[-1].upper() else ""
    return f"{literal}{before}{after}"


def _expand(pattern: str) -> str:
    """Replace names in braces, also those in their substitutes."""
    return re.sub(r"\{([a-z_]+)\}", lambda match: _expand(_substitutes()[match[1]]), pattern)
