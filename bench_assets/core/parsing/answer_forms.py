"""Answer forms: functions that return the letters a response commits to, "" or None.

"" means that the form occurs but leaves the answer open; None that it does not occur.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise, takewhile
from pathlib import Path
from typing import Literal, TypeAlias

from bench_assets.core.parsing.option_names import (
    BOTH,
    CLAIM,
    EXPLICIT_LETTER,
    LETTER,
    NAME,
    TEXT,
    Options,
    letter_of,
)
from bench_assets.core.parsing.option_tokens import FILLER, Token
from bench_assets.core.parsing.sentences import ends_open, is_negated, is_truncated, is_undecided
from bench_assets.core.parsing.statements import (
    ARROWS,
    CONCEDING,
    CONTRASTING,
    CORRECTION_WORDS,
    VERDICTS,
    OptionStatements,
)
from bench_assets.core.parsing.word_lists import alternatives

RequestedKind = Literal["right", "wrong", "else"]
"""What a question asks for: the right statements, the wrong ones, or something else."""

_FILE = Path(__file__).with_name("option_forms.txt")
_MAX_OPTION_RUNS = (
    40  # options kept of those a response begins with; of more, only the last is added
)
_SEPARATOR = r"(?:[\s,、，;；&+.*_-]|和|与|及|以及|and\b)"
_OPTIONS_ONLY = re.compile(rf"{NAME}(?:{_SEPARATOR}*+{NAME})*+")
_ALTERNATIVES_ONLY = re.compile(rf"{NAME}(?:(?:{_SEPARATOR}|或者?|or\b|/)*+{NAME})*+")
_MAX_DENIAL_WORDS = 6  # words of a response that is short
_ALL_OPTIONS = re.compile(alternatives(_FILE, "of all options"), re.IGNORECASE)
_MAX_WORDED_LENGTH = 120  # characters
_WORD = re.compile("[a-z]+|[0-9]+|[\u4e00-\u9fff]")
_COMMON = frozenset(
    ("a", "an", "the", "of", "in", "on", "at", "to", "it", "is", "and", "with", "by")
)
_SHORT_DENIAL = re.compile(
    alternatives(_FILE, "what a short response without an answer says"),
    re.IGNORECASE,
)
_NON_NAME = rf"[^\w\n{NAME[1:-1]}]"
_LABELLED, _BARE_LABEL = (  # "- (A) red\n- (B)"
    re.compile(rf"{_NON_NAME}*+{pattern}") for pattern in (NAME, rf"{LETTER}[ \t]*[.:)、]?\Z")
)
_TRUNCATED_TOPIC = re.compile(
    rf"(?:与|对于?|关于|针对)\W*{NAME}\W*\Z"
)  # "分子式为 C10H16O2，与选项A"
_FINAL_NAME = re.compile(rf"{NAME}[^\w{NAME[1:-1]}]*+\Z")  # the last one alone is tried
_TRUNCATED_ROW = rf"\|\s*{NAME}\s*\|\s*\Z"  # of a table
_TRUNCATED_SENTENCE = re.compile(
    rf"(?:[.!。]\s|\n)[^.!。\n]*{NAME}\W*+\w[^{NAME[1:-1]}.!?。]*(?<=\w)\Z|{_TRUNCATED_ROW}"
)
_CLAUSE_END = re.compile(r"[,:;.!?。，；：\n]| [-–—] |\b(?:but|yet)\b")
_WEIGHING = ("Considering", "Given")  # "Considering B, ..."
_CONTINUATION_MARKS = (",", "、")
_DASHES = (" - ", "–", "—")
_ENDS = ("stop", "ask")
_CORRECTION_KINDS = ("undo", "contrast", "or", "hedge", *VERDICTS)
_ANNOUNCEMENT = re.compile(alternatives(_FILE, "before a colon and an option"), re.IGNORECASE)
_COLONS = (":", "：")
_NON_ASSERTING_KINDS = ("drop", "wrong", "unfit", "hedge", "than", "if", "refuse", "back")
_ANSWER_PREFIX, _ANSWER_SUFFIX = (
    re.compile(form.format(alternatives(_FILE, f"{at} the only option mentioned")), re.IGNORECASE)
    for at, form in (("before", r"(?:\b(?:{})|[=>→⇒])\W*\Z"), ("after", r"\A\W*(?:{})"))
)
_VERB = r"(?:is|was|would|could|might|may|can|has|does|did|\w+s)\b"
_LABELLED_TEXT = re.compile(  # "(A) the second image", "there are (A) 3 dogs"; not "(A) is absurd"
    rf"\A\W*{EXPLICIT_LETTER} +(?!{_VERB})|{EXPLICIT_LETTER} +\d"
)
_PARAPHRASE = re.compile(  # "his posture suggests sadness (C)"; not "differs from (C)"
    r"(?<!would )(?<!could )(?<!might )\b(?:suggest|indicate|show|convey|express)s?\b[^.;\n]{0,60} "
    r"(?!(?:from|than|to|with|of|as|like|by|for|on|in|at|option|mark) )"
    rf"\w+ +{EXPLICIT_LETTER}\W*\Z",
    re.IGNORECASE,
)
_COMPARED = re.compile(  # "bigger than a car"
    rf"\b(?:than|as \w+ as|far from|next to) {NAME}", re.IGNORECASE
)
_REASON_WORD = re.compile(r"\b(?:because|since)\b", re.IGNORECASE)
_LETTER_RUN = re.compile(rf"{NAME}(?:\W*{NAME})*")
_OUTER_CHARACTERS = " \t\n\"'()[].。!:,;*>_`-–—“”‘’"
_LABEL = re.compile(
    rf"^{_NON_NAME}*+(?:\d\.\s*)?({LETTER}|{TEXT})[ \t]*([.、:)(→–—|-]|(?=[^\w\n]*+$))(.*)$",
    re.MULTILINE,
)
_OPTION_LINE = re.compile(
    rf"^(?![^\w\n]*×){_NON_NAME}*+({BOTH}|{CLAIM}){_NON_NAME}*+$", re.MULTILINE
)
_LEADING_LABELLED_TEXT = re.compile(
    rf"\W*(?:(?:the )?(?:\w+ )?answer(?: is|:)\W*)?({BOTH})\W*?"
    r"(?:[–—]| - |\b(?:because|since|as)\b)[^.;!?\n]*",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"(?:[:：]|答案|选项|\banswers?|\boptions?)[^\S\n]*+\n++"
    rf"((?:{_NON_NAME}{{0,9}}{NAME}(?:[.、:) ].*)?(?:\n++|\Z)){{2,}})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """A response with its options marked, cut into tokens and read as statements."""

    text: str
    tokens: Sequence[Token]
    said: OptionStatements
    options: Options
    wanted: RequestedKind = "right"


Form: TypeAlias = Callable[[ParsedResponse], str | None]


def only_options(text: str) -> str | None:
    """The letters of a text of nothing but options; "" for alternatives, None for other text."""
    stripped = text.strip(_OUTER_CHARACTERS)
    if _OPTIONS_ONLY.fullmatch(stripped):
        return _distinct(map(letter_of, re.findall(NAME, stripped)))
    return "" if _ALTERNATIVES_ONLY.fullmatch(stripped) else None


def announced_list(response: ParsedResponse) -> str | None:
    """The options listed one per line below an announcement, unless all options are listed."""
    found = _ANNOUNCED.search(response.text)
    letters = _distinct(letter_of(one[1]) for one in _LABEL.finditer(found[1])) if found else ""
    return letters if 0 < len(letters) < response.options.n else None


def last_stated_choice(response: ParsedResponse) -> str | None:
    """The last stated choice; "" if it is denied, or an earlier one differs and still holds."""
    statements = response.said
    if not statements.chosen:
        return None
    last, start = statements.chosen[-1]
    called_wrong = last == statements.called_wrong and start <= statements.called_wrong_at
    if response.wanted == "right" and called_wrong:
        return ""
    wrong = set(statements.verdicts["wrong"]) & set(statements.verdicts["right"])
    corrected = max((cue for cue in statements.cues if cue <= start), default=-1)
    for letters, before in statements.chosen[:-1]:
        taken_back = before < corrected or set(letters) & statements.denied.keys()
        if set(letters) != set(last) and not taken_back:
            return ""
    denied = {a for a, at in statements.denied.items() if at >= start}
    return "" if set(last) & (denied | wrong) else _distinct(last)


def unrevised_choice(response: ParsedResponse) -> str | None:
    """The last stated choice; "" if a conclusion after it names another option."""
    found, statements = last_stated_choice(response), response.said
    concluded = (
        concluded_option(response)
        if found and statements.concluded_at > statements.chosen[-1][1]
        else None
    )
    return found if concluded in (None, found) else ""


def leading_labelled_text(response: ParsedResponse) -> str | None:
    """The option that a response opens with, by letter and text, if only its reason follows.

    No other letter and no correction may follow: "(D) 7 - three on each side and one more".
    """
    found, statements = _LEADING_LABELLED_TEXT.match(response.text), response.said
    if not found or statements.cues or statements.refuses or statements.open:
        return None
    letter = letter_of(found[1])
    after = re.findall(LETTER, found[0]) + re.findall(NAME, response.text[found.end() :])
    turns = any(one.kind in _CORRECTION_KINDS for one in response.tokens)
    alone = set(map(letter_of, after)) == {letter} and not turns
    return letter if alone and letter not in statements.rejected else None


def first_line_letter(response: ParsedResponse) -> str | None:
    """The letter that is the whole first line, if the rest corrects nothing."""
    first, _, rest = response.text.partition("\n")
    found = only_options(first) if rest.strip() and re.search(LETTER, first) else None
    wrong = set(response.said.verdicts["wrong"] + response.said.called_wrong)
    firm = not response.said.cues and not _LABEL.search(rest) and not wrong & set(found or "")
    return found if found and len(found) == 1 and firm else None


def option_line(response: ParsedResponse) -> str | None:
    """The only option that is a line of its own, with its letter and its text."""
    found = {letter_of(line[1]) for line in _OPTION_LINE.finditer(response.text)}
    return found.pop() if len(found) == 1 and not _is_truncated(response) else None


def claimed_option(response: ParsedResponse) -> str | None:
    """The only option stated as a claim: "A is closer to the camera"."""
    found = set(response.said.claimed)
    return found.pop() if len(found) == 1 and not found & response.said.rejected else None


def judged_options(response: ParsedResponse) -> str | None:
    """The options whose verdicts are what the question asks for; "" if that is unclear."""
    statements, text, tokens = response.said, response.text, response.tokens
    verdicts = statements.verdicts
    if verdicts["fit"] or (verdicts["unfit"] and response.wanted != "right"):
        yes, no = verdicts["fit"], verdicts["unfit"]
    else:
        right, wrong = verdicts["right"], verdicts["wrong"]
        unfit = wrong + verdicts["unfit"]
        found = {"right": (right, unfit), "wrong": (wrong, right), "else": ("", "")}
        yes, no = found[response.wanted]
    if not yes:
        return None
    closes = bool(statements.alone) and set(statements.alone) == set(yes)  # a last line of its own
    hanging = (bool(statements.last) and not closes) or tokens[-2].kind in ("reason", "comma", "is")
    cut_off = hanging and text[-1] not in "。.;!)"
    every = set(yes) | set(no) >= set(response.options.letters)
    partly = len(set(yes)) > 1 and bool(no) and not every
    clash = set(yes) & (set(no) | set(statements.open) | statements.denied.keys())
    unsure = bool(statements.open) and len(set(yes)) > 1
    unsure |= _is_conceded(yes, response)
    return "" if cut_off or partly or clash or unsure else _distinct(yes)


def _is_conceded(yes: str, response: ParsedResponse) -> bool:
    """Whether the main clause after these letters names another: "A fits, but the hole is at C"."""
    before = set[str]()
    for at, token in enumerate(response.tokens):
        if token.kind == "contrast" or token.text in CONTRASTING:
            conceded, main = _conceded_and_main(response.tokens, at)
            named = set(main) - response.said.rejected - set(response.said.open)
            if named and named.isdisjoint(yes) and before | {*conceded} >= {*yes}:
                return True
        before |= {*token.letters}
    return False


def _conceded_and_main(tokens: Sequence[Token], at: int) -> tuple[str, str]:
    """The letters of the subordinate and the main clause that a contrast joins."""
    rest = [*takewhile(lambda one: one.kind not in _ENDS, tokens[at + 1 : at + _MAX_OPTION_RUNS])]
    main = rest
    if tokens[at].text.casefold() in CONCEDING:
        opens = not at or tokens[at - 1].kind in _ENDS
        main = [*dropwhile(lambda one: one.kind != "comma", rest)] if opens else []
    conceded = rest[: len(rest) - len(main)]
    return _letters_of(conceded), _letters_of(main)


def _letters_of(tokens: Iterable[Token]) -> str:
    return "".join(one.letters for one in tokens)


def remaining_option(response: ParsedResponse) -> str | None:
    """The one option that is left where all others are denied or called wrong."""
    statements, verdicts = response.said, response.said.verdicts
    aside = {
        "right": statements.rejected,
        "wrong": {*statements.denied, *verdicts["right"]},
        "else": {*statements.denied, *verdicts["unfit"]},
    }[response.wanted]
    left = set(response.options.letters) - aside
    implied = response.options.counted and not left & set(statements.mentioned + statements.open)
    implied = implied and not is_undecided(response.text)
    return (
        left.pop()
        if len(left) == 1 and implied and not _ALL_OPTIONS.search(response.text)
        else None
    )


def judged_without_analysis(response: ParsedResponse) -> str | None:
    """As ``judged_options``, but None for a line-by-line analysis that singles out no option.

    A verdict "right", "wrong" or "unfit" singles one out, and so does a last line such as "The best
    match is A."
    """
    verdicts = response.said.verdicts
    last = response.text.rstrip().rpartition("\n")[2]
    closing = "" if _LABEL.match(last) else "".join(map(letter_of, re.findall(NAME, last)))
    singled_out = bool(verdicts["unfit"] or verdicts["wrong"] or verdicts["right"])
    singled_out |= bool(closing) and {*closing} == {*verdicts["fit"]}
    analysed = not singled_out and _without_analysis(response.text) != response.text
    return None if analysed else judged_options(response)


def leading_or_final_letters(response: ParsedResponse) -> str | None:
    """The letters that a response begins or ends with, or lists one per line."""
    statements, text, options = response.said, response.text, response.options
    labels = [(letter_of(one[1]), one[3]) for one in _LABEL.finditer(text)]
    lines = [line for line in text.split("\n") if line.strip()]
    if len(labels) > 1:
        letters = _distinct(letter for letter, _ in labels)
        cut_off = not labels[-1][1].strip() and labels[0][1].strip()
        found = "" if cut_off or set(letters) >= set(options.letters) else letters
    else:
        found = _final_letters(response) or _leading_letters(response.tokens)
        outer = [
            line
            for line in lines[:1] + lines[-1:]
            if not line.rstrip().endswith(_CONTINUATION_MARKS)
        ]
        ends = {only_options(line) for line in outer}
        alone = [end for end in ends if end]
        found = found or (alone[0] if len(alone) == 1 else "") or _options_after_colon(text)
    if (
        not found
        or set(found) & (statements.rejected | set(statements.open))
        or _is_truncated(response)
    ):
        return None
    return None if _is_short_denial(text) else found


def unopposed_letters(response: ParsedResponse) -> str | None:
    """As ``leading_or_final_letters``, but None if a later statement favours another option."""
    found = leading_or_final_letters(response)
    corrected = any(one.kind == "undo" or one.text in CORRECTION_WORDS for one in response.tokens)
    if corrected or _FINAL_NAME.search(response.text):
        found = None if concluded_option(response) not in (None, found) else found
    others = {*response.said.claimed, *response.said.verdicts["fit"]} - {found}
    return None if others else found


def concluded_option(response: ParsedResponse) -> str | None:
    """The one option of the last sentence that draws a conclusion."""
    cut_off = ends_open(response.text) or _TRUNCATED_TOPIC.search(response.text)
    found = set(() if cut_off else response.said.concluded)
    return found.pop() if len(found) == 1 and not found & response.said.rejected else None


def predicate_letters(response: ParsedResponse) -> str | None:
    """The letters after "is" at the end of a clause, if all agree: "the colour of the car is B"."""
    found = {frozenset(letters) for letters in response.said.named}
    if len(found) != 1 or found & {frozenset(one) for one in response.said.rejected}:
        return None
    return response.said.named[0]


def only_mentioned_option(response: ParsedResponse) -> str | None:
    """The only option mentioned, if a sentence asserts it."""
    statements = response.said
    named = map(letter_of, re.findall(NAME, _without_analysis(response.text)))
    stated = any(token.kind == "state" for token in response.tokens)
    found = set(named) - (set() if stated else statements.denied.keys())  # "C, not A"
    if len(found) != 1 or (response.options.compared and not statements.claimed):
        return None
    if _TRUNCATED_SENTENCE.search(response.text) or _TRUNCATED_TOPIC.search(response.text):
        return None
    clauses = [
        one
        for one in _CLAUSE_END.split(_REASON_WORD.split(response.text, 1)[0])
        if found & set(map(letter_of, re.findall(NAME, one)))
    ]
    if any(map(is_negated, clauses)) or not all(map(_asserts_option, clauses)):
        return None
    firm = set(statements.mentioned) and not found & (statements.rejected | set(statements.open))
    return found.pop() if firm else None


def option_by_words(response: ParsedResponse) -> str | None:
    """The only option all of whose distinctive words are in a short response."""
    text, options = response.text, response.options
    if (
        re.search(NAME, text)
        or len(text) > _MAX_WORDED_LENGTH
        or is_negated(text)
        or is_undecided(text)
    ):
        return None
    words = [_words_of(one) for one in options.texts]
    own = [
        one - {word for other in words if other is not one for word in other} - _COMMON
        for one in words
    ]
    found = [
        letter for letter, one in zip(options.letters, own, strict=True) if one <= _words_of(text)
    ]
    shared = frozenset.intersection(*words) - _COMMON if words else frozenset()
    spoken_of = shared & _words_of(text) and "?" not in text  # "inside that house"
    return found[0] if len(found) == 1 and all(own) and spoken_of else None


def _words_of(text: str) -> frozenset[str]:
    """The words of a text without their plural "s", and its Chinese characters."""
    return frozenset(one.removesuffix("s") for one in _WORD.findall(text.casefold()))


def _asserts_option(clause: str) -> bool:
    """Whether the Latin words around an option's letter are known to call it the answer."""
    if re.search(TEXT, clause):
        return _COMPARED.search(clause) is None  # "There are three dogs."
    if _LABELLED_TEXT.search(clause) or _PARAPHRASE.search(clause):
        return True
    before, after = _LETTER_RUN.split(clause, 1)
    return all(
        not re.search("[A-Za-z]", FILLER.sub("", words)) or known.search(words)
        for words, known in ((before, _ANSWER_PREFIX), (after, _ANSWER_SUFFIX))
    )


