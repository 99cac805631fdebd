import shutil
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.text.redaction import Secrets
from bench_resources.config.environment import known_secrets, read_secret


@pytest.mark.parametrize("variable", ["tr0ub4dor", "Tr0ub4dor_and_3", "TR0UB4DOR3ANDMORE1"])
def test_the_name_of_an_unset_variable_is_not_shown_as_it_may_be_the_key(variable: str) -> None:
    with pytest.raises(SettingsError, match="is not set") as raised:
        read_secret(variable)
    assert variable not in str(raised.value)


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Secrets:
    """The secrets of a home with ``secrets.toml``, and of the environment."""
    monkeypatch.setenv("A_KEY", " k3y-0f-4-m0del-Qx\n")
    monkeypatch.setenv("ROOM", "https://chat.example.org/hooks/4-s3cr3t-p4th")
    monkeypatch.setenv("HF_TOKEN", "hf_T0kenOfTheHub0123")
    shutil.copy(Path(__file__).with_name("secrets.toml"), tmp_path / "bench.toml")
    return known_secrets(tmp_path)


@pytest.mark.parametrize("secret", [
    "k3y-0f-4-m0del-Qx", "hooks/4-s3cr3t-p4th", "hf_T0kenOfTheHub0123", "p4ssw0rd-0f-m1ne",
    "t0ken-0f-4-s0urce", "k3y-0f 4-qu3ry", "k3y-0f%204-qu3ry", "k3y-0f-4-h34der",
    "k3y-b3h1nd-b34rer", "p4ssw0rd-0f-b33", "s-0f-4-cl1ent-Q7x", "k-0f-4cc3ss-Q7x",
    "eyJ0-1s-n0t-h3re-1", "w-b3l0w-1t-Q7x",
])  # fmt: skip
def test_a_secret_of_bench_toml_or_the_environment_is_redacted(secrets, secret):
    assert secrets.redacted(f"<{secret}>") == "<***>"


@pytest.mark.parametrize("text", [
    "temperature", "max_completion_tokens", "2024-10-21", "a plain title", "not-a-secret",
    "0123456789abcdef0123456789abcdef01234567", "https://chat.example.org/", "http://h/v1",
    "<|im_end|>", "image placeholder 1", "16000000",
])  # fmt: skip
def test_other_values_of_bench_toml_are_not_redacted(secrets: Secrets, text: str) -> None:
    assert secrets.redacted(text) == text
