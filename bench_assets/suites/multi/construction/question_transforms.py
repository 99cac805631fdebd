"""The four transformations of section 3.2 that rules can make, and the forms with proven gold.

Each rule makes a proposal, ``undo_...`` verifies that it is reversible, and ``proof_of_...`` names
the form of the whitelist that proves the new gold, or "". A proposal without a proof is not applied
until annotators or solvers confirm its gold (see ``transformations``).
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from string import ascii_lowercase, ascii_uppercase

from bench_assets.suites.multi.construction.item_checks import MASK, MAX_OPTIONS
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from bench_assets.suites.multi.dataset.source import MultiItem

CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬"
_CIRCLED_RUN = re.compile(rf"[{CIRCLED}](?:[、和与及,，\s]*[{CIRCLED}])*")
# Not separated by commas: 3,4,5 and 1,200 are one element each.
_NUMBER_RUN = re.compile(r"\d{1,2}(?:\s*[和与及]\s*\d{1,2})+|\d{1,2}")
_STATEMENT = re.compile(rf"([{CIRCLED}])([^{CIRCLED}]+)")
_UNARY = (
    "质数|合数|偶数|奇数|整数|无理数|有理数|正数|负数|自然数|轴对称图形|中心对称图形|化学变化|"
    "物理变化|氧化物|单质|化合物|混合物|纯净物|矢量|标量|可再生能源|不可再生能源|哺乳动物|"
    "两栖动物|爬行动物|鸟类|鱼类|昆虫|直辖市|唐代诗人|宋代词人|导体|绝缘体|晶体|非晶体|"
    "金属元素|非金属元素"
)
_KIND = rf"不?(?:属于|是)(?:{_UNARY})"
_SYMBOLS = {
    **{"氢": "H", "氦": "He", "碳": "C", "氮": "N", "氧": "O", "氟": "F", "氖": "Ne", "钠": "Na"},
    **{"镁": "Mg", "铝": "Al", "硅": "Si", "磷": "P", "硫": "S", "氯": "Cl", "氩": "Ar", "钾": "K"},
    **{"钙": "Ca", "锰": "Mn", "铁": "Fe", "铜": "Cu", "锌": "Zn", "银": "Ag", "碘": "I"},
    **{"钡": "Ba", "金": "Au", "汞": "Hg", "铅": "Pb"},
}
_ELEMENT = f"[{''.join(_SYMBOLS)}]"
_NAME = (  # things whose kind does not depend on context, unlike "spouse", "the former", "x"
    rf"(?:{_ELEMENT}|鲸|海豚|蝙蝠|猫|狗|牛|羊|马|虎|兔|麻雀|鸽子|鹰|企鹅|鸵鸟|蛇|龟|鳄鱼|青蛙|蟾蜍|鲨鱼|鲤鱼|金鱼|"
    r"蝴蝶|蜜蜂|蚂蚁|水|冰|海水|空气|氧气|氮气|氢气|二氧化碳|食盐|蔗糖|酒精|牛奶|玻璃|橡胶|石墨|金刚石|石蜡|松香|"
    r"石油|煤|天然气|太阳能|风能|水能|核能|地热能|潮汐能|位移|路程|速度|速率|加速度|力|质量|时间|温度|"
    r"圆|正方形|长方形|矩形|菱形|梯形|(?:一般的)?平行四边形|等边三角形|等腰三角形|铁生锈|纸燃烧|木炭燃烧|食物腐败|冰熔化|水沸腾|酒精挥发|"
    r"北京|天津|上海|重庆|广州|深圳|南京|成都|西安|武汉|杭州|李白|杜甫|白居易|王维|李商隐|杜牧|苏轼|陆游|柳永|李清照|辛弃疾|"
    r"\$?-?(?:\d+(?:\.\d+)?|π|\d+[×÷]\d+)\$?|\$\\sqrt\{\d+\}\$)"
)
_CLAIM_NOUN = "(?:说法|叙述|描述|判断|结论|表述|命题|观点|语句)"
_KIND_NOUN = "(?:数|物质|图形|变化|能源|动物|元素|城市|诗人|材料|物理量)"
_LISTED = "(?:下列|以下|下面|其中)?"
_CLAIMS = re.compile(
    rf"{_LISTED}{_CLAIM_NOUN}中?[，,]?(?:不?正确|错误)的(?:是|有)[:：]?\s*\[MASK\]"
)
_MEMBERS = re.compile(rf"{_LISTED}各?{_KIND_NOUN}?[中里]?[，,]?{_KIND}的(?:是|有)[:：]?\s*\[MASK\]")
_INTRODUCED = rf"\s*(?:有|下列|以下|有下列)?各?(?:{_CLAIM_NOUN}|{_KIND_NOUN})?[:：]?\s*"

_NEGATIONS = (("正确的是[MASK]", "不正确的是[MASK]"), ("是[MASK]", "不是[MASK]"))
_NEGATIVE = re.compile(r"不|没|无|非|未|错误|除了|有误")
# "可能不是" is not the complement of "可能是", and "于是" is not "是".
_NO_NEGATION = re.compile(
    r"(?:可能|一定|必然|必须|应该?|至少|只|仅|通常|往往|于|还|但|凡|(?<!首)都|也|就|像|要)是\[MASK\]"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OTHER_OPTIONS = re.compile(
    r"以上|上述|前[两三]项|其[他它]|[都均皆][不是对正错有]|[两二三]者|[A-M][、和与及]\s*[A-M]"
    r"|\b(?:all|none|both|neither) of\b",
    re.IGNORECASE,
)
_NEEDS_OPTIONS = re.compile(r"下列|以下|下面|选项|哪|[一几]项|有误|正确|错误")
_PARALLEL = re.compile(r"\[MASK\](?:[、和与及]\[MASK\])+")
_CAPITALS = {
    **{"中国": "北京", "日本": "东京", "韩国": "首尔", "印度": "新德里", "泰国": "曼谷"},
    **{"英国": "伦敦", "法国": "巴黎", "德国": "柏林", "意大利": "罗马", "西班牙": "马德里"},
    **{"俄罗斯": "莫斯科", "美国": "华盛顿", "加拿大": "渥太华", "巴西": "巴西利亚"},
    "埃及": "开罗",
}
_COUNTRY = f"({'|'.join(_CAPITALS)})"
_TWO_BLANKS = r"(?:分别|依次)?[是为]\[MASK\][、和与]\[MASK\][。.]?"
_NAMED_BLANKS = (
    (re.compile(rf"({_ELEMENT})[和与]({_ELEMENT})的元素符号{_TWO_BLANKS}"), _SYMBOLS),
    (re.compile(rf"{_COUNTRY}[和与]{_COUNTRY}的首都{_TWO_BLANKS}"), _CAPITALS),
)
_SUM_OF_BLANKS = re.compile(rf"{_PARALLEL.pattern}相([加乘])(?:得|等于)([1-9]\d*)[。.]?")
_ROOTS = re.compile(rf"(?:一元二次)?方程\s*\$(x\^2(?:[-+][-+\dx]*)?)=0\$\s*的两个?根{_TWO_BLANKS}")
_NO_BLANK = re.compile(r"或|\[IMAGE|^[A-Z]?$")  # alternatives, images, letters inside an image
_LONGEST_BLANK = 10  # characters; "no more than 10 words" (Table 1)
_CALCULATION = re.compile(
    r"(?:计算|求值)?[:：]?\s*([-\d\s.+*/()^]{3,60}?)\s*(?:=|的?(?:结果|值)?(?:是|为|等于))\s*\[MASK\][。.]?"
)
_SIGNS = {r"\times": "*", r"\div": "/", r"\cdot": "*", "×": "*", "÷": "/", "−": "-", "$": ""}
_SIGNS |= {"（": "(", "）": ")", "＋": "+", "－": "-", "＝": "="}


def choose_elements(item: MultiItem) -> list[MultiItem]:
    """Turn combined options into their elements, several of them right (Figure 6 (1), (3)).

    "A. 1和3  B. 2和4", gold B, becomes "A. 1  B. 2  C. 3  D. 4", gold BD. If the stem lists
    statements ①, ②, ... after the blank, these become the options. Options that may be sequences
    are left alone.
    """
    stem, options = split_options(item.specific)
    combined = [_elements_of(option) for option in options]
    if item.type != "SA" or not all(combined) or len(item.answer) != 1:
        return []
    if any(list(listed) != sorted(listed, key=_rank) for listed in combined):
        return []
    elements = sorted({one for listed in combined for one in listed}, key=_rank)
    right = combined[ascii_uppercase.index(item.answer)]
    if not 2 <= len(right) < len(elements) <= MAX_OPTIONS:
        return []
    answer = "".join(ascii_uppercase[elements.index(one)] for one in right)
    text, texts = _statements_as_options(stem, elements)
    return [replace(item, type="MA", specific=format_question(text, texts), answer=answer)]


def undo_choose_elements(item: MultiItem, changed: MultiItem) -> bool:
    """Whether the right options together are the original right combination."""
    stem, options = split_options(item.specific)
    right = list(_elements_of(options[ascii_uppercase.index(item.answer)]))
    statements = _statements(stem)
    _, texts = split_options(changed.specific)
    chosen = [texts[ascii_uppercase.index(letter)] for letter in changed.answer]
    return chosen in (right, [statements.get(one, one) for one in right])


def proof_of_elements(item: MultiItem) -> str:
    """Name the form that proves each element right or wrong by itself; "" if none.

    Two conditions: the whole question is a list of names, or of one claim about each, with a noun
    of ``_UNARY`` that applies to each alone; and every element outside the right option is wrong,
    because some wrong option adds just that element to right ones.
    """
    stem, options = split_options(item.specific)
    combined = [set(_elements_of(option)) for option in options]
    right = combined[ascii_uppercase.index(item.answer)]
    alone = {one for listed in combined if len(listed - right) == 1 for one in listed - right}
    elements = set().union(*combined)
    if alone != elements - right or not elements <= _statements(stem).keys():
        return ""
    text = item.general + stem
    if _lists_only(text, _MEMBERS, _NAME):
        return "elements of one kind"
    claims = _lists_only(text, _CLAIMS, rf"{_NAME}{_KIND}")
    return "statements, each true or false" if claims else ""


def negate(item: MultiItem) -> list[MultiItem]:
    """Negate the question, so that all other options are right (Figure 6 (2)).

    Not if an option refers to others ("以上都是"), nor if the stem is modal ("可能是").
    """
    stem, options = split_options(item.specific)
    last_sentence = re.split(r"[。？！\n]", stem)[-1]
    if item.type != "SA" or len(options) < 3 or _NEGATIVE.search(last_sentence):
        return []
    if _NO_NEGATION.search(stem) or any(map(_OTHER_OPTIONS.search, options)):
        return []
    for affirmed, denied in _NEGATIONS:
        if stem.count(affirmed) == 1 and stem.count(MASK) == 1:
            others = "".join(a for a in ascii_uppercase[: len(options)] if a != item.answer)
            text = format_question(stem.replace(affirmed, denied), options)
            return [replace(item, type="MA", specific=text, answer=others)]
    return []


def undo_negate(item: MultiItem, changed: MultiItem) -> bool:
    """Whether removing the negation restores the question, with the remaining option as answer."""
    stem, options = split_options(changed.specific)
    left = "".join(a for a in ascii_uppercase[: len(options)] if a not in changed.answer)
    texts = [stem.replace(denied, affirmed) for affirmed, denied in _NEGATIONS if denied in stem]
    return left == item.answer and split_options(item.specific) == (texts[0], options)


def proof_of_negation(item: MultiItem) -> str:
    """Name the form whose one right option is computed (see ``proof_of_blank``); "" if none."""
    _, options = split_options(item.specific)
    numbers = [_value(option) for option in options]
    return proof_of_blank(item) if None not in numbers and len({*numbers}) == len(numbers) else ""


def split_blanks(item: MultiItem) -> list[MultiItem]:
    """Ask for each of several parallel blanks alone, with the others filled in (Figure 6 (5)).

    Blanks outside the parallel group are asked with its first blank and filled in for the rest.
    """
    group = _find_blank_group(item)
    if group is None:
        return []
    first = _blanks_before(item, group)
    return [
        replace(
            _blank_subquestion(item, group, first + number),
            item_id=f"{item.item_id}{ascii_lowercase[number]}",
        )
        for number in range(group[0].count(MASK))
    ]


def undo_split_blanks(item: MultiItem, changed: MultiItem) -> bool:
    """Whether both texts are the same with their answers filled in."""
    return fill(item.text, gold_blanks(item.answer)) == fill(
        changed.text, gold_blanks(changed.answer)
    )


def proof_of_split(item: MultiItem) -> str:
    """Name the form that fixes each blank, given the others, if the key agrees; "" if none."""
    text, golds = item.text.strip(), list(gold_blanks(item.answer))
    fixed = golds and (_named_answers(text) == golds or _fixes_numbers(text, [*map(_value, golds)]))
    return "each blank in its place, the others given" if fixed else ""


def to_blank(item: MultiItem) -> list[MultiItem]:
    """Remove the options; the right one's text becomes the answer (section 3.2)."""
    stem, options = split_options(item.specific)
    if item.type != "SA" or not options or item.text.count(MASK) != 1 or len(item.answer) != 1:
        return []
    text = options[ascii_uppercase.index(item.answer)]
    if _NEEDS_OPTIONS.search(item.general + stem) or _OTHER_OPTIONS.search(text):
        return []
    if len(text) > _LONGEST_BLANK or _NO_BLANK.search(text):
        return []
    return [replace(item, type="FB", specific=stem, answer=text)]