def _without_analysis(text: str) -> str:
    """Remove the lines that go through several options one by one."""
    lines = [(line, _LABEL.match(line)) for line in text.splitlines()]
    if len({label[1] for _, label in lines if label}) < 2:
        return text
    return "\n".join(line for line, label in lines if not label) or text


def _is_truncated(response: ParsedResponse) -> bool:
    """Whether a response was cut off after announcing the next option: "A: red. B:"."""
    names = [letter_of(name) for name in re.findall(NAME, response.text)]
    *_, before, last = ["", *(line for line in response.text.split("\n") if line.strip())]
    bare = _BARE_LABEL.match(last.rstrip()) and _LABELLED.match(before)
    if ends_open(response.text) and "\n" in response.text:
        return True
    return (bare is not None or ends_open(response.text)) and len(set(names)) > 1


def _final_letters(response: ParsedResponse) -> str:
    """The letters that end a response, if all other options it names are rejected.

    They are the whole last sentence, or follow its colon or arrow.
    """
    *before, last = [one for one in response.tokens if one.kind != "stop"] or [response.tokens[0]]
    at = response.tokens.index(last)
    opens = response.tokens[at - 1]
    if not last.letters or not at or not _introduces_answer(opens, response.tokens[:at]):
        return ""
    others = {letter for one in before for letter in one.letters} - set(last.letters)
    if re.match(LETTER, last.text) and before[1:] and last.letters not in response.said.open:
        signed = "".join(one.letters for one in before if re.match(LETTER, one.text))
        others &= set(signed) - set(response.said.open)  # "one and one, so two. C"
        doubts = any(one.kind in ("hedge", "refuse") for one in before)
        is_clear = not doubts or bool(response.said.open)  # "Not sure. C"
    else:
        is_clear = bool(before) and before[-1].kind == "ask"  # "Is it on the left? No."
    is_final = others <= response.said.rejected if others else is_clear
    return last.letters if is_final else ""


