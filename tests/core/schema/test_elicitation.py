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
LOGPROBS = (log(1 / 4), log(1 / 8), log(1 / 16))
OPTIONS = ("no", "never", "\u00e9t\u00e9")


@pytest.mark.parametrize(
    ("text", "short_form", "canonical_form"),
    [
        ("likelihood", "likelihood", "likelihood-letters-none"),
        ("likelihood-letters-none", "likelihood", "likelihood-letters-none"),
        ("likelihood-brackets", "likelihood-brackets", "likelihood-brackets-none"),
        ("likelihood-texts", "likelihood-texts", "likelihood-texts-bytes"),
        ("likelihood-texts-none", "likelihood-texts-none", "likelihood-texts-none"),
        ("likelihood-characters", "likelihood-characters", "likelihood-letters-characters"),
    ],
)
def test_a_method_is_printed_short_and_signed_in_full(text, short_form, canonical_form):
    elicitation = Elicitation.parse(text)
    assert (str(elicitation), elicitation.canonical_form) == (short_form, canonical_form)
    assert Elicitation.parse(canonical_form) == elicitation


@pytest.mark.parametrize(
    "text", ["", "likelyhood", "likelihood-words", "likelihood-texts-letters", "constrained"]
)
def test_an_unknown_method_is_refused_with_the_known_ones(text):
    with pytest.raises(SettingsError, match="expected generate or likelihood"):
        Elicitation.parse(text)


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [
        ("none", (log(1 / 4), log(1 / 8), log(1 / 16))),
        ("characters", (log(1 / 4) / 2, log(1 / 8) / 5, log(1 / 16) / 3)),
        ("bytes", (log(1 / 4) / 2, log(1 / 8) / 5, log(1 / 16) / 5)),  # \u00e9 is two bytes
    ],
)
def test_log_probabilities_are_divided_by_the_length_of_their_option(normalization, expected):
    assert normalize_logprobs(LOGPROBS, OPTIONS, normalization) == pytest.approx(expected)


def test_softmax_is_the_share_of_each_option_among_all_options():
    # 1/4, 1/8 and 1/16 of 7/16
    assert softmax(LOGPROBS) == pytest.approx([4 / 7, 2 / 7, 1 / 7])


def test_formatted_log_probabilities_are_parsed_to_the_same_values():
    assert parse_logprobs(format_logprobs(LOGPROBS), 3) == pytest.approx(LOGPROBS, abs=1e-6)


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
def test_a_text_without_valid_log_probabilities_of_two_options_is_an_error(text):
    with pytest.raises(ValueError, match="log-probabilities"):
        parse_logprobs(text, 2)


@pytest.mark.parametrize(
    ("form", "options"),
    [("letters", ("A", "B")), ("brackets", ("(A)", "(B)")), ("texts", ("left", "right"))],
)
def test_options_are_offered_as_letters_in_brackets_or_as_texts(form, options):
    choice = question(kind="choice", options=("left", "right"), answer=("A",))
    assert Elicitation.parse(f"likelihood-{form}").options(choice) == options


@pytest.mark.parametrize("method", ["generate", ""])
def test_a_model_that_generates_keeps_its_name(method):
    assert elicited_model_name("gpt", method) == "gpt"


def test_a_name_has_the_method_by_which_a_model_is_elicited():
    name = elicited_model_name("run/step-500@0123abcd", "likelihood-letters")
    assert name == "run/step-500@0123abcd+likelihood"
    assert split_elicited_name(name) == ("run/step-500@0123abcd", "likelihood")
    assert split_elicited_name("run/step-500@0123abcd") is None


def test_steps_are_of_one_run_only_where_their_method_is_the_same():
    assert is_earlier_step("r/step-1+likelihood", "r/step-2+likelihood")
    assert not is_earlier_step("r/step-1", "r/step-2+likelihood")


PLAIN_SIGNATURE = "sha256:0c,float32|t=0,max=40|thinking=<a> </a>"


def test_a_signature_has_the_method_and_is_split_into_model_and_method():
    elicitation = Elicitation.parse("likelihood-characters")
    signature = elicited_signature(PLAIN_SIGNATURE, elicitation)
    assert signature.endswith("|elicit=likelihood-letters-characters")
    assert split_signature(signature) == (PLAIN_SIGNATURE, elicitation)
    assert split_signature(PLAIN_SIGNATURE) == (PLAIN_SIGNATURE, None)


def test_the_cache_knows_a_model_by_its_weights_decoding_and_method():
    signature = elicited_signature(PLAIN_SIGNATURE, Elicitation.parse("likelihood-characters"))
    decoding = elicited_decoding("t=0,max=40", "likelihood")
    assert cache_identity(signature, None) == f"sha256:0c,float32|{decoding}"
    assert cache_identity(PLAIN_SIGNATURE, None) == "sha256:0c,float32|t=0,max=40"


def test_each_method_and_each_order_of_options_has_a_response_key_of_its_own():
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