def undo_to_blank(item: MultiItem, changed: MultiItem) -> bool:
    """Whether the answer is the text of the right option, and of no other option."""
    stem, options = split_options(item.specific)
    right = ascii_uppercase.index(item.answer)
    matching = [number for number, text in enumerate(options) if text == changed.answer]
    return (stem, matching) == (changed.specific, [right])


def proof_of_blank(item: MultiItem) -> str:
    """Name the form whose answer is computed, arithmetic with an integer result; "" if none."""
    stem, options = split_options(item.specific)
    text = item.general + stem
    for written, sign in _SIGNS.items():
        text = text.replace(written, sign)
    found = _CALCULATION.fullmatch(text.strip())
    value = _evaluate_integer(found[1].replace("^", "**")) if found else None
    gold = options[ascii_uppercase.index(item.answer)].strip(" $")
    return "arithmetic" if value is not None and gold == str(value) else ""


def format_question(stem: str, options: Sequence[str]) -> str:
    r"""Write a question with its options, one per line.

    >>> format_question("选[MASK]", ["甲", "乙"])
    '选[MASK]\nA. 甲\nB. 乙'
    """
    lines = [f"{letter}. {text}" for letter, text in zip(ascii_uppercase, options, strict=False)]
    return "\n".join([stem, *lines])