def _options_after_colon(text: str) -> str:
    """The options after the last colon, if there are several and none is named before it."""
    before, _, after = text.rpartition(":")
    plain = before and not re.search(NAME, before) and not is_negated(before)
    found = (only_options(after) or "") if plain else ""
    return found if len(found) > 1 else ""


def _introduces_answer(opens: Token, before: Sequence[Token]) -> bool:
    if opens.text not in _COLONS:
        return opens.kind in _ENDS or opens.text in ARROWS
    sentence: list[Token] = []
    for one in before:
        sentence = [] if one.kind in _ENDS else [*sentence, one]
    announcement = sentence and _ANNOUNCEMENT.search(
        sentence[-2].text if sentence[1:] else sentence[-1].text
    )
    return bool(announcement) and not any(
        one.letters or one.kind in _NON_ASSERTING_KINDS for one in sentence
    )


def _is_short_denial(text: str) -> bool:
    """Whether a short response is a denial in another language, or the output of a program."""
    return len(text.split()) <= _MAX_DENIAL_WORDS and _SHORT_DENIAL.search(text) is not None


def _leading_letters(tokens: Sequence[Token]) -> str:
    """The letters that a response begins with, if a stop, a reason or their text follows."""
    words = [token for token in tokens if token.kind not in ("cue", "is")]
    if tokens[0].text in _WEIGHING:
        return ""
    at = 0
    while words[at].kind in ("comma", "stop") and at + 1 < len(words):
        at += 1
    first, at = words[at], at + 1
    runs = [first]
    while _has_next_option(words[at : at + 3]):
        runs, at = [*runs[:_MAX_OPTION_RUNS], words[at + 1]], at + 2
    letters, rest, groups = "".join(one.letters for one in runs), words[at:], len(runs)
    echoed = {
        one.letters
        for one, following in pairwise(tokens)
        if one.text.rstrip()[-1:] in (".", ":", "、") or (one.letters and following.text in _DASHES)
    }
    if first.kind != "option" or len(echoed - {""}) > 1:
        return ""  # several are gone through
    rest = rest[1:] if rest[0].kind == "contrast" and len(rest) > 1 else rest  # "B but not A"
    is_of = rest[0].kind == "than" and tokens[1].kind == "is"  # "The second image is of a beach"
    following = rest[0].kind
    if following == "drop" and not rest[1].letters:
        return ""  # "The left image is not available"
    if following == "comma" and rest[1].kind == "hedge":
        return ""  # "yes, maybe"
    if following == "comma":
        following = "text" if groups > 1 and rest[1].kind not in ("reason", "drop") else "stop"
    labelled = groups == 1 and first.text.rstrip()[-1] in ".:)、"
    follows = labelled or (following in ("stop", "reason", "drop", "than") and not is_of)
    return _distinct(letters) if follows else ""


