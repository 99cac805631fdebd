"""Marks the options that a text names: by letter, by their text or by their place in the list.

Each name becomes one private-use character, so that the patterns for the words around it do not
depend on the question (``option_forms.txt``, ``words.txt``).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from bench_assets.core.parsing.normalization import normalize_option, normalize_response
from bench_assets.core.parsing.numbers import states_none
from bench_assets.core.parsing.phrases import Phrases
from bench_assets.core.parsing.word_lists import alternatives, section_lines

_Mark: TypeAlias = Callable[[re.Match[str]], str]
_TextMark: TypeAlias = tuple[re.Pattern[str], _Mark]

# First private-use character of options named by text, by a claim ("A is closer"), by a letter in
# brackets, by a bare letter, and by letter and text.
_TEXT, _CLAIM, _LETTER, _BARE, _BOTH = range(0xE000, 0xE0A0, 0x20)
TEXT = f"[{chr(_TEXT)}-{chr(_LETTER - 1)}]"
CLAIM = f"[{chr(_CLAIM)}-{chr(_LETTER - 1)}]"
LETTER = f"[{chr(_LETTER)}-{chr(_BOTH + 0x1F)}]"
EXPLICIT_LETTER = f"[{chr(_LETTER)}-{chr(_BARE - 1)}]"
"""An option named by a letter in brackets, or after a word: "(A)", "option A"."""
NAME = f"[{chr(_TEXT)}-{chr(_BOTH + 0x1F)}]"
"""Any named option in the output of ``mark_options``."""
NAMES = "".join(map(chr, range(_TEXT, _BOTH + 0x20)))
BOTH = f"[{chr(_BOTH)}-{chr(_BOTH + 0x1F)}]"
"""An option named by its letter and its text."""

_FILE = Path(__file__).with_name("option_forms.txt")
_NO_FLAGS = re.RegexFlag(0)


def _phrases(section: str, flags: re.RegexFlag = re.IGNORECASE) -> Phrases:
    return Phrases({"": alternatives(_FILE, section).replace("@", NAME)}, NAMES, flags)


_NON_OPTION_LETTERS = _phrases("letters that are no options")
_PLACES = {
    word: place
    for place, line in enumerate(section_lines(_FILE, "places"))
    for word in line.split("|")
}
_NUMBERS = dict(line.split("|") for line in section_lines(_FILE, "numbers"))
_NUMBER = re.compile(
    r"(?<![\w.,#](?<![\u4e00-\u9fff]))(?<!第)(?<!\bno )"
    r"(?<!\bstep )(?<!\broom )(?<!\bthe )(?<!this )(?<!that )(?<!right )(?<!correct )"
    r"(?<!\bthan )(?<!\bat least )(?<!\bat most )(?<!\bover )(?<!\bunder )(?<!\bup to )"
    r"(?<!超过)(?<!多于)(?<!少于)(?<!大于)(?<!小于)(?<!至少)(?<!至多)(?<!最多)(?<!不到)"
    rf"(?:\d+|{'|'.join(_NUMBERS)})"
    r"(?![^\W\u4e00-\u9fff]|[.,]\d|\.\s+\S| or (?:more|fewer|less)\b|个?以[上下])",
    re.IGNORECASE,
)
_PARTS = re.compile(  # "There are 4 cats: two on the sofa, one on the rug and one on the sill."
    rf"(?<!row )(?<!page )(?<!step )(?P<total>{_NUMBER.pattern})"
    r"(?P<of>[^.;:\n—–(]{0,60}?)(?:[:(,]|,? [—–-] )"
    r"(?P<parts>(?:(?!\b(?:or|so|wait|actually|but|therefore|thus|no|not)\b|[.;!?\n所但不])[^\n])*)",
    re.IGNORECASE,
)
_ONE_SENTENCE = re.compile(  # without a number
    rf"\A(?![^\n]*\b(?:besides|except|only|other|without)\b)[^.,;:!?\n。{NAMES}]{{1,120}}[.!。]?\Z"
)
_PLACE_WORD = re.compile(
    r"\b(?:on|in|at|by|near|behind|under|to|from|\w+ing)\b|[\u4e00-\u9fff]", re.I
)
_ORDINAL = re.compile(r"\b(first|second|third|fourth)\b")
_PLACE = _phrases("named by place")
_FORMER_OR_LATTER = re.compile(
    r"\b(?:the )?(?:(former)|latter)"
    r"(?: (?:one|option|choice|answer|image|point|box)\b)?|(前)者|后者",
    re.IGNORECASE,
)
_BRACKETED_LETTER = re.compile(alternatives(_FILE, "in brackets"))
_QUOTED = re.compile(alternatives(_FILE, "in quotation marks"))
_OPTION_PHRASES = _phrases("called an option", _NO_FLAGS)
_POINT_PHRASES = _phrases("called a point", _NO_FLAGS)
_BARE_LETTERS = re.compile(alternatives(_FILE, "bare letters"))
_LOWERCASE_LETTER = re.compile(alternatives(_FILE, "small letters"), re.MULTILINE)
_CAPITAL = re.compile("[A-M]")
_STATEMENT_VERDICTS, _ANSWER_VERDICTS = (
    [line.split("|") for line in section_lines(_FILE, f"right and wrong / of {what}")]
    for what in ("a statement", "an answer")
)
_SIDES = _STATEMENT_VERDICTS + _ANSWER_VERDICTS
_LEAD = alternatives(_FILE, "before an answer alone")
_SHORT_REPLY = r"\A(?:{})(?=[.;!。\n]|,? (?:because|since)\b|\Z)"  # "It is not. ..."
_AGREEMENT, _DISAGREEMENT, _SHORT_AGREEMENT, _SHORT_DISAGREEMENT, _LEADING_NO = (
    re.compile(form.format(alternatives(_FILE, section)), re.IGNORECASE)
    for form, section in (
        (rf"\A(?P<lead>(?:{_LEAD})?)[^\w?]*(?:{{}})[^\w?]*\Z", "agrees"),
        (rf"\A(?P<lead>(?:{_LEAD})?)[^\w?]*(?:{{}})[^\w?]*\Z", "disagrees"),
        (_SHORT_REPLY, "agrees / in short"),
        (_SHORT_REPLY, "disagrees / in short"),
        (r"(?:\A|(?<=[.!]\s)|(?<=[。\n]))(?:{})(?=[.,;!。\n]|\Z)", "disagrees / plainly"),
    )
)
_AGREEMENT_PHRASE = re.compile(
    rf"(?P<denied>\b(?:not|never|cannot|fails? to|failed to|hardly|no)\b ?|n['’]t\b ?"
    rf"|[没未非]|不(?:是)?[太完很够尽大]?全?|没有|[算谈称]不上)?"
    rf"(?:(?:\b[a-z]+ly|be|a|an|the|any) ){{0,3}}"
    rf"(?:(?P<agrees>{alternatives(_FILE, 'agrees with the reference')})"
    rf"|{alternatives(_FILE, 'differs from the reference')})[^.;,!?。\n]*(?P<end>[.;,!?。\n]?) ?",
    re.IGNORECASE,
)
_SYNONYMS = {line.partition("|")[0]: line for line in section_lines(_FILE, "the same")}
_ANTONYMS = dict(line.split(" = ", 1) for line in section_lines(_FILE, "the opposite"))
_PARAPHRASES = [
    (text, re.compile(pattern, re.IGNORECASE))
    for line in section_lines(_FILE, "in other words")
    for text, _, pattern in [line.partition(" = ")]
]
_ANSWERED_QUESTION = re.compile(
    rf"({NAME})[.)\"”]? ?[?？]\s*(?:(yes|是的?|对)|no|不是?|不对)(?=\W|$)(?!,)", re.I
)
_ELLIPSIS = re.compile(  # "A is not right. B is."
    rf"({NAME} ?[^.;\n]{{0,48}}(?:\bnot\b|n['’]t\b)[^.;\n]{{0,24}}?[.;,]) (?:but )?"
    rf"({NAME}(?:(?:, |/|、| and | & ){NAME}|{NAME})*) "
    rf"(?:is|are|does|do)(?=\s*(?:[.!]|$))"
)
_EXCLUSIVE_PHRASES = _phrases("none but")
_EXCEPTION_PHRASES = _phrases("all but")
_EVERY = re.compile(alternatives(_FILE, "every option"), re.IGNORECASE | re.MULTILINE)
_BEFORE = alternatives(_FILE, "before a word that is an option")
_AFTER = alternatives(_FILE, "after a word that is an option")
_POINTED = re.compile(r"\w+ [a-h]|\(?([a-h])\)? is (\w+)", re.IGNORECASE)
_COMPARISON_TEMPLATE = (
    r"(?<![A-Za-z])(?:(?:point|box) )?\(?{0}\)?"
    r"(?:, which [^,.\n]{{1,120}},|,? located [^,.\n]{{1,80}},)?"
    r"(?: (?:is|appears|seems|looks|would|to|be|much|the|lies|sits|stands"
    r"|has (?:an?|the)(?= \w+ (?:surface|colou?r|shade|tone|reflectance))"
    r"|(?!hardly|barely|scarcely|only|seemingly)\w+ly))+ "
    r"(?:{1})\b(?! to (?!(?:the |our |my |your )?(?:camera|view|observ|lens|photograph|foreground"
    r"|front|screen|eyes?|vantage|where|what|(?:us|me|you)\b)))"  # "closer to the horizon"
)
_COMPARISON_BASE = re.compile(  # "Compared to A, B is closer"
    r"\b(?:compared|relative|next|in (?:comparison|relation)) (?:to|with) (?:point )?[A-H], ",
    re.IGNORECASE,
)
_APPARENT = re.compile(  # "A looks darker, but that is due to the shadow"
    r"\b[A-H] (?:only |merely )?(?:appears?|looks?|seems?)(?: to be| \w+ly)* \w+er\b"
    r"(?=[^.;\n]{0,80}\b(?:shad(?:e|ow)\w*|lighting|illuminat\w+|illusion)\b)",
    re.IGNORECASE,
)
_ANSWER_POSITION = r"(?:^|\n|\b(?:answer|choose|pick|select|say|choice|is|be)[\s:\"'*]{0,4})"
_CAPITAL_MARK = "\x1f"  # before a capitalised option text, which may begin a sentence
_LABELLED = re.compile(rf"({LETTER})([ \t.):、,*-]{{0,4}}{_CAPITAL_MARK}?)({TEXT})")
_TEXT_WITH_LABEL = re.compile(rf"({TEXT})[ \t]*,?[ \t]*({LETTER})(?![ \t.:)、]*{TEXT})")
_LIST_START = re.compile(
    rf"[:：][ \t]{{0,4}}\n[^\w{NAME[1:-1]}]{{0,6}}({LETTER})"
    rf"(?=[^\n]*\n(?:[^\n]{{0,600}}\n){{0,3}}[^\w\n]*({LETTER})[^\n]*\w)"
)
_HEADING = re.compile(  # of a list of options; it announces none of them
    r"^[^\w\n]{0,6}(?:the |all |answer )?(?:options|choices|candidates|选项)[*_ ]*[:：][*_ ]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_CHAIN = rf"{NAME}(?:\s*;\s*{NAME})+"
_JOINED_OPTIONS = re.compile(  # options joined by semicolons; not "the answer is B; A is wrong"
    rf"(?:(?<=\n)|(?<=。)|^)[^\w\n]{{0,6}}{_CHAIN}|{_CHAIN}(?=\s*(?:$|[。.!\n)\]}}】]|,(?!\s*{NAME})|因为|because\b))"
)
_OFFERED = re.compile(  # "the choices are A, B, C and D" names none of them
    rf"\b(?:the|these|four|five|my|your)(?: given| provided| available| possible)? "
    rf"(?:options|choices|candidates|alternatives)(?: given| provided| offered)? "
    rf"(?:are|include|were)[ :]*{NAME}(?:(?:,? (?:and |or )?{NAME}){{2,12}}"
    rf"|(?:, {NAME}){{0,12}},? (?:and so on|and others|etc\b))",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(  # "A, 以及C"; "A, and C.", but not "A, and C is wrong"
    rf"(?<={NAME}), ?(?:以及|和|与|及|并且?|同时)(?= ?{NAME})"
    rf"|(?<={NAME}), and (?={NAME}(?:(?:, and |, | and ){NAME})*"
    r"\s*(?:[.;!]|$|are\b|apply\b|hold\b))",
)
_BLANKS = re.compile(" {2,}")
_NO_OPTION = 25  # index of "Z"
_MIN_TEXT_LENGTH = 4  # letters of a Latin text that is no common word; two of a Chinese one


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question: their number, and their texts if known.

    ``counted`` is False if their number is not known, so that "all but A" names none.
    """

    n: int
    texts: tuple[str, ...] = ()
    counted: bool = True

    @property
    def letters(self) -> str:
        """The letters of the options, from A on."""
        return ascii_uppercase[: self.n]

    @property
    def compared(self) -> bool:
        """Whether the texts are claims about points in the image: "A is closer"."""
        return _patterns(self.texts).compared

    @property
    def judges(self) -> bool:
        """Whether the options are verdicts on an answer or a statement: "right", "wrong"."""
        return bool(self.sides) and not _patterns(self.texts).of_statements

    @property
    def sides(self) -> str:
        """The letters of "right" and "wrong" ("yes" and "no"), if these are options; else ""."""
        return _patterns(self.texts).sides


