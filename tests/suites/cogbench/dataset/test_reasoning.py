# ruff: noqa: E501, SIM905
"""No word by which CogBench's texts are compared can be taken out without a row noticing.

Rows are (function, arguments, what it should give); a list of words is a sentence around each.
"""

from types import SimpleNamespace

import pytest

from bench_assets.suites.cogbench.construction import merging
from bench_assets.suites.cogbench.construction.annotation_files import AnnotatedItem
from bench_assets.suites.cogbench.dataset import reasoning
from bench_assets.suites.cogbench.description import recognition, scoring
from tests.fakes.pinned_words import inline_words, survivors

READERS = [reasoning, recognition, scoring, merging]

SMALL = (
    "a an and are as at be been being by for from has have he her him his i in into is it its of "
    "on or our she so that the their them there they this to was were will with who"
).split()
ENDS = "in on at near with behind under beside to from is are was were has have".split()
ENDS += "that who which but and because as so".split()
GONE = "absent missing nowhere".split()
GONE += [f"not {how}" for how in "there visible present shown seen depicted".split()]
OPPOSITES = [
    line.split(" | ")
    for line in (
        "give gives giving hand hands offer offers | take takes taking steal steals grab grabs",
        "open opens opening | close closes closing shut shuts",
        "enter enters arrive arrives come comes coming | "
        "leave leaves leaving go goes depart departs",
        "up rise rises climb climbs | down fall falls descend descends sink sinks",
        "push pushes | pull pulls",
        "buy buys | sell sells",
        "win wins won | lose loses lost",
        "start starts begin begins | end ends stop stops finish finishes",
        "before | after",
        "in inside | out outside",
        "happy glad joyful pleased | sad unhappy upset",
        "happy | angry",
        "calm relaxed | angry nervous worried afraid frightened",
        "friend friends | stranger strangers enemy enemies",
        "asleep sleeping sleeps | awake waking wakes",
        "alive | dead",
        "old | young",
        "man men boy boys father son brother husband | "
        "woman women girl girls mother daughter sister wife",
        "summer | winter",
        "morning | evening night",
        "hot warm | cold cool",
        "safe | dangerous",
    )
]
NUMBERS = "7 one two three four five six seven eight nine ten first second third".split()
DENIALS = [
    *(f"The boy {no} falls." for no in ("never", "doesn't", "doesn’t", "is unable, he")),
    *("The boy cannot fall.", "The boy does not fall.", "No boy falls.", "Nobody falls."),
    *("Nothing falls.", "The boy falls without."),
]


FIELDS = [
    "Entities", "Special Time Reasoning", "Location Reasoning", "Character Reasoning",
    "Character Relationship Reasoning", "Event Reasoning", "Event Relationship Reasoning",
    "Next Moment Event Reasoning", "Mental State Reasoning", "Description",
]  # fmt: skip
CODES = "time location character character_relationship event event_relationship next_event mental"


def code_of(spelling):
    kind = reasoning.find_kind(spelling)
    return kind and kind.code


def agreed_fields():
    items = [AnnotatedItem(annotator="p", field=field, image="a.png", text="x") for field in FIELDS]
    merged = [
        merging.MergedItem(
            image="a.png",
            text="x",
            field=field,
            variants=("x",),
            annotators=("p",),
            outcome="waiting",
            reason="",
        )
        for field in FIELDS
    ]
    return [row.criterion for row in merging.agreement(items, merged)]


def cognition_metrics():
    return list(scoring.cognition_by_kind())


def shipped_threshold():
    return recognition.threshold_of(
        SimpleNamespace(name="all-MiniLM-L6-v2@sha256:1796dd706fccb36d")
    )[0]


def taken_out(text):
    return " ".join(recognition.remove_denied(text).split())


def differ(one, other):
    return merging.contradiction(one, other)


