import codecs
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.toml_validation import read_toml

TEXT = '[models.m]\nkind = "random"\n'


@pytest.mark.parametrize("byte_order_mark", [b"", codecs.BOM_UTF8], ids=["without", "with"])
def test_utf_8_is_read_with_and_without_a_byte_order_mark(tmp_path, byte_order_mark):
    file = tmp_path / "bench.toml"
    file.write_bytes(byte_order_mark + TEXT.replace("\n", "\r\n").encode())
    assert read_toml(file) == {"models": {"m": {"kind": "random"}}}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(TEXT.encode("utf-16"), "line 1 is not written in utf-8", id="UTF-16"),
        pytest.param(b'a = 1\n# caf\xe9\nb = "x"', "line 2 is not written in utf-8", id="Latin-1"),
        pytest.param(b"[models.a]\n[models.a]\n", "not a TOML file: .*twice", id="a table twice"),
        pytest.param(b"a = " + b"[" * 100_000, "nested too deep", id="brackets in brackets"),
        pytest.param(b'a = "\0"', "not a TOML file", id="a NUL"),
        pytest.param(b'sk-0123456789abcdef = "x', r"not a TOML file", id="a key as a name"),
    ],
)
def test_an_invalid_file_is_named_with_the_reason_and_without_its_text(tmp_path, data, message):
    file = tmp_path / "bench.toml"
    file.write_bytes(data)
    with pytest.raises(SettingsError, match=f"bench.toml: .*({message})") as raised:
        read_toml(file)
    assert "0123456789abcdef" not in str(raised.value)


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"{tmp_path}: cannot be read: Is a directory"):
        read_toml(tmp_path)
