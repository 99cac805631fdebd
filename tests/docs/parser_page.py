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

The rules of `bench_assets/core/reading/rules.toml` read answers; this page is generated from them (`python -m tests.docs.parser_page`).
A response that no rule reads is *unread*. Another page has [measurements](parser-measured.md) on responses of real models.

1. Rules of the class *cuts* remove text that is not part of the response.
2. *Explicit* rules read stated answers. If several match, the last one in the text counts; if they differ, the reading is `disputed`.
3. If no explicit rule matches, *named* rules read a response that names one option only, or a result. Such readings are marked `named`, and counted separately.

```python run
from bench_assets.core.reading.choices import read_choice

reading = read_choice("Both are old. The answer is (B).", ("left", "right"))
print(reading.value, reading.form, reading.evidence, reading.named)
```

Keys are read by the same rules. If the rules do not read a key as itself, its row is rejected with the reason.

"""  # noqa: E501
_LANGUAGES = """
## Languages

Each of {n} languages is one line of plain words:

```text
{line}
```
"""
_CLASSES = {"scope": "cuts", "end": "cuts"}  # of rules that read no answer


def page() -> str:
    """The text of the page."""
    return "".join([_TOP, *_rules(), _languages()])


def _rules() -> Iterator[str]:
    """Lines of the table of rules."""
    yield "|rule|class|meaning|example|\n|---|---|---|---|\n"
    for rule in tables()["rule"]:
        reading_class = "named" if rule.get("named") else "explicit"
        rule_class = _CLASSES.get(rule["reads"], reading_class)
        cells = [rule["name"], rule_class, rule["meaning"], _example(rule["yes"])]
        yield f"|{'|'.join(cells)}|\n"


def _example(examples: list[dict[str, Any]]) -> str:
    """The first example, as one line of code."""
    text = examples[0]["text"].replace("\n", "⏎").replace("|", "\\|")
    return f"``{text}``"


def _languages() -> str:
    """The section about languages, with German as the example."""
    languages = tables()["languages"]
    fields = ", ".join(f'{name} = "{words}"' for name, words in languages["german"].items())
    return _LANGUAGES.format(n=len(languages), line=f"german = {{ {fields} }}")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
