"""Statements of a response about its options, with the assertion scope of each.

Tokens are grouped into sentences and clauses. A clause is read from left to right: words that
choose or drop apply to the options after them, verdicts to the options before them or, if there
are none, after them ("the correct one is B"). A question, condition, refusal or hedge chooses none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bench_assets.core.parsing.option_tokens import Token, append_letters
from bench_assets.core.parsing.word_lists import alternatives

VERDICTS = ("right", "wrong", "fit", "unfit")
"""Verdicts on an option: whether it is true, and whether it fits the question."""

_AFTER_OR = ("option", "pick", "state")
_EMPTY_KINDS = ("stop", "is")
_LINKING = frozenset({"is", "pick"})
_LINKS = 2  # the first token of a clause, and its first linking token
_CHOICE_KINDS = ("pick", "state", "is")
_ANNOUNCING = ("state", "pick")
_PREPOSITION = re.compile(r"(?:on|in|at|of|for|from) ", re.IGNORECASE)
_DENYING = {"drop", "unfit", "wrong", "hedge"}
_CONCLUSION = re.compile(
    alternatives(Path(__file__).with_name("words.txt"), "draws a conclusion"), re.IGNORECASE
)
_SPEAKER = re.compile(r"(?:I|we)\b|我", re.IGNORECASE)
_CHOICE_VERB = re.compile(  # only a person chooses; evidence may support an option
    r"cho[o]?se|pick|select|(?:go|going|went) (?:with|for)|opt for|lean(?:ing)? towards?|vote for"
    r"|prefer|settle on|end(?:ed|ing)? up (?:with|at|on)",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:I|we|you|one|let|to|my|so|then|answer)\b", re.IGNORECASE)
_OTHER_ANSWER = re.compile(  # "the popular answer"
    r"\b(?:the|an?|another) "
    r"(?:(?!(?:the|my|is|and)\b)[\w'’-]+ ){0,2}(?!(?:the|my|is|so|that)\b)[\w'’-]+ answers?\Z",
    re.IGNORECASE,
)
_ANSWER_NAME = re.compile(
    alternatives(Path(__file__).with_name("words.txt"), "what the answer may be called"),
    re.IGNORECASE,
)
_CHOSEN_ONE = re.compile(
    r"(?:the |my )?(?:one|answer|best|closest|correct|right|winner|it)\b|\W", re.I
)
_OTHER_OPTIONS = re.compile(r"\b(?:others?|rest|remaining)\b|其余|其[他它]|剩", re.IGNORECASE)
_DASH = re.compile(r"\s*[–—-]\s*")
_TICKS = ("yes", "no", "√", "×", "是", "否")  # after the text of a label: "A: the rim - yes"
_PRONOUN = re.compile(r"(?:it|this|that)\b", re.IGNORECASE)
_MARK = re.compile(r"\W")
ARROWS = ("->", "=>", "→", "⇒")
_COLONS = (":", "=", *ARROWS)
CORRECTION_WORDS = (
    *("actually", "wait", "correction", "on second thought", "on reflection"),
    *("更正", "等等", "等一下", "慢着", "且慢", "其实", "再想想", "再看看", "再想一想", "不对"),
)
_CONCLUSION_WORDS = ("therefore", "thus", "hence", "consequently", "因此", "所以", "故")
CONCEDING = ("although", "though", "while", "whereas", "虽然", "尽管")
CONTRASTING = ("However",)
_FINAL_WORDS = ("finally", "最终")  # "initially A, finally B"
_ENDING = ("reason", "than", "contrast")
_DOUBTS = ("maybe", "perhaps", "possibly")
_TURNS = ("cue", "contrast")
_REFUSAL_KINDS = ("refuse", "asks_for_input")
_RETRACTION_KINDS = ("undo", "back")
_CORRECTION_KINDS = ("cue", *_RETRACTION_KINDS)
_VOIDING = ("if", "ask", *_REFUSAL_KINDS)


@dataclass(slots=True)
class OptionStatements:
    """Statements of a response about its options, collected sentence by sentence."""

    chosen: list[tuple[str, int]] = field(default_factory=list)  # letters, position
    starts: list[int] = field(default_factory=list)  # where sentences begin
    denied: dict[str, int] = field(default_factory=dict)  # letter -> position of the last denial
    verdicts: dict[str, str] = field(default_factory=lambda: dict.fromkeys(VERDICTS, ""))
    cues: list[int] = field(default_factory=list)  # where a conclusion or correction begins
    called_wrong: str = ""  # letters that were named, and called wrong right after
    called_wrong_at: int = -1
    open: str = ""  # letters in statements that are not asserted: hedged, asked, conditional
    alone: str = ""  # letters of the previous sentence, if it has nothing else
    last: str = ""  # letters of the last sentence that no statement is about
    recent: str = ""  # letters that were named last
    claimed: str = ""  # letters of options stated as a claim
    named: list[str] = field(default_factory=list)  # letters after "is": "the colour is A"
    concluded: str = ""  # letters of the last sentence that draws a conclusion
    concluded_at: int = -1
    mentioned: str = ""  # all letters of sentences that assert something
    blamed_at: int = -1  # where something that is no option was last called wrong
    refuses: bool = False
    withdrawn_at: int = -1  # where the response last withdraws or gives up its answer

    @property
    def rejected(self) -> set[str]:
        """Letters that are denied, or called wrong or less fit."""
        verdicts = self.verdicts["wrong"] + self.verdicts["unfit"]
        return {*self.denied, *verdicts, *self.called_wrong}


def read_statements(tokens: Sequence[Token], sides: str = "") -> OptionStatements:
    """Read the statements of a response, sentence by sentence.

    Args:
        tokens: Output of ``option_tokens.tokenize_options``.
        sides: The letters of "right" and "wrong", if these are the options.
    """
    statements = OptionStatements()
    marks = (token for token in tokens if token.letters or _MARK.fullmatch(token.text.strip()))
    marks_first = next(marks, tokens[-1]).kind in VERDICTS
    for sentence in _sentences(tokens):
        _SentenceReader(sentence, statements, marks_first=marks_first, sides=sides).read()
    return statements


def _sentences(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Split at stops; a void sentence also ends at the contrast or conclusion after it."""
    sentence: list[Token] = []
    last, colon, void = "", False, False  # last: kind of the last token but stops and "is"
    for token in tokens:
        if token.kind in _TURNS and void:
            yield sentence
            sentence, last, void = [], "", False
        sentence.append(token)
        last = last if token.kind in _EMPTY_KINDS else token.kind
        void = void or token.kind in _VOIDING
        colon = token.text in (":", "：") or (colon and token.text == "\n")
        announced = token.text == "\n" and (last in _ANNOUNCING or colon)  # the answer follows
        conceded = void and token.kind == "comma" and sentence[0].text.casefold() in CONCEDING
        if conceded or token.kind == "ask" or (token.kind == "stop" and not announced):
            yield sentence
            sentence, last, colon, void = [], "", False, False