def fill(text: str, answers: Sequence[str]) -> str:
    """Fill answers into blanks, in order; of alternatives ("或") the first.

    >>> fill("[MASK]是[MASK]", ["水", "氢氧化物或H2O"])
    '水是氢氧化物'
    """
    left = iter(answers)
    return re.sub(re.escape(MASK), lambda _: next(left).split("或")[0], text)


def _elements_of(option: str) -> tuple[str, ...]:
    """Return the elements that a combined option names; () for any other option."""
    if _CIRCLED_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(f"[{CIRCLED}]", option)))
    if _NUMBER_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(r"\d+", option)))
    return ()


def _rank(element: str) -> int:
    return CIRCLED.index(element) if element in CIRCLED else int(element)


def _statements(stem: str) -> dict[str, str]:
    return {mark: text.strip(" \n；;，,。、") for mark, text in _STATEMENT.findall(stem)}


def _lists_only(text: str, question: re.Pattern[str], element: str) -> bool:
    """Whether a text is just a question and its list, with each mark once."""
    listed = question.sub("", text, count=1)
    marks = re.findall(f"[{CIRCLED}]", listed)
    form = rf"{_INTRODUCED}(?:[{CIRCLED}]\s*{element}[；;，,。、\s]*)+"
    return listed != text and len(marks) == len({*marks}) and bool(re.fullmatch(form, listed))


