# ruff: noqa: E501
"""MULTI's scorers side by side, on batteries composed by grammar: ours leads the authors' on each.

The authors' are the product's own restatement of their script (``paper``, ``current``,
``current_end``), which other tests hold to BENCHMARKS 2.3.
"""

from collections.abc import Iterator
from itertools import product
from string import ascii_uppercase

import pytest

from bench_assets.suites.multi.task import TASK
from tests.core.parsing.corpus.grammar import corpus, questions
from tests.suites.multi.rows import answered

AUTHORS = ("paper", "current", "current_end")
OPTIONS = ("鲸鱼", "鲨鱼", "青蛙", "蜥蜴")
JOINERS = (
    *(
        "",
        "、",
        "，",
        ",",
        " ",
        ", ",
        "；",
        ";",
        "和",
        "与",
        "及",
        "以及",
        "+",
        "&",
        " & ",
        " and ",
    ),
    *("\n", "\n- "),
)
WRAPPERS = (
    *(
        "@",
        "@。",
        "(@)",
        "（@）",
        "【@】",
        "“@”",
        "**@**",
        "`@`",
        "$@$",
        "\\boxed{@}",
        "$\\boxed{\\text{@}}$",
    ),
    *(
        "答案：@",
        "答案是@",
        "答案为@。",
        "【答案】@",
        "正确答案：@",
        "正确选项是@。",
        "选@",
        "故选@。",
        "应选@",
        "所以选@。",
    ),
    *(
        "<answer>@</answer>",
        "<think>先看A，再看C。</think>@",
        "综上，答案是@。",
        "因此，正确的选项是@。",
        "最终答案：**@**",
    ),
    *("Answer: @", "The answer is @.", "The correct options are @."),
)
# Frozen before anything was read with them.
LATER_JOINERS = ("、 ", " 、", "，以及", "、和", " + ", "  ")
LATER_WRAPPERS = (
    *(
        "本题选择@。",
        "我的答案：@",
        "## 答案\n@",
        '{"答案": "@"}',
        "答：@",
        "答案（@）",
        "选择：@",
        "正解：@",
    ),
    *(
        "结果是@",
        "✅ @",
        "答案→@",
        "正确的是@。",
        "符合题意的是@。",
        "选项@正确。",
        "@是正确的。",
        "@均正确。",
    ),
)
LATER_STEMS = (
    "@STEM应选@N。", "@STEM的选项是@N。", "在四个选项中，@STEM是@N。", "可见@STEM是@N。", "@STEM当然是@N。",
    "本题问@STEM，答案是@N。", "题目要求找出@STEM，即@N。", "@N符合“@STEM”这一要求。", "@STEM就是@N。",
    "@STEM无疑是@N。", "符合“@STEM”的是@N。", "要找@STEM，选@N。", "综上，@STEM是@N。",
)  # fmt: skip
STEMS = (
    "@STEM是@N。", "@STEM为@N。", "@STEM是选项@N。", "因此@STEM是@N。", "所以，@STEM应该是@N。",
    "由题意可知，@STEM是@N。", "@STEM：@N", "应填@N", "横线上应填@N。", "空格处填@N。",
    "@STEM只有@N。", "选项中@STEM是@N。", "经判断，@STEM是@N。", "@N是@STEM。", "@W 故@STEM是@N。",
)  # fmt: skip


def texted(stem, options):
    lines = "\n".join(f"{a}. {text}" for a, text in zip(ascii_uppercase, options, strict=False))
    return f"{stem}[MASK]\n{lines}"


def chinese_styles() -> Iterator[tuple[str, str, str, str]]:
    """The corpus' Chinese choices: text of the question, kind, right letters, response."""
    for file in ("held_out", "held_out_today"):
        for one in corpus(file):
            if one.language == "zh" and one.kind in ("choice", "choices") and one.expected:
                kind = "SA" if one.kind == "choice" else "MA"
                yield texted(one.stem, one.options), kind, "".join(one.expected), one.response


def joiners_and_wrappers(
    joiners=(*JOINERS, *LATER_JOINERS), wrappers=(*WRAPPERS, *LATER_WRAPPERS)
) -> Iterator[tuple[str, str, str, str]]:
    """Several letters, joined and wrapped."""
    for letters, joiner, wrapper in product(("AC", "BCD"), joiners, wrappers):
        if "\n" in joiner and wrapper != "@":
            continue
        said = wrapper.replace("@", joiner.join(letters))
        yield texted("下列正确的有", OPTIONS), "MA", letters, said


def restated_stems(stems=(*STEMS, *LATER_STEMS)) -> Iterator[tuple[str, str, str, str]]:
    """The question as the subject of a sentence, with a letter or an option's text."""
    asked = [one for one in questions() if one.language == "zh"]
    for one, form, n in product(asked, stems, range(3)):
        letter = ascii_uppercase[n]
        for name in (letter, f"{letter}项", f"{letter}. {one.options[n]}", one.options[n]):
            said = form.replace("@STEM", one.stem).replace("@W", one.reasons[0])
            yield texted(one.stem, one.options), "SA", letter, said.replace("@N", name)


BATTERIES = [chinese_styles, joiners_and_wrappers, restated_stems]


def points(battery, scorer):
    """Points over the most points, and how many responses are misread and not read."""
    got = most = wrong = unread = n = 0
    for text, kind, gold, response in battery():
        one = answered(response, kind, gold, text=text)
        score = TASK.scorer(scorer)(one, [])
        n, got, most = n + 1, got + score.points, most + score.max_points
        if set(score.answer) != set(gold):
            wrong, unread = wrong + bool(score.answer), unread + (not score.answer)
    return got / most, wrong / n, unread / n, n


@pytest.mark.parametrize("battery", BATTERIES)
def test_our_scorer_leads_the_authors_and_meets_the_bounds(battery):
    ours, wrong, unread, n = points(battery, "careful")
    assert n > 400
    assert all(points(battery, scorer)[0] < ours for scorer in AUTHORS)
    assert wrong < 0.003
    assert unread < 0.02
