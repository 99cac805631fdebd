"""Sentence parser: statements about the letters of options (for ``letters``).

Tokens (``tokens``) are put together to sentences and clauses. A clause is read from left to right:
words that choose or drop apply to the letters after them, verdicts to the letters before them or,
if there are none, after them ("正确的是B").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bench_assets.suites.multi.parsing.sentence_tokens import Token, more

VERDICTS = ("right", "wrong", "fit", "unfit")
"""What is said of an option: of its truth, or of how it fits the question."""

_AFTER_OR = ("run", "pick", "state")
_SAYING_NOTHING = ("stop", "is")
_LINKING = frozenset({"is", "pick"})
_LINKS = 2  # the first token of a clause, and the first that links


@dataclass(slots=True)
class StatedLetters:
    """Statements about the options so far."""

    chosen: list[tuple[str, int]] = field(default_factory=list)  # letters, and where
    denied: dict[str, int] = field(default_factory=dict)  # letter -> where last
    verdicts: dict[str, str] = field(default_factory=lambda: dict.fromkeys(VERDICTS, ""))
    cues: list[int] = field(default_factory=list)  # where a conclusion or correction begins
    called_wrong: str = ""  # letters that were chosen, and called wrong right after
    open: str = ""  # letters of which something is said that is not meant to hold
    last: str = ""  # letters at the very end of which nothing is said


def read(tokens: Sequence[Token]) -> StatedLetters:
    """Read sentence after sentence."""
    said = StatedLetters()
    marks = [token for token in tokens if token.letters or re.fullmatch(r"\W", token.text.strip())]
    marks_first = bool(marks) and marks[0].kind in VERDICTS
    for sentence in _sentences(tokens):
        _Sentence(sentence, said, marks_first=marks_first).read()
    return said


def _sentences(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    sentence: list[Token] = []
    last = ""  # the kind of the last token that says something
    for token in tokens:
        sentence.append(token)
        last = last if token.kind in _SAYING_NOTHING else token.kind
        announced = last == "state" and token.text == "\n"  # the answer is to follow
        if token.kind == "ask" or (token.kind == "stop" and not announced):
            yield sentence
            sentence, last = [], ""


def _clauses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    clause: list[Token] = []
    for token in tokens:
        if token.kind == "comma":
            yield clause
            clause = []
        elif token.text or token.kind != "stop":
            clause.append(token)
    yield clause


class _Sentence:
    """Parses one sentence, clause by clause."""

    def __init__(self, tokens: Sequence[Token], said: StatedLetters, *, marks_first: bool) -> None:
        self.tokens, self.said, self.marks_first = tokens, said, marks_first
        self.void = tokens[-1].kind == "ask" or any(
            one.kind == "if" or (one.kind == "or" and other.kind in _AFTER_OR)
            for one, other in pairwise(tokens)
        )
        self.pending = ""  # letters of which nothing is said yet
        self.listed = ""  # those of them that stand in clauses of their own: "A，B错误"
        self.subject = ""  # letters of which something was said
        self.carried = ""  # what was done to the letters that end the clause before
        self.joined = False  # whether letters of a clause of their own were added to them
        self.just_chosen = ""  # letters chosen in this clause
        self.stated = False  # whether this clause speaks of the answer
        self.hedged = False  # whether what this clause says is not meant to hold

    def read(self) -> None:
        for clause in _clauses(self.tokens):
            first = clause[0] if clause else Token("text", "", 0)
            letters = first.letters
            alone = bool(letters) and all(token.kind == "stop" for token in clause[1:])
            if self.carried and alone:
                self._apply(self.carried, first)
                self.joined = True
                continue
            if self.joined and letters and self.carried == "choose":
                self.said.open = more(
                    self.said.open, self.said.chosen.pop()[0]
                )  # "选B，C，D错误": where does it end?
            if alone and not self.void:
                self.listed = self.pending = more(self.pending, letters)
                continue
            self._clause([token for token in clause if token.kind != "stop"])
            self.listed = ""
        self.said.last = self.pending

    def _clause(self, clause: Sequence[Token]) -> None:
        self.carried, self.joined, self.just_chosen = "", False, ""
        self.hedged = self.void or any(token.kind == "hedge" for token in clause)
        mode, self.stated = "", False
        before: list[Token] = []  # as far as it matters
        for place, token in enumerate(clause):
            mode = self._token(token, before, clause[place + 1 : place + 4], mode)
            if len(before) < _LINKS and (not before or token.kind in _LINKING):
                before.append(token)

    def _token(
        self, token: Token, before: Sequence[Token], after: Sequence[Token], mode: str
    ) -> str:
        """Parse one token; returns the effect on the following letters, if any."""
        if token.letters:
            self._letters(token, mode)
            self.carried = "" if after else mode
            return ""
        if token.kind in VERDICTS:
            return self._verdict(token, after)
        if token.kind == "drop":
            return self._drop(token, after)
        if token.kind == "back" and self.said.chosen:
            self.said.called_wrong = self.said.chosen[-1][0]
            self.said.cues.append(token.start)
        if token.kind in ("state", "pick"):
            self.stated = True
            self._named_before(token, before)
            return "choose"
        return self._link(token, before, mode)

    def _link(self, token: Token, before: Sequence[Token], mode: str) -> str:
        if token.kind == "cue":
            self.said.cues.append(token.start)
        if token.kind == "text":
            self.stated = self.stated and not token.text.startswith("的")
            return ""
        return "choose" if token.kind == "is" and (self.stated or not before) else mode

    def _letters(self, token: Token, mode: str) -> None:
        if mode:
            self._apply(mode, token)
            self.pending = ""
        elif token.kind == "open" or self.hedged:
            self.said.open = more(self.said.open, token.letters)
        else:
            self.pending = more(self.listed, token.letters)

    def _verdict(self, token: Token, after: Sequence[Token]) -> str:
        """Apply a verdict to the letters before it; if there are none, it waits for some."""
        follows = [one for one in after[:3] if one.kind != "is"]
        before = bool(follows) and bool(follows[0].letters)
        if before and (not self.pending or (self.marks_first and len(token.text) == 1)):
            return token.kind
        if self.listed and self.listed != self.pending and token.kind in ("wrong", "unfit"):
            self.said.open = more(self.said.open, self.listed)  # "B，A错误": is B right or wrong?
            self.pending = self.pending.removeprefix(self.listed)
        letters = self.pending or (self.subject if token.kind in ("fit", "unfit") else "")
        if not letters and token.kind == "wrong":
            self.said.cues.append(token.start)  # "答案是A……不对，应该是B"
            self.said.denied |= dict.fromkeys(self.just_chosen, token.start)  # "选A是错误的"
        self._apply(token.kind, Token("run", "", token.start, letters))
        self.subject, self.pending = letters, ""
        return ""

    def _drop(self, token: Token, after: Sequence[Token]) -> str:
        if after and after[0].letters:
            return "deny"
        self._apply("deny", token._replace(letters=self.pending))
        self.pending = ""
        return ""

    def _named_before(self, token: Token, before: Sequence[Token]) -> None:
        """Choose the letters of "C才是正确答案"."""
        named = token.kind == "state" and any(one.kind in _LINKING for one in before)
        if named and self.pending:
            self._apply("choose", token._replace(letters=self.pending))
            self.pending = ""

    def _apply(self, mode: str, token: Token) -> None:
        if mode == "deny" and not self.void:
            self.said.denied |= dict.fromkeys(token.letters, token.start)
        elif mode == "deny" or self.hedged or token.kind == "open":
            self.said.open = more(self.said.open, token.letters)
        elif mode in VERDICTS:
            self.said.verdicts[mode] = more(self.said.verdicts[mode], token.letters)
        elif self.carried and self.said.chosen:
            letters, start = self.said.chosen.pop()
            self.said.chosen.append((more(letters, token.letters), start))
        else:
            self.just_chosen = token.letters
            self.said.chosen.append((token.letters, token.start))
