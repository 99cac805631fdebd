"""Choice parser: options that a response commits to, sentence by sentence.

An option is chosen by a statement ("答案是B", "故选B", a box, JSON), by a judgement of each option
("A、B错误，C正确", a table, marks), or by standing first or last and alone. What is denied, left
open, asked, cut off or merely a point in a figure is not chosen.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from bench_assets.suites.multi.parsing.boxed_answers import boxed, in_json
from bench_assets.suites.multi.parsing.letter_words import TRADITIONAL
from bench_assets.suites.multi.parsing.sentence_tokens import Token, tokens_of
from bench_assets.suites.multi.parsing.sentences import StatedLetters, read

Wanted = Literal["right", "wrong", "else"]
"""Whether a question asks for the statements that are right, for those that are wrong, or else."""

_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}")
_TICKED, _NOT_TICKED = re.compile(r"\[[xX]\]"), re.compile(r"\[ ?\]")
_IN_BRACKETS = re.compile(r"[(\[\"“'「【]\s*([A-Z](?:[、, ]*[A-Z])*)[.。]?\s*[)\]\"”'」】]")
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"(?:答案|选项|answers?|options?)(?: are)?:?[^\S\n]*+\n"
    r"((?:\W*+[A-Z](?:[.、:) ].*)?(?:\n|\Z)){2,})"
)
_NUMBER = re.compile(r"^[^\S\n]*+\(?\d++[.、)]\s*+(?=[A-Z]\W*$)", re.MULTILINE)
_LISTED = re.compile(r"^[^\w\n]*+([A-Z])\s?[.、:)](.*)$", re.MULTILINE)
_MANY = 40  # letters that a response begins with; of more only the last is added
_SEPARATED = r"(?:[\s,、;&]|和|与|及|and)*"


def committed(response: str, offered: str, wanted: Wanted = "right") -> str:
    """Read the letters a response commits to, in the order named; "" if it leaves that open.

    Args:
        response: Any text, in letters of common width.
        offered: The letters of the options.
        wanted: What makes an option of the question a right one.
    """
    written = in_json(response)
    if written is not None:
        return _bare(written, offered)
    text = normalised(response)
    boxes = re.sub(r"^([A-Z])[.、:].*", r"\1", boxed(text).strip(" ()"))
    if bare := _bare(boxes, offered) or _bare(text, offered):
        return bare
    if listed := _listed_answer(text, offered):
        return listed
    tokens = tokens_of(text, offered)
    said = read(tokens)
    if said.chosen:
        taken_back = wanted == "right" and said.chosen[-1][0] == said.called_wrong
        return "" if taken_back else _last_choice(said)
    judged = _judged(text, tokens, said, offered, wanted)
    return _standing_alone(text, tokens, said, offered) if judged is None else judged


def normalised(response: str) -> str:
    """Write a response in simplified characters and without markup, ticked boxes as marks."""
    text = _LATEX.sub(r"\1", response.translate(TRADITIONAL)).replace("__", "")
    if _TICKED.search(text):
        text = _NOT_TICKED.sub("×", _TICKED.sub("√", text))
    text = re.sub(
        r"[A-Z]?[a-z]+", lambda word: word[0].lower() if len(word[0]) > 1 else word[0], text
    )
    text = _NUMBER.sub("", _without_tags(text))
    return _IN_BRACKETS.sub(r" \1 ", text).strip()


def _without_tags(text: str) -> str:
    """Write what stands between the tags of an answer as one that is announced."""
    parts, end, opened = [], 0, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = opened or tag
        elif opened:
            said = text[opened.end() : tag.start()].strip()
            parts += [text[end : opened.start()], f"\n答案:{said}\n"]
            end, opened = tag.end(), None
    return "".join([*parts, text[end:]])


def _bare(text: str, offered: str) -> str:
    """The letters of a text that holds nothing else; small ones count only alone."""
    text = text.strip(" \n\"'()[].。!:")
    small = re.fullmatch(r"[a-z](?:[\s,、]*[a-z])*", text) and not re.match("[a-z]{2}", text)
    text = text.upper() if small else text
    found = re.fullmatch(rf"[{offered}](?:{_SEPARATED}[{offered}])*", text)
    return _distinct(re.findall("[A-Z]", text)) if found else ""


def _listed_answer(text: str, offered: str) -> str:
    """The options that are listed one a line below an announcement, unless they all are."""
    found = _ANNOUNCED.search(text)
    letters = _distinct([letter for letter, _ in _LISTED.findall(found[1])]) if found else ""
    letters = letters or (_distinct(re.findall("[A-Z]", found[1])) if found else "")
    return letters if set(letters) < set(offered) else ""


def _last_choice(said: StatedLetters) -> str:
    """The last choice, unless an earlier one was not taken back."""
    last, start = said.chosen[-1]
    wrong = set(said.verdicts["wrong"]) & set(said.verdicts["right"])
    corrected = max((cue for cue in said.cues if cue <= start), default=-1)
    for letters, before in said.chosen[:-1]:
        taken_back = before < corrected or set(letters) & said.denied.keys()
        if set(letters) != set(last) and not taken_back:
            return ""
    return "" if set(last) & (said.denied.keys() | wrong) else _distinct(last)


def _judged(
    text: str, tokens: Sequence[Token], said: StatedLetters, offered: str, wanted: Wanted
) -> str | None:
    """Options judged as wanted; "" if unclear, None without any."""
    verdicts = said.verdicts
    if verdicts["fit"] or verdicts["unfit"]:
        yes, no = verdicts["fit"], verdicts["unfit"]
    else:
        right, wrong = verdicts["right"], verdicts["wrong"]
        yes, no = {"right": (right, wrong), "wrong": (wrong, right), "else": ("", "")}[wanted]
    if not yes:
        return None
    hanging = bool(said.last) or tokens[-2].kind in ("reason", "comma", "is")
    cut_off = hanging and text[-1] not in "。.;!)"
    listed = set(yes) | set(no)
    partly = len(set(yes)) > 1 and bool(no) and not listed >= set(offered)
    clash = set(yes) & (set(no) | set(said.open) | said.denied.keys())
    unsure = bool(said.open) and len(set(yes)) > 1
    return "" if cut_off or partly or clash or unsure else _distinct(yes)


def _standing_alone(text: str, tokens: Sequence[Token], said: StatedLetters, offered: str) -> str:
    """The letters that a response begins or ends with, or lists one a line."""
    listed = [(letter, rest) for letter, rest in _LISTED.findall(text) if letter in offered]
    lines = [line for line in text.split("\n") if line.strip()]
    if len(listed) > 1:
        letters = _distinct(letter for letter, _ in listed)
        cut_off = not listed[-1][1].strip() and listed[0][1].strip()
        found = "" if cut_off or set(letters) == set(offered) else letters
    else:
        found = _leading(tokens)
        ends = {_bare(line, offered) for line in (lines[0], lines[-1])} if lines else set()
        alone = ends - {""}
        found = found or (alone.pop() if len(alone) == 1 else "")
    return "" if set(found) & (said.denied.keys() | set(said.open)) else found


def _leading(tokens: Sequence[Token]) -> str:
    """The letters that a response begins with.

    If what follows is an end, a reason or their text.
    """
    words = [token for token in tokens if token.kind not in ("cue", "is")]
    at = 0
    while words[at].kind in ("comma", "stop") and at + 1 < len(words):
        at += 1
    first, at = words[at], at + 1
    runs = [first]
    while at + 1 < len(words) and words[at].kind == "comma" and words[at + 1].kind == "run":
        runs, at = [*runs[:_MANY], words[at + 1]], at + 2
    letters, rest, groups = "".join(one.letters for one in runs), words[at:], len(runs)
    echoed = {token.letters for token in tokens if token.text.rstrip()[-1:] in (".", ":", "、")}
    if first.kind != "run" or len(echoed - {""}) > 2:
        return ""
    following = rest[0].kind
    if following == "comma":
        following = "text" if groups > 1 and rest[1].kind not in ("reason", "drop") else "stop"
    labelled = groups == 1 and first.text.rstrip()[-1] in ".:)、"
    return _distinct(letters) if labelled or following in ("stop", "reason", "drop") else ""


def _distinct(letters: Iterable[str]) -> str:
    return "".join(dict.fromkeys(letters))
