"""Parser of numbers in responses, golds and questions."""

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise, takewhile
from math import prod

from bench_assets.core.parsing.normalization import normalize_response
from bench_assets.core.parsing.sentences import asks_for_input, ends_open, refuses, split_sentences

NUMBER_TOLERANCE = 0.1
"""Numbers this far apart are the same answer, as in JourneyBench's answer_verification.py."""

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
"""English words of the numbers 0 to 20, by value."""

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORD_VALUES = {word: n for n, word in enumerate(NUMBER_WORDS)} | {
    w: 10 * n for n, w in enumerate(_TENS, 2)
}
_MULTIPLIERS = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
_MULTIPLIERS |= {"billion": 10**9, "trillion": 10**12}
_MULTIPLIER_PATTERN = "|".join(_MULTIPLIERS)
_WORD = re.compile(
    rf"\b(?:{'|'.join(NUMBER_WORDS[:20] + _TENS)}|(?<!half\s)(?:{_MULTIPLIER_PATTERN}))\b",
    re.IGNORECASE,
)
_MAX_NUMBER_WORDS = 20  # words of one number; bounds "hundred hundred ..."
_WORD_SEPARATOR = re.compile(
    r"[\s-]*+(?:(?<=\s)and\s+|,\s+(?:and\s+)?)?"
)  # between words of one number
_DIRECT_SEPARATOR = re.compile(r"[\s-]")
_DIGITS = r"(?<![\w.^])(?<!\^\{)-?\d[\d,]*(?:\.\d+)?"
_NUMBER = re.compile(_DIGITS)
# For patterns with a suffix; bounded, since a match is tried from every digit of a long list.
_BOUNDED_NUMBER = r"(?<![\w.^])(?<!\^\{)-?\d[\d,]{0,40}(?:\.\d{1,40})?"
_MULTIPLIED_NUMBER = re.compile(  # "25 million", 25亿
    rf"(?<!point\s)((?>{_BOUNDED_NUMBER}))((?:(?:\s*|-)(?:{_MULTIPLIER_PATTERN})\b){{1,5}}|\s*[万亿]{{1,2}})",
    re.IGNORECASE,
)
_MULTIPLIER = re.compile(rf"{_MULTIPLIER_PATTERN}|[万亿]", re.IGNORECASE)
_HALVES = (
    (
        re.compile(
            rf"\b(?<!and\sa\s)half\s+(?:(?:of\s+)?a\s+)?(?=(?:{_MULTIPLIER_PATTERN})\b)", re.I
        ),
        "0.5 ",
    ),
    (re.compile(r"\b(\d+)\s+and\s+a\s+half\b", re.IGNORECASE), r"\1.5"),
)
_POINT = re.compile(r"\b(\d+)\s+point((?:\s+\d)+)\b", re.IGNORECASE)
_AFTER_POINT = re.compile(
    rf"\bpoint(?:\s+(?:{'|'.join(NUMBER_WORDS[:10])}|\d))+\s+\Z", re.IGNORECASE
)
_FRACTION = re.compile(r"(?<![\w.,/])(?:(\d+)\s+)?(\d+)/([1-9]\d*)(?![\d/])")
_LATEX = re.compile(r"(-?)\\[dt]?frac\s*\{?(\d+)\}?\s*\{?([1-9]\d*)\}?")
_VULGAR = re.compile(r"(-?)([¼-¾⅐-⅞])")
_BEFORE_EXPONENT = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹])")
_UNSPACED_NUMBER = re.compile(
    r"(?<=[\u4e00-\u9fff])(?<!第)(?=-?\d)"
)  # a number right after a Chinese word
_MINUS_WORD = re.compile(r"(?<![\d)])(\s|^)(?:minus|negative)\s+(?=\d)", re.IGNORECASE)
_EQUALS = re.compile(r"[→⇒≈]|\\approx(?![a-z])")
_PI = re.compile(r"π\s*=\s*3\.1\d*")
_IS_RESULT = re.compile(  # 45 minus 17 is 28
    r"(?<=\d )((?:minus|plus|times|divided by) \d[\d,.]*) (?:is|equals|makes)\b", re.IGNORECASE
)
_EPSILON = 1e-9  # 3.1 - 3.0 is a little more than 0.1

