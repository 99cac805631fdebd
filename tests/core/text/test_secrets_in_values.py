"""A key is hidden wherever a text stands in a value, however it is cut or coded there."""

import base64

import pytest

from bench_assets.core.text.redaction import Secrets, is_hidden

KEY = "sk-value-7Qx9ZpLw3Rk2Vt5"


def test_every_text_of_a_value_is_looked_through():
    value = {"a": f"no {KEY}", "b": [KEY, 1, None, 0.5, True], "c": (f"{KEY}!", {"d": KEY})}
    assert Secrets([KEY]).redacted_value(value) == {
        "a": "no ***",
        "b": ["***", 1, None, 0.5, True],
        "c": ("***!", {"d": "***"}),
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("ends in w3Rk2Vt5", "ends in w3Rk2Vt5", id="eight characters tell it not"),
        pytest.param("ends in ZpLw3Rk2Vt5", "ends in ZpLw3Rk2Vt5", id="nor do eleven"),
        pytest.param("ends in 9ZpLw3Rk2Vt5", "ends in ***", id="its last twelve"),
        pytest.param("...value-7Qx9ZpLw3Rk2Vt5", "...***", id="its end, as far as it goes"),
        pytest.param("value-7Qx9ZpLw3Rk2Vt5", "***", id="its end, where the text begins"),
        pytest.param("sk-value-7Qx...", "***...", id="its first twelve"),
        pytest.param("sk-value-7Q...", "sk-value-7Q...", id="its first eleven"),
    ],
)
def test_a_key_that_is_cut_is_hidden_by_its_first_and_last_twelve_characters(text, shown):
    assert Secrets([KEY]).redacted(text) == shown


@pytest.mark.parametrize(
    ("before", "first", "last"),
    # A digit holds 6 bits: of those from 24 to 216 digits 4 to 36, from 32 to 224 digits 6 to 37,
    # from 40 to 232 digits 7 to 38 are the key's alone.
    [("abc", 4, 36), ("abca", 6, 37), ("abcab", 7, 38)],
    ids=["of its own", "from the second byte", "from the third"],
)
def test_a_key_is_hidden_in_base64_at_any_offset(before, first, last):
    coded = base64.b64encode(f"{before}{KEY}zz".encode()).decode()
    assert Secrets([KEY]).redacted(f"<{coded}>") == f"<{coded[:first]}***{coded[last:]}>"


def test_a_key_of_eight_characters_is_hidden_within_words_and_in_base64():
    # "abcdefg1" is "YWJjZGVmZzE=", whose eleventh digit would tell of what follows.
    assert Secrets(["abcdefg1"]).redacted("xabcdefg1x YWJjZGVmZzE=") == "x***x ***E="


def test_a_short_key_is_hidden_where_it_stands_alone_and_in_no_word_and_no_base64():
    assert Secrets(["a1b2"]).redacted("a1b2, xa1b2, YTFiMg==") == "***, xa1b2, YTFiMg=="


@pytest.mark.parametrize(
    ("key", "spelled"),
    [
        pytest.param("k3y-a/b+c=d", "k3y-a%2Fb%2Bc%3Dd", id="an address"),
        pytest.param("k3y-a/b+c=d", r"k3y-a\/b+c=d", id="JSON with escaped slashes"),
        pytest.param('k3y-a"b1', r"k3y-a\"b1", id="JSON with escaped quotation marks"),
        pytest.param("k3y-abcdé", r"k3y-abcd\u00E9", id="JSON in ASCII"),
        pytest.param("k3y-abcdé", "k3y-abcd%C3%A9", id="two bytes of UTF-8"),
        pytest.param("k3y a1b2c3", "k3y+a1b2c3", id="a blank of a form"),
        pytest.param("k3y a1b2c3", "k3y%20a1b2c3", id="a blank of an address"),
        pytest.param("k3y-a1b2c3", "K3Y-A1B2C3", id="capital letters"),
    ],
)
def test_a_key_is_hidden_however_it_is_spelled(key, spelled):
    assert Secrets([key]).redacted(f"<{spelled}>") == "<***>"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(f"{KEY} and {KEY}", "*** and ***", id="twice"),
        pytest.param(f"{KEY}{KEY}", "******", id="one behind the other"),
        pytest.param("sk-value-8Qx9", "sk-value-8Qx9", id="another key that begins alike"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_nothing_else_is_hidden(text, shown):
    assert Secrets([KEY]).redacted(text) == shown


@pytest.mark.parametrize(
    ("key", "is_it"),
    [
        pytest.param("abcdefgh", True, id="eight letters"),
        pytest.param("abcdefg", False, id="seven letters are a word"),
        pytest.param("abc1", True, id="four, one of them a digit"),
        pytest.param("ab1", False, id="three"),
        pytest.param("1234", False, id="a number"),
        pytest.param("  abcdefg ", False, id="blanks around it do not count"),
    ],
)
def test_which_keys_are_hidden(key, is_it):
    assert is_hidden(key) == is_it
    assert bool(Secrets([key])) == is_it


def test_bytes_that_are_no_text_stay_what_they_are():
    assert Secrets([KEY]).redacted_bytes(b"\xff" + KEY.encode() + b"\xfe") == b"\xff***\xfe"
    assert Secrets().redacted_bytes(b"\xff") == b"\xff"