class _Patterns(NamedTuple):
    """Patterns that find the options of a question by their texts."""

    marks: Sequence[_TextMark]
    pointed: bool  # whether the options are named after letters in the image: "Point A"
    compared: bool  # whether they are claims about these letters: "A is closer"
    ordinals: dict[str, int]  # ordinal in an option's text ("the second image") to its index
    sides: str
    of_statements: bool  # whether these are "yes" and "no", "true" and "false"


def letter_of(name: str) -> str:
    """Letter of the option that a private-use character names."""
    return ascii_uppercase[(ord(name) - _TEXT) % 0x20]


def is_claim(name: str) -> bool:
    """Whether a private-use character names an option by a claim: "A is closer"."""
    return _CLAIM <= ord(name) < _LETTER


def mark_options(text: str, options: Options) -> str:
    """Replace each name of an option by a private-use character; remove lists of all options.

    Args:
        text: Output of ``normalization.normalize_response``.
        options: The options of the question.
    """
    patterns = _patterns(options.texts)
    for pattern, mark in patterns.marks:
        text = pattern.sub(mark, text)
    if patterns.pointed:
        text = _POINT_PHRASES.sub(_letters, text)
    elif patterns.compared:
        text = _POINT_PHRASES.sub(lambda found: re.sub(r"[()]", "", found[0].casefold()), text)
    text = _OPTION_PHRASES.sub(_letters, _BRACKETED_LETTER.sub(_letters, text))
    text = _QUOTED.sub(partial(_mark_quoted_letters, offered=options.letters), text)
    if options.counted:
        text = _PLACE.sub(partial(_mark_place, n=options.n, ordinals=patterns.ordinals), text)
    text = _NON_OPTION_LETTERS.sub(lambda found: found[0].casefold(), text)
    text = _BARE_LETTERS.sub(partial(_mark_bare_letters, offered=options.letters), text)
    text = _LOWERCASE_LETTER.sub(
        lambda found: _lead(found) + chr(_LETTER + _place(_last(found))), text
    )
    text = _FORMER_OR_LATTER.sub(partial(_mark_former_or_latter, offered=options.letters), text)
    text = _strip_option_list(_HEADING.sub("\n", text), options.n if options.texts else 0)
    text = _CONJUNCTION.sub("、", _OFFERED.sub("", text))
    text = _JOINED_OPTIONS.sub(lambda found: found[0].replace(";", "、"), text)
    text = _TEXT_WITH_LABEL.sub(_merge_names, _LABELLED.sub(_merge_names, text)).replace(
        _CAPITAL_MARK, ""
    )
    text = _BLANKS.sub(" ", text)
    text = _ANSWERED_QUESTION.sub(lambda found: f"{found[1]} {'√' if found[2] else '×'}", text)
    if not options.counted:
        return text
    text = _ELLIPSIS.sub(r"\1 the answer is: \2", text)
    text = _EVERY.sub(f" the answer is: {_names_of(options.letters)} ", text)
    text = _EXCLUSIVE_PHRASES.sub(lambda found: f" the answer is: {_first(found)} ", text)
    return _EXCEPTION_PHRASES.sub(partial(_mark_others, options=options), text)


