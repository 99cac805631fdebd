import pytest

from bench_assets.core.text.redaction import Secrets, is_distinct, replace_keys
from tests.cases import read_rows

KEY = "sk-value-7Qx9ZpLw3Rk2Vt5"


def test_keys_are_redacted_in_all_texts_of_a_value():
    value = {"a": f"no {KEY}", "b": [KEY, 1, None, 0.5, True], "c": (f"{KEY}!", {"d": KEY})}
    assert Secrets({KEY: "MY_KEY"}).redacted_value(value) == {
        "a": "no ***",
        "b": ["***", 1, None, 0.5, True],
        "c": ("***!", {"d": "***"}),
    }


@pytest.mark.parametrize(
    ("key", "spelled"),
    [
        pytest.param("k3y-a/b+c=d1", "k3y-a%2Fb%2Bc%3Dd1", id="an address"),
        pytest.param("k3y-a/b+c=d1", r"k3y-a\/b+c=d1", id="JSON with escaped slashes"),
        pytest.param('k3y-a"b1c2d3', r"k3y-a\"b1c2d3", id="JSON with escaped quotation marks"),
        pytest.param("k3y-a1b2c3dé", r"k3y-a1b2c3d\u00e9", id="JSON in ASCII"),
        pytest.param("k3y-a1b2c3dé", "k3y-a1b2c3d%C3%A9", id="two bytes of UTF-8"),
        pytest.param("k3y a1b2c3d4", "k3y+a1b2c3d4", id="a blank of a form"),
        pytest.param("k3y a1b2c3d4", "k3y%20a1b2c3d4", id="a blank of an address"),
    ],
)
def test_a_key_is_redacted_in_every_spelling(key, spelled):
    assert Secrets({key: "MY_KEY"}).redacted(f"<{spelled}>") == "<***>"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        pytest.param(f"{KEY} and {KEY}", "*** and ***", id="twice"),
        pytest.param(f"{KEY}{KEY}", "******", id="one behind the other"),
        pytest.param("sk-value-8Qx9", "sk-value-8Qx9", id="another key that begins alike"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_every_occurrence_of_a_key_is_redacted_and_nothing_else(text, redacted):
    assert Secrets({KEY: "MY_KEY"}).redacted(text) == redacted


@pytest.mark.parametrize(("key", "distinct"), read_rows(__file__, "distinct_keys.jsonl"))
def test_only_a_distinct_key_is_redacted(key: str, *, distinct: bool) -> None:
    assert is_distinct(key) == distinct
    redacted = Secrets({key: "MY_KEY"}).redacted(f"so {key}!")
    assert redacted == ("so ***!" if distinct else f"so {key}!")


def test_the_secrets_of_a_text_are_named() -> None:
    secrets = Secrets({KEY: "MY_KEY", "anything": "A_WORD"})
    assert secrets.names_in(f"anything but {KEY}") == ["MY_KEY"]


@pytest.mark.parametrize("address", read_rows(__file__, "addresses.jsonl"))
def test_only_the_key_of_an_address_is_replaced(address: str) -> None:
    keys = []

    def replacement(key: str) -> str:
        keys.append(key)
        return "K"

    assert replace_keys(address.replace("<KEY>", KEY), replacement) == address.replace("<KEY>", "K")
    assert keys == [KEY] * address.count("<KEY>")


def test_a_key_is_redacted_in_bytes_that_are_no_text():
    data = b"\xff" + KEY.encode() + b"\xfe"
    assert Secrets({KEY: "MY_KEY"}).redacted_bytes(data) == b"\xff***\xfe"