def _statements_as_options(stem: str, elements: Sequence[str]) -> tuple[str, list[str]]:
    """Make options of statements, if nothing but the listed statements follows the blank."""
    listed, start = _statements(stem), stem.find(elements[0])
    tail = [mark for mark, _ in _STATEMENT.findall(stem[start:])]
    if tail != list(elements) or MASK not in stem[:start] or not all(listed[one] for one in tail):
        return stem, list(elements)
    if any(re.search(r"[。\n]", listed[one]) for one in elements):
        return stem, list(elements)
    return stem[:start].rstrip(), [listed[one] for one in elements]


def _value(option: str) -> Fraction | None:
    """Parse an option as a number; None if it is anything else."""
    number = option.strip(" $")
    return Fraction(number) if _NUMBER.fullmatch(number) else None


def _named_answers(text: str) -> list[str]:
    """Answer a text that asks about two named things; [] for any other text."""
    found = ((form.fullmatch(text), names) for form, names in _NAMED_BLANKS)
    return next(
        ([names[one] for one in matched.groups()] for matched, names in found if matched), []
    )


def _fixes_numbers(text: str, golds: Sequence[Fraction | None]) -> bool:
    """Whether a text's sum, product or equation has these numbers, so each fixes the others."""
    numbers = [gold for gold in golds if gold is not None]
    if len(numbers) < len(golds):
        return False
    if total := _SUM_OF_BLANKS.fullmatch(text):
        return (sum if total[1] == "加" else prod)(numbers) == int(total[2])
    equation = _ROOTS.fullmatch(text)
    return equation is not None and _has_roots(equation[1], numbers)