def _has_next_option(words: Sequence[Token]) -> bool:
    """Whether a comma and another option follow that is not dropped right after."""
    kinds = [word.kind for word in words]
    return kinds[:2] == ["comma", "option"] and kinds[2:] != ["drop"]


def _distinct(letters: Iterable[str]) -> str:
    return "".join(dict.fromkeys(letters))


def _skip_doubtful(form: Form) -> Form:
    """Wrap a form to give None for a response that refuses or breaks off."""

    def read(response: ParsedResponse) -> str | None:
        text = response.text
        statements = response.said
        named_at = max((one.start for one in response.tokens if one.letters), default=0)
        last_kinds = {one.kind for one in response.tokens[-2:-1]}  # "- D: ... no"
        cut_off = is_truncated(text) and last_kinds.isdisjoint(VERDICTS)
        doubtful = (
            statements.refuses
            or statements.blamed_at > named_at
            or cut_off
            or _is_short_denial(text)
        )
        return None if doubtful else form(response)

    return read


MULTIPLE_ANSWER_FORMS: tuple[tuple[str, Form], ...] = (
    ("a list after a colon", announced_list),
    ("a stated answer", last_stated_choice),
    ("a judgement of the options", judged_options),
    ("all others are excluded", _skip_doubtful(remaining_option)),
    ("what it begins or ends with", leading_or_final_letters),
    ("the answer in a sentence", predicate_letters),
)
"""The forms where several options may be right: the first that is there decides."""
SINGLE_ANSWER_FORMS: tuple[tuple[str, Form], ...] = (
    ("the option that it opens with", leading_labelled_text),
    ("a stated answer", unrevised_choice),
    ("its first line", first_line_letter),
    ("the one line that is an option", option_line),
    ("what it begins or ends with", unopposed_letters),
    ("a conclusion", concluded_option),
    ("what it claims", _skip_doubtful(claimed_option)),
    ("a judgement of the options", _skip_doubtful(judged_without_analysis)),
    ("all others are excluded", _skip_doubtful(remaining_option)),
    ("the answer in a sentence", _skip_doubtful(predicate_letters)),
    ("the only option mentioned", _skip_doubtful(only_mentioned_option)),
    ("the words of one option", _skip_doubtful(option_by_words)),
)
"""The forms where one option is right."""
