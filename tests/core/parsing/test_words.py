"""Every pattern of the word lists stands in a response of the tables or of the corpus."""

import json
import re
from pathlib import Path

import pytest

from bench_assets.core.parsing import choices
from bench_assets.core.parsing.choices import lettered, read_choice
from bench_assets.core.parsing.normalization import normalize_response
from bench_assets.core.parsing.option_names import LETTER, NAME, Options, mark_options
from bench_assets.core.parsing.word_lists import section_lines, section_names
from tests.core.parsing.choice_words import CARS, CHOICES
from tests.core.parsing.corpus.grammar import corpus
from tests.core.parsing.response_words import WORDS
from tests.core.parsing.test_partial_verdicts import IN_PART, JUDGES, NOT, UNCHOSEN
from tests.suites.blink.test_reading import FORMS
from tests.suites.codis.reader_words import OPEN
from tests.suites.multi.test_letters import FROZEN, MORE

PARSING = Path(choices.__file__).parent
AS_DATA = ("places", "right and wrong", "the same", "the opposite", "numbers", "in other words")
ROWS = json.loads(Path(__file__).with_name("word_responses.json").read_text("utf-8"))
RESPONSES = [
    *(text for _, text, _ in [*WORDS, *CHOICES]),
    *(form.values[1] for form in FORMS),
    *(row[2] for rows in FROZEN.values() for row in rows),
    *(row[2] for row in MORE),
    *(one.response for file in ("written", "today", "held_out") for one in corpus(file)),
    *(response for response, _ in ROWS),
    *OPEN,
    *IN_PART,
    *NOT,
    *JUDGES,
    *(response for response, _, _ in UNCHOSEN),
]


def patterns(file, without=()):
    return [
        pytest.param(section, line, id=f"{section}: {line[:60]}")
        for section in section_names(PARSING / file)
        if section not in without
        for line in section_lines(PARSING / file, section)
    ]


@pytest.fixture(scope="module")
def texts():
    said = [normalize_response(response) for response in RESPONSES]
    return [
        *said,
        *(mark_options(text, Options(4, CARS, counted=False)) for text in said),
        lettered(CARS),
    ]


@pytest.mark.parametrize(
    ("section", "pattern"), [*patterns("words.txt"), *patterns("option_forms.txt", AS_DATA)]
)
def test_each_pattern_is_found_in_a_response(section, pattern, texts):
    found = re.compile(
        pattern.replace("@L", LETTER).replace("@", NAME), re.IGNORECASE | re.MULTILINE
    )
    assert any(found.search(text) for text in texts), f"{section}: no response needs {pattern}"


@pytest.mark.parametrize(("response", "letter"), ROWS)
def test_a_response_means_what_a_person_reads(response, letter):
    assert read_choice(response, CARS).letter == letter