@lru_cache(maxsize=4096)
def _patterns(texts: tuple[str, ...]) -> _Patterns:
    known = [normalize_option(normalize_response(text)) for text in texts]
    different = {
        text: place
        for place, text in enumerate(known)
        if known.count(text) == 1 and not re.fullmatch("[a-m]?", text)
    }
    compared = [found for text in known if (found := _POINTED.fullmatch(text)) and found[2]]
    pointed = bool(texts) and not compared and all(not t or _POINTED.fullmatch(t) for t in known)
    sides = _sides(known)
    ordinals = {
        found[1]: place for text, place in different.items() if (found := _ORDINAL.search(text))
    }
    agrees = any(side in known for side, _ in _STATEMENT_VERDICTS)
    return _Patterns(
        [
            *(_side_marks(sides) if agrees and sides else ()),
            *_claim_marks(compared, different),
            *_text_marks(known, different, {found[0] for found in compared}),
        ],
        pointed,
        bool(compared),
        ordinals if len(ordinals) == len(known) else {},
        sides,
        agrees,
    )


def _side_marks(sides: str) -> Iterator[_TextMark]:
    """Patterns of agreement and disagreement with a statement."""
    right, wrong = (_claim_marker(_place(letter)) for letter in sides)
    yield from ((_DISAGREEMENT, wrong), (_AGREEMENT, right), (_LEADING_NO, wrong))
    yield from ((_SHORT_DISAGREEMENT, wrong), (_SHORT_AGREEMENT, right))


