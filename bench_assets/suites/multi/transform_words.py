"""By what words ``transform`` tells what may be transformed, and what a person has to look at."""

import re

from bench_assets.suites.multi.defects import MASK
from bench_assets.suites.multi.source import Item

CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬"
CIRCLED_RUN = re.compile(rf"[{CIRCLED}](?:[、和与及,，\s]*[{CIRCLED}])*")
# Commas make triples and thousands: 3,4,5 and 1,200 are one thing each.
NUMBER_RUN = re.compile(r"\d{1,2}(?:\s*[和与及]\s*\d{1,2})+|\d{1,2}")
STATEMENT = re.compile(rf"([{CIRCLED}])([^{CIRCLED}]+)")
AS_A_WHOLE = re.compile(
    r"顺序|次序|先后|依次|排列|排序|步骤|流程|搭配|组合|各组|一组|边长|坐标|之比"
)

NEGATIONS = (("正确的是[MASK]", "不正确的是[MASK]"), ("是[MASK]", "不是[MASK]"))
NEGATIVE = re.compile(r"不|没|无|非|未|错误|除了")
# "可能不是" is no complement of "可能是", and "于是" is no "是".
NO_NEGATION = re.compile(
    r"(?:可能|一定|必然|必须|应该?|至少|只|仅|通常|往往|于|还|但|凡|(?<!首)都|也|就|像|要)是\[MASK\]"
)
OTHER_OPTIONS = re.compile(
    r"以上|上述|前[两三]项|其[他它]|[都均皆][不是对正错]|[A-M][、和与及]\s*[A-M]"
    r"|\b(?:all|none|both|neither) of\b",
    re.IGNORECASE,
)
NEEDS_OPTIONS = re.compile(r"下列|以下|下面|选项|哪")
NOT_UNIQUE = re.compile(r"可以|可能|能够|属于|之一|接近|大约|估计|例如|不")
PARALLEL = re.compile(r"\[MASK\](?:[、和与及]\[MASK\])+")
WHICH_IS_WHICH = re.compile(r"分别|依次|respectively", re.IGNORECASE)
IN_ORDER = re.compile(
    r"比|差|先后|顺序|前者|坐标|较|[由从][大小高低多少强弱早左上]|[大小多少高低]于|[(（]\[MASK\]"
)
NAMED_ONE_BY_ONE = re.compile(r"[^\s,，。；;、\]][、和与及][^\s,，。；;、\[]")
NO_BLANK = re.compile(r"或|\[IMAGE|^[A-Z]?$")  # alternatives, pictures, letters inside a picture
LONGEST_BLANK = 10  # characters; "no more than 10 words" (Table 1)


def elements_of(option: str) -> tuple[str, ...]:
    """The elements a combined option names; none if it is anything else."""
    if CIRCLED_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(f"[{CIRCLED}]", option)))
    if NUMBER_RUN.fullmatch(option):
        return tuple(dict.fromkeys(re.findall(r"\d+", option)))
    return ()


def order_of(element: str) -> int:
    """Where an element stands among others of its kind."""
    return CIRCLED.index(element) if element in CIRCLED else int(element)


def stripped(text: str) -> str:
    """Take off what separates one statement from the next."""
    return text.strip(" \n；;，,。、")


def blanks_before(item: Item, group: re.Match[str]) -> int:
    """How many blanks come before a group of them."""
    return (item.general + item.specific[: group.start()]).count(MASK)


def sentence_around(item: Item, group: re.Match[str]) -> str:
    """The sentence that the blanks stand in; what other blanks stand for is not known yet."""
    before = re.split(r"[。；;？?！!\n]", item.specific[: group.start()])[-1]
    after = re.split(r"[。；;？?！!\n]", item.specific[group.end() :])[0]
    return f"{before}{group[0]}{after}"
