"""The page about reading answers, generated from the rules.

``python -m tests.docs.parser_page`` writes docs/parser.md.
"""

from collections.abc import Iterator
from typing import Any

from bench_assets.core.reading.rules import tables
from tests.docs.blocks import CHECKOUT

PAGE = CHECKOUT / "docs" / "parser.md"
_TOP = """\
# Parser

The rules in `bench_assets/core/reading/rules.toml` read answers (letters of options, numbers, yes or no, blanks) and judges' verdicts.
A response in which they find no answer is *unread*. [Measurements](parser-measured.md) show how they read responses of real models.

1. Rules of the class *cuts* remove text that is not part of the response.
2. *Explicit* rules read stated answers. If they find several, the last one in the text counts. If the last is clearly meant as the answer but cannot be read, the response is unread. If the stated answers differ, the reading is `disputed`.
3. If no explicit rule matches, *named* rules read a response that only names an option or a result. Metrics include the share of such responses.

```python run
from bench_assets.core.reading.choices import read_choice

reading = read_choice("Both are old. The answer is (B).", ("left", "right"))
print(reading.value, reading.form, reading.evidence, reading.named)
```

This prints the letter, the name of the rule, the position of the text that was read, and whether the answer is only named: `B statement (28, 31) False`.

This page is generated from the rules (`python -m tests.docs.parser_page`). In the examples, ⏎ is a line break.

"""  # noqa: E501
_LANGUAGES = """
## Languages

The rules support {n} languages: {names}. Each is a line in `rules.toml`, for example:

```text
{line}
```
"""
_CLASSES = {"scope": "cuts", "end": "cuts"}  # of rules that read no answer


def page() -> str:
    return "".join([_TOP, *_rules(), _languages()])


def _rules() -> Iterator[str]:
    yield "|rule|class|meaning|response|read as|\n|---|---|---|---|---|\n"
    for rule in tables()["rule"]:
        reading_class = "named" if rule.get("named") else "explicit"
        rule_class = _CLASSES.get(rule["reads"], reading_class)
        cells = [rule["name"], rule_class, rule["meaning"], *_example(rule["yes"])]
        yield f"|{'|'.join(cells)}|\n"


def _example(examples: list[dict[str, Any]]) -> tuple[str, str]:
    """The first example as one line of code, and what is read in it."""
    text = examples[0]["text"].replace("\n", "⏎").replace("|", "\\|")
    value = examples[0]["value"]
    if isinstance(value, float):
        value = f"{value:g}"
    mark = "````" if "`" in text else "``"
    space = " " if "`" in text else ""
    code = f"{mark}{space}{text}{space}{mark}"
    return code, ", ".join(value) if isinstance(value, list) else value


def _languages() -> str:
    """The section about languages, with German as the example."""
    languages = tables()["languages"]
    names = ", ".join(name.capitalize() for name in languages)
    fields = ", ".join(f'{name} = "{words}"' for name, words in languages["german"].items())
    return _LANGUAGES.format(n=len(languages), names=names, line=f"german = {{ {fields} }}")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