def _claim_marks(
    compared: Sequence[re.Match[str]], different: Mapping[str, int]
) -> Iterator[_TextMark]:
    """Patterns of claims that imply an option: "A is nearer", "the camera pans left"."""
    letters = {found[1]: different[found[0]] for found in compared}
    if letters:
        yield _COMPARISON_BASE, lambda _: ""
        yield _APPARENT, lambda _: ""
    for found in compared:
        yield (
            _comparison(found[1], _SYNONYMS.get(found[2], re.escape(found[2]))),
            _claim_marker(different[found[0]]),
        )
        if len(letters) == 2 and (opposite := _ANTONYMS.get(found[2])):
            (other,) = (place for letter, place in letters.items() if letter != found[1])
            yield _comparison(found[1], opposite), _claim_marker(other)
        yield _point_pattern(found[1]), _claim_marker(different[found[0]])
    for text, pattern in _PARAPHRASES:
        if text in different:
            yield pattern, _append_claim(different[text])


def _text_marks(
    known: Sequence[str], different: Mapping[str, int], claims: AbstractSet[str]
) -> Iterator[_TextMark]:
    """Patterns of the options' texts; common words count only where an answer is expected."""
    if known and all(text.isdecimal() for text in known):
        yield _PARTS, _drop_parts
        yield _NUMBER, partial(_number, places=different)
        if "0" in different:
            yield _ONE_SENTENCE, partial(_none, place=different["0"])
        return
    shorter = {  # "blue car", "the blue car" for "a blue car"
        text[2:]: place
        for text, place in different.items()
        if text.startswith("a ") and " " in text[2:] and text[2:] not in different and not claims
    }
    mark = partial(_text, places={**different, **shorter})
    words = [text for text in different if _is_word(text)]
    plain = [text for text in different if not _is_word(text) and text not in claims]
    if words and not words[0].isascii():
        body = "|".join(map(re.escape, sorted(different, key=len, reverse=True)))
        only = re.compile(rf"\A\W*(?:(?:{body})(?:[、,;和与及\s]|\W*\Z)+){{2,}}\Z")
        yield only, partial(_mark_all, text=re.compile(f"(?P<text>{body})"), mark=mark)
    if plain := [*plain, *shorter]:
        form = r"(?:(?<![A-Za-z])(?:the|an?) )?(?<![A-Za-z0-9_])(?<!\w-)@s?(?!-?\w)"
        yield _texts_pattern(plain, form), mark
    if words:
        yield _texts_pattern(words, rf"(?P<lead>{_BEFORE})(?:the )?@{_AFTER}"), mark