_SPACED = re.compile(  # 25 000, 25\\,150, 25{,}150, 25'150
    r"(?<=\d)(?:[\u00a0\u2009\u202f'’]|\\,|\{,\}| (?=000(?![\d.,]*\d)))(?=\d{3}(?!\d))"
)
_TIMES_SIGN = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_ANSWER = re.compile(r"\banswer\b(?:\s+is\b|\s*[:=])|答案\s*(?:是|为|:)", re.IGNORECASE)
_TOTAL = re.compile(
    rf"(?<!with )(?<!of the )({_BOUNDED_NUMBER})(?<!,)(?:\s+[a-z]+)?\s+"
    r"(?:(?:in total|in all|altogether)\b|(?:left|remaining)\b(?:\W*\Z|\s+over\b))"
    rf"|\b(?:has|have)\s+({_BOUNDED_NUMBER})\s+(?:more|fewer|less)\W*\Z",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"\b(?:total|result)\b(?:\s+is\b|\s*[:=])"
    r"|\b(?:so|therefore|thus|hence|total of|altogether|in total"
    r"|(?:that|which) (?:makes|leaves)|leaving|meaning|bringing|go with)\b|所以|因此",
    re.IGNORECASE,
)
_VERB_NUMBER = re.compile(  # the number after a verb: "3 adults pay €59"
    r"\b(?:is|are|was|were|be|has|have|had|gets?|pays?|costs?|weighs?|needs?|earns?|makes?|spends?"
    rf"|takes?|receives?|keeps?|(?:left|ends|up) with)\s+[$€£¥]?({_BOUNDED_NUMBER})"
    rf"|[共需付差剩到][^\d,;]{{0,6}}({_BOUNDED_NUMBER})",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\W*{_BOUNDED_NUMBER}\s*,(?!\s*\d)")
_CHINESE_CLAUSE = re.compile(  # its verb and its result come last: 3个班用45张纸
    r"(?=[^\u4e00-\u9fff]*[\u4e00-\u9fff])(?:[^,;和]|(?<=\d),(?=\d))*+\Z"
)
_MEASURE = re.compile(  # before a number that is no result: "in 5 weeks", "for 3 dollars"
    r"\b(?:in|after|for|(?<!left )(?<!ends )(?<!up )with|within|during|every|per|of|all)\s+"
    r"(?:the |these |those )*[$€£¥]?\Z",
    re.IGNORECASE,
)
_GIVEN = re.compile(  # before the main clause: "Since 40 is 80% of 50, it is 20"
    r"\A\W*(?:after|as|because|given|if|once|since|when|with)\b(?:[^,;]|(?<=\d),(?=\d))*+,(?=[^;]*\d)",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(r"\W*(?:there\s+(?:are|were)|\w+\s+(?:started|had))\b", re.IGNORECASE)
_TIME_ADVERB = re.compile(r"\s+\w+\s+(?:ago|later|earlier)\b", re.IGNORECASE)
_LEAD = 24  # characters before a number in which that is looked for
_PARENTHESIS = re.compile(r"(?<!\\)\([^()]*\)")
_RESULT = re.compile(r"=\s*[$€£¥]?-?\d|% of [$€£¥]?\d[\d,.]* is [$€£¥]?\d")
_BOLD_NUMBER = re.compile(
    r"\*\*\s*[$€£¥]?(-?\d[\d,]*(?:\.\d+)?)\s*%?(?:\s+[^\W\d]+){0,3}\s*[.!]?\*\*"
)
_CHECK = re.compile(r"\W*(?:(?:double-|to )?check|(?:to )?verif\w+|验[算证]|检验)\b", re.IGNORECASE)
_ADVICE = re.compile(  # after the solution, to the end of its line; "Note: the answer is 5" is none
    r"(?:\n|(?<=[.!])\s)[^\w\n]{0,9}(?:(?:tips?|note|hint)\W{0,3}:|in practice\b"
    r"|you (?:may|might) want\b|I(?: would|['’]d) (?:recommend|suggest)\b|提示|注意|建议)"
    r"(?![^\n]*(?:\banswer\b|=))[^\n]*",
    re.IGNORECASE,
)
_TRUNCATED_FORMULA = re.compile(r"(?:[+×/÷=^]|\\(?:times|div|cdot|frac))\s*\Z|\d\s*x\s*\Z")
_APPROXIMATION = re.compile(
    r", or (?:about|a little)\b.*|, which (?:equals|is equal to|is equivalent to)\b.*"
)
_REASON = re.compile(  # 56, as each of 4 costs 14; a reason before its clause has a comma after it
    r"(?:, (?:as(?! well)|given|considering)"
    r"|(?<!\band)(?<!\bbut) (?:because|since|as (?:there|each)))\b"
    r"(?:[^,;:]|,(?=\d)){0,200}\Z|,? ?(?:因为|由于)(?!.*(?:所以|因此)).*",
    re.IGNORECASE,
)
_IRRELEVANT_CLAUSE = re.compile(  # a clause about numbers that the solution does without
    r"(?:\A|,\s)(?:[^,;]|,(?!\s))*?(?:(?:\bnot|n['’]t)\s+(?:needed|necessary|relevant)\s+(?:to|for|here)"
    r"|\birrelevant|\bwe\s+(?:don['’]t|do\s+not)\s+need|无关)(?:[^,;]|,(?!\s))*",
    re.IGNORECASE,
)
_FACTOR = re.compile(  # in how to calculate, without a result: "multiply the count by 12"
    rf"(?:\b(?:multipl|divid)[a-z]+\s[^\d=]{{0,60}}\bby\s+|\b(?:and|then)\s+(?:add|subtract)\s+"
    rf"|(?<!\d)[乘除]以\s*)[$€£¥]?{_BOUNDED_NUMBER}[^\d=]*\Z",
    re.IGNORECASE,
)
_NONE_LEFT = re.compile(  # after a calculation
    r", (?!and\b)(?:\w+ ){0,2}(?:is|are|be|has|have)\W{1,3}(?:none|nothing|no \w+)\W{1,3}"
    r"(?:left|remaining)\b[^\d]{0,200}\Z",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"unknown|depends on whether", re.IGNORECASE)
_ASSIGNED = re.compile(  # x = 12, y = 5
    rf"\b[a-z] = {_BOUNDED_NUMBER}(?:,| and| or) [a-z] = {_BOUNDED_NUMBER}\W*\Z", re.IGNORECASE
)
_LOOP = 3  # repetitions of the last sentence that show a model stuck in a loop
_DENIED = re.compile(
    r"(?:\b(?:(?<!has )(?<!have )(?<!had )not|never|nor|neither|rather than|instead of)|n['’]t)"
    rf"\s+(?:[a-z]+\s+)?{_DIGITS}"
    rf"|{_BOUNDED_NUMBER}\s+(?:is|are)\s+(?:not|wrong|incorrect)\b|[不没否非][是有]*\s*{_DIGITS}",
    re.IGNORECASE,
)
_DOUBTED = re.compile(
    r"(?:(?:\bnot|\bcannot|n['’]t)\s+(?:think|believe|say|the\s+case)|\b(?:I|we)\s+doubt)\b"
    r"(?:(?!\bbut\b|[,:]\s)[^;\n])*+"
    r"|不(?:认为|觉得)[^,;\n]*+",
    re.IGNORECASE,
)
_CONVERTED_QUANTITY = re.compile(  # 2 hours and 30 minutes (150 minutes)
    rf"{_BOUNDED_NUMBER} ([a-z]+?)s?,? (?:and )?{_BOUNDED_NUMBER} ([a-z]+?)s?"
    r" \((?=\d[\d,.]* (?:\1|\2)s?\))",
    re.IGNORECASE,
)
_MONEY = "[$€£¥]?"
_PARTS = r"(?:half|halves|(?:third|quarter|fifth|eighth|tenth)s?)"
_RANGE = (
    r"\b\d{4}-\d\d?-\d\d?\b|\b\d+:\d+\b"
    rf"|(?:\b(?:more|less|fewer)\s+than|\bat\s+(?:least|most)|\bup\s+to|\bseveral|\bfew|不[到足]|超过|[多少]于|至少|最多)\s+{_MONEY}{_DIGITS}"
    rf"|{_DIGITS}[a-z%$个只]*\s*\(?(?:[-–~]|\bto\b|\bor\b|[到至或])\s*{_MONEY}\d[\d,.]*"
    rf"|\bbetween\s+{_MONEY}{_DIGITS}\s+and\s+{_MONEY}{_DIGITS}"
    rf"|{_DIGITS}(?:[\s-]{_PARTS}\b|,?\s+(?:with\s+)?(?:a\s+)?remainder\b)|\b{_PARTS}\s+of\s+(?:(?:an?|the)\s+)?{_DIGITS}"
    rf"|[<>≤≥]\s*{_DIGITS}|{_DIGITS}(?:\+(?!\s*\d)|\s+(?:at\s+(?:least|most)|or\s+(?:more|fewer|less))\b)"
)
_SUM = rf"{_DIGITS}(?:\s*[+/×÷x^]\s*\{{?|e[+-]?)\d"
_POINTS = (  # 1.200,00 and 12,50: points may separate thousands, and commas decimals
    r"(?<![\w.])\d[\d,]*\.\d+[.,]\d|(?<![\w.,])\d+,\d{1,2}(?![\d,])"
)
_STATED_NUMBER = re.compile(rf"(?P<unclear>{_RANGE}|{_SUM}|{_POINTS})|{_DIGITS}", re.IGNORECASE)
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b")
_PRONOUN = re.compile(
    r"\bone\s+(?:of|another|for\s+each)\b|\bone\b(?=[^.;\n]{1,60}\bthe other\b)"
    r"|\b(?:the|this|that|each|no|first|second|third|other|left|right|last)\s+one\b",
    re.IGNORECASE,
)
_IMAGE = r"(?:image|picture|photo(?:graph)?)s?\b(?!\s+(?:on|hanging|left)\b)"  # not one on a wall
_NONE = re.compile(
    r"\W*+(?:no,\s+|[a-z ]{1,30}:\s+(?=none\b))?"
    r"(?:there(?:\s+is|\s+are|['’]s)\s+(?:no(?:ne)?|not\s+an?y?)|there\s+(?:is|are)n['’]t\s+(?:1|an?y?)"
    r"|none|not\s+(?:a\s+single|1(?=\W*$))|no(?:thing|body|t\s+any)(?=\W*$)"
    r"|(?:he|she|it|they|we|you|I)\s+(?:has|have|had)\s+no|no(?=\s+\w)|I\s+see\s+no(?:ne)?"
    r"|(?P<unseen>I\s+(?:do\s+not|don['’]t|cannot|can['’]t)\s+see\s+an?y?))\b"
    r"(?!\s+(?:more|less|fewer|way|need|doubt|of\s+the(?:se)?\s+(?:above|answers|choices|options)"
    r"|(?:(?:clear|further|such)\s+)?(?:answer|clue|comment|context|data|description|evidence|idea"
    r"|indication|information|input|mention|number|problem|question|reason|solutions?|text|worries"
    rf"|{_IMAGE}))\b)"
    r"|[^,\d]{0,12}?没有(?!\s*[\d足提给办任信明答疑问必])|[一半].{0,4}[也都](?:没|看不)",
    re.IGNORECASE,
)
_NO_IMAGE = re.compile(rf"\bno\s+{_IMAGE}", re.IGNORECASE)
_PARENTHETICAL = re.compile(  # 8 (5 of them old)
    r"(\d[^()\n]{0,40})\((?!(?:or|maybe|perhaps)\b|或)[^()=]*\)"
)
_PART = re.compile(  # 4, of which 1 is broken
    r"(?<=\d)((?:(?!\d)[^\n])*?)[, ]+(?:of (?:which|whom|them)|including|among them|其中).*"
)
_AFTER = re.compile(  # 8 apples left after 3 days, after buying 3 books
    r"(\d[^\n]{0,80}?) after (?:(?:[a-z]+ing|the|another) ){0,2}\d[\d,.]*(?= \w)"
)
_COUNTING = re.compile(
    r"(?!.*(?:\bleav|\bremain|剩))"
    r"(?:\W*(?:there(?: are|['’]s)|I(?: can)? (?:see|count|find|spot))\b"
    r"|\W*(?:图[中里])?(?:[一总]?共)?有?\s*\d|[^:]{0,30}\d[^\d]{0,20}:)",
    re.IGNORECASE,
)
_ESTIMATES = re.compile(
    r"\b(?:there|I|we|about|around|approximately|roughly|guess|estimate|but|still)\b|大[约概]|估计|但",
    re.IGNORECASE,
)
_SINGLE_ITEM = re.compile(
    r"^\W*(?:just|only)\s+(?:the\s+)?one\b|^\W*(?:there\s+is\s+)?an?\s+single\b(?:\s+one\b)?",
    re.IGNORECASE,
)
_ITEM_PAIR = re.compile(
    r"^\W*(?:there\s+(?:is|are)\s+)?a\s+(?:couple\s+of\b|pair\W*$)", re.IGNORECASE
)
_NUMERAL = "([零一二两三四五六七八九十百千]+)"
_CHINESE = re.compile(
    rf"(?:(?<![\u4e00-\u9fff])|(?<=[是为有共])){_NUMERAL}(?=\W*$)"
    rf"|(?<![几数]){_NUMERAL}(?=[个只条头匹辆位名张幅本件把棵颗座艘架台间层排朵根支杯碗双对岁块片人])"
    r"(?!.[^,。]{0,4}[也都](?:没|看不))"
)
_CHINESE_DIGITS = {sign: n for n, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
_CHINESE_MULTIPLIERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_SUBORDINATION = re.compile(
    r"\b(?:because|since|until|unless|without)\b|, so\b.{0,99}(?:cannot|can['’]t)\b", re.IGNORECASE
)


def list_numbers(text: str) -> list[float]:
    """List the numbers of a text in order, including number words.

    >>> list_numbers("Three cups at $1,200.50 each, twenty-five of a dozen")
    [3.0, 1200.5, 25.0, 12.0]
    """
    return [_value(found) for found in _NUMBER.findall(words_to_digits(text))]


def words_to_digits(text: str) -> str:
    """Replace number words by digits.

    >>> words_to_digits("two hundred and five cups, half a dozen, 2.5 million, two point five")
    '205 cups, 6, 2500000, 2.5'
    """
    (half, point), (and_a_half, point_five) = _HALVES
    text = _MULTIPLIED_NUMBER.sub(_expand_multiplier, half.sub(point, text))
    parts, end = [], 0
    for words in _group_number_words(text):
        digits = format_number(_number_word_value([word[0].casefold() for word in words]))
        parts += [text[end : words[0].start()], digits]
        end = words[-1].end()
    text = _POINT.sub(_with_point, and_a_half.sub(point_five, "".join([*parts, text[end:]])))
    return _MULTIPLIED_NUMBER.sub(_expand_multiplier, text)


def final_number(response: str) -> float | None:
    """Read the final number of a solution; None if there is none, a range, or several.

    The last sentence that states an answer decides. Without one, the number is the last one in
    bold, else that of the last total or conclusion (or of a result calculated after it), else the
    last number of all; of several, the result of a calculation or what a verb tells. Checks of a
    result and advice after it are skipped, negated numbers ignored; "there are none" is 0.

    >>> final_number("2 + 3 = 5 cups. The answer is 5, of 12 in all."), final_number("4 + 4 = 8")
    (5.0, 8.0)
    >>> final_number("It is not 8 but nine."), final_number("There are no cups.")
    (9.0, 0.0)
    """
    response = _SPACED.sub("", response)
    text = response.replace("####", "answer: ").replace("\\$", "$")
    text = _TIMES_SIGN.sub("×", _ADVICE.sub("", text))  # else taken for markup
    text = _LATEX.sub(
        r" \1\2/\3", _BEFORE_EXPONENT.sub("^", _VULGAR.sub(_split_vulgar_fraction, text))
    )
    text = _MULTIPLIED_NUMBER.sub(_expand_multiplier, text)
    sentences = [
        _normalize_numbers(sentence) for sentence in split_sentences(normalize_response(text))
    ]
    for sentence, result in zip(reversed(sentences), reversed(_results(sentences)), strict=True):
        called = [_phrase_numbers(one, result) for one in _ANSWER.split(sentence)[1:]]
        if found := [one[0] for one in called if one]:
            return found[0] if len(set(found)) == 1 else None
    solution = list(takewhile(lambda sentence: not _CHECK.match(sentence), sentences)) or sentences
    if (
        _TRUNCATED_FORMULA.search(solution[-1])
        or sum(one.startswith(solution[-1]) for one in solution) >= _LOOP
    ):
        return None
    bold = _last_bold_number(text)
    return _concluded_number(solution) if bold is None and not ends_open(solution[-1]) else bold


def _last_bold_number(text: str) -> float | None:
    """The last number in bold, if nothing is concluded or calculated after it."""
    *_, last = [None, *_BOLD_NUMBER.finditer(text)]
    if last is None or _CONCLUSION.search(text, last.end()) or _NONE_LEFT.search(text, last.end()):
        return None
    rest = "".join(takewhile(lambda line: not _CHECK.match(line), text[last.end() :].splitlines()))
    return None if _RESULT.search(_PARENTHESIS.sub("", rest)) else _value(last[1])


def _results(said: Sequence[str]) -> list[float | None]:
    """The last result that is calculated before each sentence; checks do not count."""
    results: list[float | None] = [None]
    for sentence in said[:-1]:
        calculates = _RESULT.search(sentence) and not _CHECK.match(sentence)
        found = _phrase_numbers(sentence) if calculates else []
        results.append(found[0] if found else results[-1])
    return results


def _concluded_number(sentences: Sequence[str]) -> float | None:
    """The last total or conclusion, a result that is calculated after it, or the last number.

    None if a sentence after the conclusion states another number and is no reason for it.
    """
    after, last, calculated = "", list[float | None](), list[float | None]()
    for sentence, result in [*zip(sentences, _results(sentences), strict=True)][::-1]:
        if concluded := _conclusion(sentence, result):
            found = calculated or concluded
            return found[0] if last in ([], found) or _is_reason(after, found[0]) else None
        stated = _phrase_numbers(sentence, result)
        if _RESULT.search(sentence):
            calculated = calculated or stated
        if not last and stated:
            after, last = sentence, stated
    estimated = any(map(_ESTIMATES.search, sentences)) and not any(map(_FACTOR.search, sentences))
    refused = last != [0.0] and any(map(refuses, sentences)) and not estimated
    return last[0] if last and not refused else None


def _conclusion(sentence: str, result: float | None) -> list[float | None]:
    """The total of a sentence, or what it concludes."""
    if totals := _TOTAL.findall(_GIVEN.sub("", sentence)):
        return [_value(max(totals[-1]))]
    *before, concluded = _CONCLUSION.split(sentence)
    return _phrase_numbers(concluded, result) if before else []


def _is_reason(sentence: str, result: float | None) -> bool:
    """Whether a sentence has the two numbers that a result comes from: "There are 4 rows of 6"."""
    values = [_value(digits) for digits in _NUMBER.findall(sentence)]
    came_from = {value for one, other in pairwise(values) for value in (one * other, one - other)}
    return _BACKGROUND.match(sentence) is not None and result in came_from


def states_none(text: str) -> bool:
    """Whether a text begins by saying that there are none; "no image" does not count.

    >>> states_none("There are no cups."), states_none("There are no more than 5 cups.")
    (True, False)
    """
    found = _NONE.match(text)
    if found is None or _NO_IMAGE.search(text):
        return False
    return found["unseen"] is None or _SUBORDINATION.search(text) is None


def same_number(one: float, other: float) -> bool:
    """Whether two numbers count as the same answer.

    >>> same_number(3.1, 3.0), same_number(3.2, 3.0)
    (True, False)
    """
    return abs(one - other) <= NUMBER_TOLERANCE + _EPSILON


def format_number(number: float) -> str:
    """Format a number in plain digits: whole ones exactly, others to 10 decimals.

    Numbers below 1 have 10 significant digits; none has an exponent, which no parser here reads.

    >>> format_number(5.0), format_number(2.5), format_number(25e9), format_number(5e-9)
    ('5', '2.5', '25000000000', '0.000000005')
    """
    if number % 1:
        number = float(f"{number:.10g}" if abs(number) < 1 else f"{round(number, 10):.15g}")
    return f"{Decimal(str(number)):f}".removesuffix(".0")


def parse_number(text: str) -> float | None:
    """Parse a text that is one number, with or without "$" or "%"; None if it is not.

    >>> parse_number("25%"), parse_number("$1,200"), parse_number("no cups")
    (25.0, 1200.0, None)
    """
    bare = words_to_digits(text).strip().strip("$%").strip()
    found = _STATED_NUMBER.fullmatch(bare)
    return _value(bare) if found and not found["unclear"] else None


def _phrase_numbers(phrase: str, result: float | None = None) -> list[float | None]:
    """The number that a phrase states, if any; None for an unclear one, such as a range.

    Of several, it is the result that was calculated before the phrase, their sum or the one that
    its verb tells; otherwise none is clear.
    """
    if asks_for_input(phrase) or _FACTOR.search(phrase):
        return []
    if states_none(phrase) or _NONE_LEFT.search(phrase):
        return [0.0]
    if refuses(phrase) or _UNKNOWN.search(phrase) or _ASSIGNED.search(phrase):
        return [None]
    text = _IRRELEVANT_CLAUSE.sub(" ", _CONVERTED_QUANTITY.sub("", _DENIED.sub(" ", phrase)))
    text = _without_reason(_PART.sub(r"\1", _PARENTHETICAL.sub(r"\1", text)))
    if result is not None and "=" not in text and result in _stated_numbers(text):
        return [result]
    if (total := _leading_total(phrase)) is not None:
        return [total]
    text = _GIVEN.sub("", _APPROXIMATION.sub("", _AFTER.sub(r"\1", text)))
    calculated = text.rpartition("=")[2]
    text = calculated if _NUMBER.search(calculated) else text
    stated = _stated_numbers(text)
    return stated if len(stated) < 2 else [_number_after_verb(text, stated)]


def _number_after_verb(phrase: str, found: Sequence[float | None]) -> float | None:
    """The number of several that stands alone, or comes last, after its verb: "5 pay €59"."""
    if _ALONE.match(phrase):
        return found[0]
    verbs = [*_VERB_NUMBER.finditer(phrase)]
    is_unique = len(verbs) == 1 and len(_stated_numbers(phrase[verbs[0].start() :])) == 1
    return found[-1] if is_unique or _CHINESE_CLAUSE.match(phrase) else None


def _without_reason(phrase: str) -> str:
    """Leave out a reason that ends a phrase with a number before it."""
    reason = _REASON.search(phrase)
    return (
        phrase[: reason.start()] if reason and _NUMBER.search(phrase[: reason.start()]) else phrase
    )


def _stated_numbers(phrase: str) -> list[float | None]:
    """Numbers of a phrase, without measures such as "in 5 weeks" if it has others."""
    stated = [*_STATED_NUMBER.finditer(phrase)]
    counts = [
        one
        for one in stated
        if not (
            _MEASURE.search(phrase[: one.start()][-_LEAD:]) or _TIME_ADVERB.match(phrase, one.end())
        )
    ]
    return [None if one["unclear"] else _value(one[0]) for one in counts or stated]


def _leading_total(phrase: str) -> float | None:
    """The number that the others add up to: "5: 2 red, 3 blue", "2 red and 3 blue (5)"."""
    stated = [*_STATED_NUMBER.finditer(phrase)]
    if len(stated) < 3 or "=" in phrase or any(one["unclear"] for one in stated):
        return None
    values = [_value(one[0]) for one in stated]
    if values[0] == sum(values[1:]) and _COUNTING.match(phrase):
        return values[0]
    return values[-1] if values[-1] == sum(values[:-1]) else None


def _normalize_numbers(sentence: str) -> str:
    """Write every number of a sentence as digits with a point and a sign."""
    sentence = _CHINESE.sub(
        _chinese_to_digits, _ITEM_PAIR.sub("2 ", _SINGLE_ITEM.sub("1 ", sentence))
    )
    text = _EQUALS.sub("=", sentence.replace("−", "-").replace("零下", "-"))
    text = _UNSPACED_NUMBER.sub(" ", _PI.sub("π", text))
    text = words_to_digits(_PRONOUN.sub(" ", _ORDINAL.sub(" ", _DOUBTED.sub(" ", text))))
    text = _IS_RESULT.sub(r"\1 =", text)
    text = _FRACTION.sub(
        lambda n: format_number(float(n[1] or 0) + float(n[2]) / float(n[3])), text
    )
    return _MINUS_WORD.sub(r"\1-", text)


def _chinese_to_digits(found: re.Match[str]) -> str:
    """Write a Chinese numeral in digits: 一百零五 is 105."""
    total = digit = 0
    for sign in found[0]:
        if sign in _CHINESE_MULTIPLIERS:
            total, digit = total + (digit or 1) * _CHINESE_MULTIPLIERS[sign], 0
        else:
            digit = _CHINESE_DIGITS[sign]
    return str(total + digit)


def _split_vulgar_fraction(fraction: re.Match[str]) -> str:
    """Write a fraction of one character apart from the number before it: 3½ as 3 1/2."""
    return f" {fraction[1]}{unicodedata.normalize('NFKC', fraction[2]).replace('⁄', '/')}"


def _with_point(found: re.Match[str]) -> str:
    return f"{found[1]}.{''.join(found[2].split())}"


def _expand_multiplier(found: re.Match[str]) -> str:
    """Write a number of dozens, thousands or millions in digits."""
    words = map(str.casefold, _MULTIPLIER.findall(found[2]))
    return format_number(
        _value(found[1]) * prod(_CHINESE_MULTIPLIERS.get(n) or _MULTIPLIERS[n] for n in words)
    )


def _value(digits: str) -> float:
    return float(digits.replace(",", ""))


def _group_number_words(text: str) -> list[list[re.Match[str]]]:
    """Find the number words of a text, grouped by number."""
    found: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(text):
        if word[0].casefold() in _MULTIPLIERS and _AFTER_POINT.search(
            text[: word.start()][-_LEAD:]
        ):
            continue  # "two point five million": of the whole number
        last = found[-1][-1] if found else None
        between = text[last.end() : word.start()] if last else ""
        if (
            last
            and len(found[-1]) < _MAX_NUMBER_WORDS
            and _continues_number(last[0].casefold(), between, word[0].casefold())
        ):
            found[-1].append(word)
        else:
            found.append([word])
    return found


def _continues_number(last: str, between: str, word: str) -> bool:
    """Whether a word continues the number of the previous one: "twenty-five", "two hundred"."""
    if not _WORD_SEPARATOR.fullmatch(between):
        return False
    if word in _MULTIPLIERS:
        return not between.strip()
    if last in _MULTIPLIERS:
        return _MULTIPLIERS[last] >= (1000 if "," in between else 100)
    return (
        _DIRECT_SEPARATOR.fullmatch(between) is not None
        and _WORD_VALUES[last] >= 20
        and 0 < _WORD_VALUES[word] < 10
    )


def _number_word_value(words: Sequence[str]) -> int:
    """Add up the words of one number: "million" multiplies what is smaller, "dozen" all."""
    parts: list[int] = []
    for last, word in zip(("", *words), words, strict=False):
        if word in _WORD_VALUES:
            parts.append(_WORD_VALUES[word])
            continue
        several = [parts.pop()] if last in _MULTIPLIERS else []
        while parts and (parts[-1] < _MULTIPLIERS[word] or word == "dozen"):
            several.append(parts.pop())
        parts.append(_MULTIPLIERS[word] * (sum(several) if several else 1))
    return sum(parts)
