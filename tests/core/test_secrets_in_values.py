"""A key is hidden wherever a text stands in a value, and nothing else of it changes."""

from bench_assets.core.secrets import Secrets

KEY = "sk-value-7Qx9ZpLw3Rk2Vt5"


def test_every_text_of_a_value_is_looked_through():
    value = {"a": f"no {KEY}", "b": [KEY, 1, None, 0.5, True], "c": (f"{KEY}!", {"d": KEY})}
    assert Secrets([KEY]).redacted_value(value) == {
        "a": "no ***",
        "b": ["***", 1, None, 0.5, True],
        "c": ("***!", {"d": "***"}),
    }