def _mark_all(found: re.Match[str], text: re.Pattern[str], mark: _Mark) -> str:
    """Mark the option texts of a response that consists of nothing else: "铁、钠、铜"."""
    return text.sub(mark, found[0])


def _texts_pattern(texts: Sequence[str], form: str) -> re.Pattern[str]:
    longest_first = sorted(texts, key=len, reverse=True)
    body = f"(?P<text>{'|'.join(map(re.escape, longest_first))})"
    form = (
        form
        if longest_first[0].isascii()
        else form.replace(r"(?<!\w-)", "")
        .replace(r"s?(?!-?\w)", "")
        .replace(r"(?<![A-Za-z0-9_])", "")
    )
    return re.compile(form.replace("@", body), re.IGNORECASE | re.MULTILINE)


def _is_word(text: str) -> bool:
    """Whether an option's text is a common word, which need not name the option."""
    short = len(text) < (_MIN_TEXT_LENGTH if text.isascii() else 2)
    return short or text in ("left", "right") or any(text in side for side in _SIDES)


def _sides(texts: Sequence[str]) -> str:
    for right, wrong in _SIDES:
        if right in texts and wrong in texts:
            return ascii_uppercase[texts.index(right)] + ascii_uppercase[texts.index(wrong)]
    return ""


def _comparison(letter: str, words: str) -> re.Pattern[str]:
    return re.compile(_COMPARISON_TEMPLATE.format(letter.upper(), words), re.IGNORECASE)