def _strip_reasons(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens before the reason given for an option; hedges in the reason do not count."""
    named = False
    for place, token in enumerate(tokens):
        if named and token.kind == "reason" and token.text not in ("(", " - "):
            return tokens[:place]
        named = named or bool(token.letters)
    return tokens


def _clauses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    clause: list[Token] = []
    for token in tokens:
        if token.kind == "comma":
            yield clause
            clause = []
        elif token.text or token.kind != "stop":
            clause.append(token)
    yield clause


class _SentenceReader:
    """Reads one sentence, clause by clause, into an ``OptionStatements``."""

    def __init__(
        self, tokens: Sequence[Token], said: OptionStatements, *, marks_first: bool, sides: str
    ) -> None:
        self.tokens, self.said, self.marks_first, self.sides = tokens, said, marks_first, sides
        self.void = tokens[-1].kind == "ask" or any(
            one.kind in _VOIDING
            or (one.kind == "or" and other.kind in (_AFTER_OR + VERDICTS if sides else _AFTER_OR))
            for one, other in pairwise([*_strip_reasons(tokens), tokens[-1]])
        )
        self.void |= any(  # "A is darker because of the shade, or maybe ..."
            one.kind == "or" and other.kind == "hedge" for one, other in pairwise(tokens)
        )
        self.pending = ""  # letters that no statement is about yet
        self.listed = ""  # pending letters that are whole clauses: "A, B are wrong"
        self.previous = tokens[0]  # the previous token
        self.in_one_run = False  # whether the listed letters are one word: "AC, D are wrong"
        self.subject = ""  # letters that the last verdict was about
        self.carried = ""  # mode of the letters that end the previous clause
        self.corrects = False  # whether the previous clause ends in a correction: "Wait, B."
        self.joined = False  # whether a clause of letters alone was added to the carried ones
        self.just_chosen = ""  # letters chosen in this clause
        self.stated = False  # whether this clause is about the answer
        self.quoted = False  # whether it reports someone else's choice: "Most people pick B"
        self.quotes = False  # whether any clause does
        self.subjects: set[bool] = set()  # per text of this clause: may the speaker be its subject?
        self.hedged = False  # whether this clause is hedged
        self.own = ""  # letters that this sentence named last
        self.before = ""  # the letters that the previous sentence consists of
        self.named = ""  # letters that follow "is" at the end of a clause
        self.clause: Sequence[Token] = ()
        self.hedges: Sequence[Token] = ()  # of this clause
        self.of_others = False  # whether this clause is about the other options
        self.blames = all(one.kind in ("wrong", "stop", "comma") for one in tokens)
        self.here = False  # whether this clause has named letters
        self.apart = False  # whether Latin text stands between the last letters and here
        self.turned = False  # whether an option was denied right before: "not A but B"

    def read(self) -> None:
        self.said.starts.append(self.tokens[0].start)
        self.before = self.said.alone
        for clause in _clauses(self.tokens):
            first = clause[0] if clause else Token("text", "", 0)
            letters = first.letters
            alone = bool(letters) and all(token.kind == "stop" for token in clause[1:])
            goes_on = bool(letters) and len(clause) > 1 and clause[1].kind == "reason"
            if self.carried and (alone or goes_on):
                self._apply(self.carried, first)
                self.said.recent = letters
                self.joined = True
                continue
            if self.joined and letters and self.carried == "choose":
                self.said.open = append_letters(
                    self.said.open, self.said.chosen.pop()[0]
                )  # "choose B, C, D is wrong": where does it end?
            if alone and self.corrects:
                self._apply("choose", first)
                self.said.recent = letters
                continue
            if alone and not self.void:
                self.in_one_run = not self.pending and len(letters) > 1
                self.listed = self.pending = append_letters(self.pending, letters)
                self.said.recent = letters
                self.said.claimed += letters if first.claims else ""
                continue
            self._read_clause([token for token in clause if token.kind != "stop"])
            self.listed = ""
        self.said.last = self.pending
        only = all(one.letters or one.kind in ("comma", "stop") for one in self.tokens)
        self.said.alone = self.pending if only else ""
        self._note_mentions()

    def _note_mentions(self) -> None:
        named = "".join(one.letters for one in self.tokens)
        if self.named and set(self.named) == set(named) - self.said.denied.keys():
            self.said.named.append(self.named)
        self._note_withdrawal()
        if any(one.kind in _REFUSAL_KINDS for one in self.tokens):
            self.said.refuses = True
            if self.sides:  # "Yes, of course! Please send it."
                self.said.open = append_letters(self.said.open, self.before)
        kinds = [one.kind for one in _strip_reasons(self.tokens)]
        drawn_at_last = any(one.text.casefold() in _FINAL_WORDS for one in self.tokens)
        if self.void or self.quotes or ("hedge" in kinds and not drawn_at_last):
            return
        self.said.mentioned = append_letters(self.said.mentioned, named)
        self._note_conclusion()

    def _note_withdrawal(self) -> None:
        """Note "I abstain", and "Actually, I cannot tell"; what is chosen later still counts."""
        refuses = any(one.kind == "refuse" for one in self.tokens)
        corrects = any(
            one.kind in _RETRACTION_KINDS
            or (one.kind == "cue" and not _CONCLUSION.fullmatch(one.text.strip()))
            or (one.text.casefold() in CORRECTION_WORDS)
            for one in self.tokens
        )
        given_up = [one.start for one in self.tokens if one.kind == "withdraw"]
        *_, ends = ["", *(one.kind for one in self.tokens if one.kind != "stop")]
        gives_up = ends == "refuse" and _SPEAKER.match(self.tokens[0].text)  # "I can't decide."
        if given_up or (refuses and (corrects or gives_up)):
            self.said.withdrawn_at = given_up[-1] if given_up else self.tokens[0].start
            self.said.cues.append(self.said.withdrawn_at)

    def _note_conclusion(self) -> None:
        """Note the letters after the word that draws a conclusion, up to its reason."""
        turns = [n for n, one in enumerate(self.tokens) if one.kind == "cue"]
        if not turns or self.tokens[turns[0]].text in CONTRASTING:
            return
        letters, tokens = "", self.tokens[turns[0] :]
        for token, last in zip(tokens[1:], tokens, strict=False):
            if letters and token.kind in _ENDING:
                break
            letters += "" if last.kind == "than" else token.letters
        letters = "".join(token.letters for token in tokens if token.claims) or letters
        kinds = {token.kind for token in tokens}
        before = self.tokens[: turns[0]]
        follows = (
            tokens[0].text in _CONCLUSION_WORDS and before and before[-1].kind in ("is", "option")
        )
        rest = [one.text for one in tokens if one.kind == "text"]
        says_so = ("pick" in kinds and all(map(_CHOSEN_ONE.match, rest))) or follows
        # "so it is the one", "B is thus the one"
        if not letters and says_so and not kinds & _DENYING:
            letters = "".join(token.letters for token in before)
        if letters:
            self.said.concluded, self.said.concluded_at = letters, tokens[0].start

    def _read_clause(self, clause: Sequence[Token]) -> None:
        self.carried, self.joined, self.just_chosen = "", False, ""
        self.corrects = bool(clause) and (
            clause[-1].kind == "undo" or clause[-1].text.casefold() in CORRECTION_WORDS
        )
        self.apart = self.here = self.quoted = False
        self.subjects = set()
        self.clause = clause
        self.hedges = [one for one in clause if one.kind == "hedge"]
        self.of_others = any(_OTHER_OPTIONS.search(one.text) for one in clause)
        self.hedged = self.void or any(one.kind == "hedge" for one in _strip_reasons(clause))
        mode, self.stated = "", False
        before: list[Token] = []  # the first token, and the first linking one
        for place, token in enumerate(clause):
            self.previous = clause[max(place - 1, 0)]
            mode = self._read_token(token, before, clause[place + 1 : place + 4], mode)
            if len(before) < _LINKS and (not before or token.kind in _LINKING):
                before.append(token)

    def _read_token(
        self, token: Token, before: Sequence[Token], after: Sequence[Token], mode: str
    ) -> str:
        """Read one token; return the mode of the letters that follow it, "" for none."""
        if token.letters:
            self._read_letters(token, mode, after)
            self.carried = "" if after or mode in ("against", "name") else mode
            return ""
        if token.kind == "back" and self.sides and not self.said.recent:
            token = token._replace(kind="wrong")  # "这是错的"
        if token.kind in VERDICTS:
            return self._read_verdict(token, after)
        if token.kind in ("drop", "withdraw"):
            return self._read_denial(token, after)
        if token.kind == "than":
            return "against" if after and after[0].letters else mode
        self._note_correction(token)
        if token.kind in ("state", "pick"):
            told_off = self.previous.kind in ("unfit", "wrong") and token.text[:1].isalpha()
            told_off &= self.previous.text.isascii()
            if token.kind == "state" and told_off:
                mode = "deny"  # "the least likely answer is B"
            self._note_choice(token, after)
            self._apply_to_subject(token, before, after, mode)
            return mode if mode == "deny" else "choose"
        return self._read_link(token, before, mode)

    def _note_correction(self, token: Token) -> None:
        """Note a correction or conclusion; a contrast ends the report of someone else's choice."""
        if token.kind in _RETRACTION_KINDS:
            self._note_called_wrong(self.said.recent, token.start)
        if token.kind in _CORRECTION_KINDS:
            self.said.cues.append(token.start)
        if token.kind == "contrast":
            self.quoted, self.subjects = False, set()

    def _note_called_wrong(self, letters: str, at: int) -> None:
        if letters:
            self.said.called_wrong, self.said.called_wrong_at = letters, at

    def _read_link(self, token: Token, before: Sequence[Token], mode: str) -> str:
        if self.just_chosen and (token.kind == "reason" or token.text == ":"):
            self.stated = False  # "the answer is B because it is ...", "I count two: one ..."
        if token.kind == "text":
            self.stated = self.stated and not token.text.startswith("的")
            self.apart = self.apart or token.text[:1].isascii()
            self.subjects.add(bool(_OWN.search(token.text)))
            return ""
        if token.kind == "is" and mode == "deny":
            return mode
        if token.kind in ("is", "contrast"):
            concludes = token.text in _COLONS and before and before[0].kind == "cue"
            opens = not before and not (self.own and token.text == "是")  # "A：铜，是单质"
            if concludes or self.stated or opens or (self.turned and token.kind == "contrast"):
                return "choose" if token.kind == "is" or self.turned else mode
            names = token.kind == "is" and token.text not in _COLONS[:2]
            return mode or ("name" if names and not self.here and not self.subject else "")
        if token.kind == "undo" or token.text.casefold() in CORRECTION_WORDS:
            return "choose"
        goes_on = token.kind == "cue" or _DASH.fullmatch(token.text)  # "no, wait - C"
        return mode if goes_on else ""

    def _read_letters(self, token: Token, mode: str, after: Sequence[Token]) -> None:
        self.turned = mode == "deny"
        if mode == "against":
            return
        self.apart, self.here = False, True
        self.own = self.said.recent = token.letters
        if token.claims and not self.hedged:
            self.said.claimed += token.letters
        if mode == "name":
            ends = not after or after[0].kind == "reason" or _PREPOSITION.match(after[0].text)
            if ends and not self.hedged and token.kind == "option":
                self.named = token.letters
            self.pending = append_letters(self.listed, token.letters)
        elif mode:
            self._apply(mode, token)
            self.pending = ""
        elif token.kind == "open" or self.hedged:
            self.said.open = append_letters(self.said.open, token.letters)
        else:
            self.pending = append_letters(self.listed, token.letters)

    def _read_verdict(self, token: Token, after: Sequence[Token]) -> str:
        """Apply a verdict to the letters before it; if there are none, to those after it."""
        follows = [one for one in after[:3] if one.kind != "is"]
        before = bool(follows) and bool(follows[0].letters)
        turned = not self.here and self.clause[0].kind == "contrast"  # "虽然A有理，但最合适的是B"
        if before and (turned or not self.pending or (self.marks_first and len(token.text) == 1)):
            return token.kind
        ticked = bool(self.tokens[0].letters) and token.text.strip().casefold() in _TICKS
        if self.apart and not ticked and (self.pending or token.kind in ("fit", "unfit")):
            return ""  # about the text before it: "B. The other is wrong"
        if self.listed and self.listed != self.pending and token.kind in ("wrong", "unfit"):
            self._split_list(token)
        letters = self.pending or (self.subject if token.kind in ("fit", "unfit") else "")
        if not letters and self.sides and token.kind in ("right", "wrong"):
            side = self.sides[token.kind == "wrong"]
            self._apply("choose", token._replace(kind="option", letters=side))
            return ""
        if not letters and token.kind == "wrong":
            self._note_called_wrong(self.before if self.blames else "", token.start)
            if self.stated:  # "the usual answer is A; the usual answer is wrong"
                self._note_called_wrong(self.said.recent, token.start)
            if not self.of_others:
                self.said.blamed_at = token.start
            self.said.cues.append(token.start)  # "the answer is A ... wrong, it must be B"
            self.said.denied |= dict.fromkeys(
                self.just_chosen, token.start
            )  # "choosing A is wrong"
        self._apply(token.kind, Token("option", "", token.start, letters))
        self.subject, self.pending = letters, ""
        return ""

    def _split_list(self, token: Token) -> None:
        """Split "AC, D is wrong": AC is chosen, D is wrong; "A, B, D is wrong" stays whole."""
        listed, own = self.listed, self.pending.removeprefix(self.listed)
        if self.in_one_run:
            self._apply("choose", Token("option", "", token.start, listed))
        elif len(listed + own) > 2 or not own:
            return
        else:
            self.said.open = append_letters(self.said.open, listed)  # "B, A is wrong": is B right?
        self.pending = own

    def _read_denial(self, token: Token, after: Sequence[Token]) -> str:
        follows = after[0] if after else token
        no_object = not self.pending or self.apart
        if follows.letters or (no_object and follows.kind in _CHOICE_KINDS):
            return "deny"
        of_it = follows.kind != "text" or not follows.text[:1].isascii()
        here = self.here or not (self.sides or token.text.isascii())  # "No, it is not."
        if of_it and here and not self.apart:
            if self.listed and self.in_one_run and self.listed != self.pending:
                self._split_list(token)
            self._apply("deny", token._replace(letters=self.pending))
            self.pending = ""
        return ""

    def _apply_to_subject(
        self, token: Token, before: Sequence[Token], after: Sequence[Token], mode: str
    ) -> None:
        """Choose the letters of "C is the right answer", or deny those of "C is not"."""
        named = token.kind == "state" and any(one.kind in _LINKING for one in before)
        named = named and self.here and not self.apart
        if (named or (token.kind == "pick" and not after)) and self.pending:
            self._apply(mode or "choose", token._replace(letters=self.pending))
            self.pending = ""
        elif token.kind == "state" and not self.here and before and _PRONOUN.match(before[0].text):
            follows = any(one.letters or one.kind == "is" for one in after)
            self._apply(mode or "choose", token._replace(letters="" if follows else self.own))

    def _note_choice(self, token: Token, after: Sequence[Token]) -> None:
        """Choose what was named last: "C fits, so I choose it"; note whose choice it is."""
        self.stated = True
        called = _OTHER_ANSWER.search(f"{self.previous.text} {token.text}")
        if called and not self.sides and not _ANSWER_NAME.search(called[0]):
            self.quoted = self.quotes = True
        if self.subjects == {False} and _CHOICE_VERB.fullmatch(token.text):
            self.quoted = self.quotes = True
        if token.text.casefold().startswith(("final", "最终")):
            self.said.cues.append(token.start)
        if token.kind == "pick" and [one.text.casefold() for one in after] == ["it"]:
            self._apply("choose", token._replace(letters=self.said.recent))

    def _apply(self, mode: str, token: Token) -> None:
        if mode == "deny" and not self.void:
            self.said.denied |= dict.fromkeys(token.letters, token.start)
        elif mode == "deny" or token.kind == "open" or self._is_hedged(mode, token):
            self.said.open = append_letters(self.said.open, token.letters)
        elif mode in VERDICTS:
            self.said.verdicts[mode] = append_letters(self.said.verdicts[mode], token.letters)
            if mode == "fit":  # what was doubted before is no more
                self.said.open = "".join(a for a in self.said.open if a not in token.letters)
        elif self.carried and self.said.chosen:
            letters, start = self.said.chosen.pop()
            self.said.chosen.append((append_letters(letters, token.letters), start))
        else:
            self.just_chosen = token.letters
            if not token.letters:
                return
            self.said.chosen.append((token.letters, token.start))

    def _is_hedged(self, mode: str, token: Token) -> bool:
        """Whether a statement is hedged; a choice only by a hedge before it, or by an adverb."""
        if mode != "choose" or self.void:
            return self.hedged
        return self.quoted or any(
            one.start < token.start or one.text in _DOUBTS or not one.text.isascii()
            for one in self.hedges
        )