ROWS = [
    *((reasoning.content_words, (f"{word} boy",), {"boy"}) for word in SMALL),
    *((reasoning.content_words, (form,), {"paint"}) for form in ("painting", "painted", "paints")),
    (reasoning.content_words, ("watches",), {"watch"}),
    (reasoning.content_words, ("as us",), {"us"}),
    *((reasoning.read_chain, (f"A. {arrow} B.",), reasoning.Chain(("A.",), "B."))
      for arrow in ("->", "-->", "→", "⇒", "=>")),
    *((reasoning.read_chain, (f"{clues} -> C.",), reasoning.Chain(("A.", "B."), "C."))
      for clues in ("A. + B.", "A.+B.", "+ A. + B.", "+A. + B. +", "A. +\n B.", "A.  +B.")),
    (reasoning.read_chain, ("A c++ book. -> C.",), reasoning.Chain(("A c++ book.",), "C.")),
    (reasoning.read_chain, ("A. +5 books. -> C.",), reasoning.Chain(("A. +5 books.",), "C.")),
    *((reasoning.is_none, (text,), True) for text in ("None.", "", "[none]")),
    *((code_of, (spelling,), code)
      for field, code in zip(FIELDS[1:-1], CODES.split(), strict=True)
      for spelling in (field, field.removesuffix(" Reasoning"), code)),
    (code_of, ("Next Event",), "next_event"),
    (code_of, ("Mental State",), "mental"),
    (agreed_fields, (), FIELDS),
    (shipped_threshold, (), 0.6604),
    (cognition_metrics, (), [f"cognition_{code}" for code in CODES.split()]),
    (scoring.read_by_position, ("1. [1] 2. [0]", 2), [True, False]),
    *((taken_out, (f"There is no boy {end} a dog.",), f"There is {end} a dog.") for end in ENDS),
    *((taken_out, (f"There is no boy{stop} A dog.",), f"There is {stop} A dog.") for stop in ".,;:!?"),
    (taken_out, ("There is no boy",), "There is"),
    *((taken_out, (f"I see {no} boy.",), "I see .") for no in ("no", "neither", "without", "lack of")),
    (taken_out, ("A room free of boys.",), "A room ."),
    (taken_out, ("I see the absence of boys.",), "I see the ."),
    *((taken_out, (f"It {lacks} boys.",), "It .") for lacks in ("lacks", "lacking", "lack")),
    *((taken_out, (f"It isn{mark}t {a} boy.",), "It is .")
      for mark in "'’" for a in ("a", "an", "any", "one", "the")),
    (taken_out, ("It is not a boy.",), "It is ."),
    *((taken_out, (f"It is not a boy, {nor} a girl.",), "It is .") for nor in ("or", "nor")),
    *((taken_out, (f"There are no boys, men {nor} girls.",), "There are .") for nor in ("or", "nor")),
    (taken_out, ("Without doubt a boy.",), "Without doubt a boy."),
    (taken_out, ("He is no longer a boy.",), "He is no longer a boy."),
    *((taken_out, (f"The boy {be} {gone}.",), "The .")
      for be, gone in [*(("is", gone) for gone in GONE),
                       *((be, "absent") for be in ("are", "was", "were"))]),
    *((differ, (f"It is {one}.", f"It is {other}."), "one says the opposite")
      for side, against in OPPOSITES
      for pairs in ([(one, against.split()[0]) for one in side.split()],
                    [(side.split()[0], other) for other in against.split()])
      for one, other in pairs),
    *((differ, ("The boy falls.", text), "one denies") for text in DENIALS),
    *((differ, (f"The {number} books.", "The 11 books."), "other numbers") for number in NUMBERS),
    *((differ, (f"Dogs {how} cats.", f"Cats {how} dogs."), "")
      for how in ("and", "are near, together,", "see each other,", "are seen by")),
]  # fmt: skip


def holds(row):
    function, given, expected = row
    return function(*given) == expected


@pytest.mark.long
def test_no_word_of_the_readers_can_be_taken_out():
    assert survivors(READERS, ROWS, holds) == []


def test_every_word_of_the_readers_can_be_found():
    assert inline_words(READERS) == []