def _point_pattern(letter: str) -> re.Pattern[str]:
    """Pattern of a point named where an answer is expected: "The answer is point A."."""
    body = rf"(?P<lead>{_ANSWER_POSITION})(?:point|box) {letter.upper()}{_AFTER}"
    return re.compile(body, re.IGNORECASE | re.MULTILINE)


def _claim_marker(place: int) -> _Mark:
    return lambda found: (found.groupdict().get("lead") or "") + chr(_CLAIM + place)


def _append_claim(place: int) -> _Mark:
    return lambda found: f"{found[0]} {chr(_CLAIM + place)} "


def _text(found: re.Match[str], places: Mapping[str, int]) -> str:
    lead = found.groupdict().get("lead") or ""
    begins = _CAPITAL_MARK if found[0][len(lead) : len(lead) + 1].isupper() else ""
    return lead + begins + chr(_TEXT + places[normalize_option(found["text"])])


def _drop_parts(found: re.Match[str]) -> str:
    """Keep only the total if the numbers after it count its parts and add up to it."""
    total, *parts = (
        int(_NUMBERS.get(one.casefold(), one))
        for one in (found["total"], *_NUMBER.findall(found["parts"]))
    )
    _, *of_parts = _NUMBER.split(found["parts"])
    adds_up = parts[1:] and sum(parts) == total and all(map(_PLACE_WORD.search, of_parts))
    return f"{found['total']}{found['of']}" if adds_up else found[0]


def _number(found: re.Match[str], places: Mapping[str, int]) -> str:
    """Mark a number in digits or words; one that is no option is marked as "Z"."""
    digits = _NUMBERS.get(found[0].casefold(), found[0])
    return chr(_TEXT + places.get(digits, _NO_OPTION))


def _none(found: re.Match[str], place: int) -> str:
    """Mark "There are no dogs." as the option 0."""
    return chr(_TEXT + place) if states_none(found[0]) else found[0]


def _first(found: re.Match[str]) -> str:
    return next(filter(None, found.groups()), "")


def _lead(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)


def _last(found: re.Match[str]) -> str:
    return [group for group in found.groups() if group is not None][-1]


