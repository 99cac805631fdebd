"""A key is hidden wherever a text stands in a value, however it is cut or coded there."""

import base64

import pytest

from bench_assets.core.text.redaction import Secrets, is_strong, replace_keys

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
        pytest.param("sk-value-7Qx9Zp...", "***...", id="its first fifteen, beyond its words"),
        pytest.param("sk-value-7Qx9Z...", "sk-value-7Qx9Z...", id="its first fourteen"),
    ],
)
def test_a_key_that_is_cut_is_hidden_by_an_end_that_tells_it(text, shown):
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


@pytest.mark.parametrize(
    ("key", "spelled"),
    [
        pytest.param("k3y-a/b+c=d1", "k3y-a%2Fb%2Bc%3Dd1", id="an address"),
        pytest.param("k3y-a/b+c=d1", r"k3y-a\/b+c=d1", id="JSON with escaped slashes"),
        pytest.param('k3y-a"b1c2d3', r"k3y-a\"b1c2d3", id="JSON with escaped quotation marks"),
        pytest.param("k3y-a1b2c3dé", r"k3y-a1b2c3d\u00E9", id="JSON in ASCII"),
        pytest.param("k3y-a1b2c3dé", "k3y-a1b2c3d%C3%A9", id="two bytes of UTF-8"),
        pytest.param("k3y a1b2c3d4", "k3y+a1b2c3d4", id="a blank of a form"),
        pytest.param("k3y a1b2c3d4", "k3y%20a1b2c3d4", id="a blank of an address"),
        pytest.param("k3y-a1b2c3d4", "K3Y-A1B2C3D4", id="capital letters"),
        pytest.param("k3y-a1b2c3d4", "4d3c2b1a-y3k", id="reversed"),
        pytest.param("k3y%2Fa1b2c3d4", "4d3c2b1a/y3k", id="meant, and reversed"),
        pytest.param("k3y-a1b2c3d4", "6b33792d6131623263336434", id="hex"),
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
    ("key", "cut", "kept"),
    [
        ("Bearer-token-a3f1c9d27be8406f", "a3f1c9d27be8406f", "Bearer-token-"),
        ("sk-proj-my-team-Qm3x9ZpLw7Rk2Vt5", "sk-proj-my-team-Qm3x9", "sk-proj-my-team-"),
        ("a3f1c9d27be8406f-of-the-category", "a3f1c9d27be8", "-of-the-category"),
        ("eyJhbGciOiJIUzI1NiJ9.a1B2c3D4e5F6.mQ7zR2xX9vB4", "mQ7zR2xX9vB4", "eyJhbGciOiJIUzI1NiJ9."),
    ],
)
def test_words_of_a_key_are_not_taken_for_it(key: str, cut: str, kept: str) -> None:
    hide = Secrets([key]).redacted
    assert hide(f"so {key}!") == "so ***!"
    assert hide(f"so {cut}!") == "so ***!"
    assert hide(f"so {kept}") == f"so {kept}"


STRONG = [
    "a3f1c9d27be8406f9b1d2c3e",
    "550e8400-e29b-41d4-a716-446655440000",
    "kQ7zR2mX9vB4nT1w",
    "sk-proj-my-team-Qm3x9ZpLw7Rk2Vt5",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEf",
    "AKIAIOSFODNN7EXAMPLE",
    "x9$Kq!2v@Lm#7z",
]
WEAK = [
    *("anything", "localhost", "timestamp", "category", "EMPTY", "x", ""),
    *("token-abc123", "sk-no-key-required", "api-key-for-testing-2024", "12345678901234567890"),
    *("2026-11-24T09:30:12Z", "Qwen2.5-VL-72B-Instruct-AWQ", "correct-horse-battery-staple"),
    *("responseFormatJsonSchemaName", "Donaudampfschifffahrtsgesellschaftskapitän"),
    *("пароль_администратора", "时间戳类别时间戳类别时间戳", "aaaaaaaaaaaaaaaaaaaaaaaa"),
]


@pytest.mark.parametrize(
    ("key", "is_it"), [*((k, True) for k in STRONG), *((k, False) for k in WEAK)]
)
def test_only_a_key_of_high_entropy_is_taken_out_of_texts(key: str, *, is_it: bool) -> None:
    assert is_strong(key) == is_it
    assert Secrets([key]).redacted(f"so {key}!") == ("so ***!" if is_it else f"so {key}!")


def test_a_redaction_names_the_secret() -> None:
    secrets = Secrets({KEY: "MY_KEY", "anything": "A_WORD"})
    assert secrets.names_in(f"anything but {KEY[::-1]}") == ["MY_KEY"]


@pytest.mark.parametrize(
    "address",
    [
        "http://host/K/v1",
        "http://host/a;v=1;key=K/v1",
        "http://host/v1;K",
        "http://K.example.org:8000/v1",
        "http://host/v1?K",
        "http://host/v1?api-version=2024-10-21&x=K",
        "http://host/v1?sort_key=K#m",
        "http://host/v1#token=K",
        "https://K@host/v1",
        "https://me:K@host/v1",
        "postgresql://me:K@db/bench?sslmode=require",
    ],
)
def test_a_key_in_any_part_of_an_address_is_found_and_nothing_else(address: str) -> None:
    found: list[str] = []
    shown = replace_keys(address.replace("K", KEY), lambda key: found.append(key) or "K")
    assert (shown, found) == (address, [KEY])


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8000/v1",
        "https://me.openai.azure.com/openai/deployments/gpt-4o/?api-version=2024-10-21",
        "https://api.example.org/v1beta/models/gemini-2.5-flash:generateContent?alt=sse",
        "https://host/{MY_KEY}/v1?key={OTHER_KEY}",
        "http://host/v1?sort_key=timestamp&category=all",
        "s3://bucket/prefix",
        "no address",
    ],
)
def test_an_address_without_a_key_stays_as_it_is(address: str) -> None:
    assert replace_keys(address, lambda _: "***") == address


def test_bytes_that_are_no_text_stay_what_they_are():
    assert Secrets([KEY]).redacted_bytes(b"\xff" + KEY.encode() + b"\xfe") == b"\xff***\xfe"
    assert Secrets().redacted_bytes(b"\xff") == b"\xff"
