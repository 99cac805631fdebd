"""Methods of elicitation by name; log-probabilities normalized as lm-evaluation-harness does."""

from math import log

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.elicitation import (
    Elicitation,
    cache_identity,
    elicited_decoding,
    elicited_model_name,
    elicited_signature,
    format_logprobs,
    normalize_logprobs,
    parse_logprobs,
    softmax,
    split_elicited_name,
    split_signature,
)
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.provenance import response_key
from bench_assets.core.schema.training_runs import is_earlier_step
from tests.fakes.rows import question

# Three options as a model may see them: P(no) = 1/4, P(never) = 1/8, P(\u00e9t\u00e9) = 1/16.
FOUND = (log(1 / 4), log(1 / 8), log(1 / 16))
OPTIONS = ("no", "never", "\u00e9t\u00e9")


@pytest.mark.parametrize(
    ("text", "shown", "in_full"),
    [
        ("likelihood", "likelihood", "likelihood-letters-none"),
        ("likelihood-letters-none", "likelihood", "likelihood-letters-none"),
        ("likelihood-brackets", "likelihood-brackets", "likelihood-brackets-none"),
        ("likelihood-texts", "likelihood-texts", "likelihood-texts-bytes"),
        ("likelihood-texts-none", "likelihood-texts-none", "likelihood-texts-none"),
        (
            "likelihood-characters",
            "likelihood-characters",
            "likelihood-letters-characters",
        ),
    ],
)
def test_a_method_is_written_short_and_signed_in_full(text, shown, in_full):
    elicitation = Elicitation.parse(text)
    assert (str(elicitation), elicitation.canonical_form) == (shown, in_full)
    assert Elicitation.parse(in_full) == elicitation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "likelyhood",
        "likelihood-words",
        "likelihood-texts-letters",
        "constrained",
    ],
)
def test_what_is_no_method_is_refused_with_those_that_there_are(text):
    with pytest.raises(SettingsError, match=r"expected generate or likelihood"):
        Elicitation.parse(text)


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [
        ("none", (log(1 / 4), log(1 / 8), log(1 / 16))),
        ("characters", (log(1 / 4) / 2, log(1 / 8) / 5, log(1 / 16) / 3)),
        ("bytes", (log(1 / 4) / 2, log(1 / 8) / 5, log(1 / 16) / 5)),  # \u00e9 is two bytes
    ],
)
def test_log_probabilities_are_normalized(normalization, expected):
    assert normalize_logprobs(FOUND, OPTIONS, normalization) == pytest.approx(expected)


def test_shares_are_probabilities_of_the_options_among_themselves():
    assert softmax(FOUND) == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def test_likelihoods_are_read_as_they_were_written():
    assert parse_logprobs(format_logprobs(FOUND), 3) == pytest.approx(FOUND, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "[]",
        '{"logprobs": [-1]}',
        '{"logprobs": [-1, NaN]}',
        '{"logprobs": [-1, -Infinity]}',
        '{"logprobs": [-1, 0.5]}',
        '{"logprobs": [-1, "x"]}',
    ],
)
def test_what_are_no_log_probabilities_of_two_options_is_an_error(text):
    with pytest.raises(ValueError, match="log-probabilities"):
        parse_logprobs(text, 2)


def test_options_are_offered_as_letters_in_brackets_or_as_texts():
    choice = question(kind="choice", options=("left", "right"), answer=("A",))
    offered = {
        form: Elicitation.parse(f"likelihood-{form}").options(choice)
        for form in ("letters", "brackets", "texts")
    }
    assert offered == {
        "letters": ("A", "B"),
        "brackets": ("(A)", "(B)"),
        "texts": ("left", "right"),
    }


def test_a_name_says_by_which_method_a_model_is_elicited():
    assert elicited_model_name("gpt", "generate") == elicited_model_name("gpt", "") == "gpt"
    name = elicited_model_name("run/step-500@0123abcd", "likelihood-letters")
    assert name == "run/step-500@0123abcd+likelihood"
    assert split_elicited_name(name) == ("run/step-500@0123abcd", "likelihood")
    assert split_elicited_name("run/step-500@0123abcd") is None


def test_steps_are_of_one_run_only_where_their_method_is_the_same():
    assert is_earlier_step("r/step-1+likelihood", "r/step-2+likelihood")
    assert not is_earlier_step("r/step-1", "r/step-2+likelihood")


def test_a_signature_has_the_method_and_tells_what_the_cache_calls_it():
    plain = "sha256:0c,float32|t=0,max=40|thinking=<a> </a>"
    elicitation = Elicitation.parse("likelihood-characters")
    both = elicited_signature(plain, elicitation)
    assert both.endswith("|elicit=likelihood-letters-characters")
    assert split_signature(both) == (plain, elicitation)
    assert split_signature(plain) == (plain, None)
    stored = "sha256:0c,float32|" + elicited_decoding("t=0,max=40", "likelihood")
    assert cache_identity(both) == stored
    assert cache_identity(plain) == "sha256:0c,float32|t=0,max=40"


def test_a_response_has_a_key_of_its_own_for_each_method_and_each_set_of_options():
    prompt = Prompt.of("?")
    requests = [
        Request(prompt=prompt),
        Request(prompt=prompt, elicit="likelihood", options=("A", "B")),
        Request(prompt=prompt, elicit="likelihood", options=("B", "A")),
        Request(prompt=prompt, elicit="likelihood", options=("A,B",)),
        Request(prompt=prompt, elicit="constrained", options=("A", "B")),
    ]
    keys = [response_key("id", "t=0", request) for request in requests]
    assert len(set(keys)) == len(keys)