def _place(letter: str) -> int:
    return ascii_uppercase.index(letter.upper())


def _letters(found: re.Match[str]) -> str:
    named = re.findall("[A-Ma-h]", _first(found))
    return "".join(
        f" {chr(_LETTER + _place(letter))} " for letter in ["".join(named)] if len(letter) == 1
    ) or (" " + "".join(chr(_LETTER + _place(letter)) for letter in named) + " ")


def _mark_quoted_letters(found: re.Match[str], offered: str) -> str:
    return _letters(found) if set(_CAPITAL.findall(found[1])) <= set(offered) else found[0]


def _mark_bare_letters(found: re.Match[str], offered: str) -> str:
    letters = found[1]
    a_word = len(letters) > 2 and letters != "".join(sorted(letters))
    if a_word or not set(letters) <= set(offered):
        return found[0]
    return "".join(chr(_BARE + _place(letter)) for letter in found[1])


def _mark_place(found: re.Match[str], n: int, ordinals: dict[str, int]) -> str:
    word = _first(found).casefold()
    nth = n - 1 if word == "last" else _PLACES[re.sub(r"(?<=\d)\w+", "", word)]
    if ordinals:
        nth = ordinals.get(word, n - 1 if word == "last" else n)
    return f" {chr(_LETTER + nth)} " if nth < n else found[0]


def _mark_former_or_latter(found: re.Match[str], offered: str) -> str:
    """Mark "the former" or "the latter" of two options, in the order the text names them."""
    names = re.findall(NAME, found.string[: found.start()])
    two = "".join(dict.fromkeys(map(letter_of, names))) or offered
    if len(two) != 2:
        return found[0]
    return f" {chr(_LETTER + _place(two[not (found[1] or found[2])]))} "


def _strip_option_list(text: str, n: int) -> str:
    """Remove lists of all options in their order that hold nothing but letters and texts."""
    if n < 2:
        return text
    return _list_of(n).sub("", _LIST_START.sub(_end_sentence, text))


@cache
def _list_of(n: int) -> re.Pattern[str]:
    items = [
        rf"[{chr(_LETTER + k)}{chr(_BARE + k)}][\s.):、*{_CAPITAL_MARK}-]*"
        rf"[{chr(_TEXT + k)}{chr(_CLAIM + k)}]"
        for k in range(n)
    ]
    return re.compile(r"[^\w√×]{0,6}".join(items))


def _end_sentence(found: re.Match[str]) -> str:
    """End the sentence before a list of several options: its colon announces none of them."""
    return f".\n{found[1]}" if letter_of(found[1]) != letter_of(found[2]) else found[0]


def reduce_to_verdict(text: str) -> str:
    """Reduce a text to its verdict; unchanged if it gives none, or two that differ."""
    found = {_verdict_on(one) for one in _AGREEMENT_PHRASE.finditer(text)}
    return found.pop() if len(found) == 1 else text


def _verdict_on(found: re.Match[str]) -> str:
    right = (found["agrees"] is None) == (found["denied"] is not None)
    return f" {'right' if right else 'wrong'}{'?' if found['end'] == '?' else '.'} "


def _merge_names(found: re.Match[str]) -> str:
    """Merge a label and a text into one name if they agree; else mark them as alternatives."""
    names = [name for name in found[0] if re.match(NAME, name)]
    if letter_of(names[0]) == letter_of(names[1]):
        kind = _CLAIM if any(map(is_claim, names)) else _BOTH
        return f" {chr(kind + _place(letter_of(names[0])))} "
    separate = any(map(is_claim, names)) or f". {_CAPITAL_MARK}" in found[0]
    return found[0] if separate else f"{names[0]}或{names[1]}"


def _mark_others(found: re.Match[str], options: Options) -> str:
    """The options left over by "all but ..."."""
    aside = {letter_of(name) for name in re.findall(NAME, found[0])}
    return f" {_names_of(one for one in options.letters if one not in aside)} "


def _names_of(letters: Iterable[str]) -> str:
    return "".join(chr(_LETTER + _place(letter)) for letter in letters)