def _has_roots(polynomial: str, roots: Sequence[Fraction]) -> bool:
    """Whether x^2 + bx + c is (x - r)(x - s), tested at two values of x."""
    product = re.sub(r"(?<=\d)x", "*x", polynomial.replace("^", "**"))
    return len(roots) == 2 and all(
        _evaluate_integer(product.replace("x", f"({x})")) == prod(x - root for root in roots)
        for x in (0, 1)
    )


_OPERATORS: Mapping[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _evaluate_integer(expression: str) -> int | None:
    """Evaluate an arithmetic expression; None unless its value is an integer."""
    try:
        value = _evaluate(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return int(value) if value.denominator == 1 else None


def _evaluate(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Fraction(str(value))
        case ast.UnaryOp(op=ast.USub(), operand=one):
            return -_evaluate(one)
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            if not 1 <= power <= 10:  # 0^0 has no value
                raise ValueError(power)
            return _evaluate(base) ** power
        case ast.BinOp(left=one, op=sign, right=other) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_evaluate(one), _evaluate(other))
    raise ValueError(node)


def _find_blank_group(item: MultiItem) -> re.Match[str] | None:
    """Find the parallel blanks of a question whose blanks all have a gold."""
    group = _PARALLEL.search(item.specific)
    fits = item.text.count(MASK) == len(gold_blanks(item.answer))
    has_few_blanks = group is not None and group[0].count(MASK) <= len(ascii_lowercase)
    return group if item.type == "FB" and fits and has_few_blanks else None


def _blanks_before(item: MultiItem, group: re.Match[str]) -> int:
    return (item.general + item.specific[: group.start()]).count(MASK)


def _blank_subquestion(item: MultiItem, group: re.Match[str], number: int) -> MultiItem:
    """Make a sub-question for blank ``number``, with the others of its group filled in."""
    golds, first = gold_blanks(item.answer), _blanks_before(item, group)
    members = range(first, first + group[0].count(MASK))
    kept = {number} | (set(range(len(golds))) - set(members) if number == first else set())
    texts = [MASK if at in kept else gold for at, gold in enumerate(golds)]
    n_general = item.general.count(MASK)
    return replace(
        item,
        general=fill(item.general, texts[:n_general]),
        specific=fill(item.specific, texts[n_general:]),
        answer="\n".join(golds[at] for at in sorted(kept)),
    )
