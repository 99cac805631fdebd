"""Addresses of releases, as bench.toml has them."""

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.datasets.hub import HubRelease, WebRelease, parse_release_address
from tests.cases import read_rows

DIGEST, COMMIT = "ab" * 32, "cd" * 20


@pytest.mark.parametrize(
    ("text", "release"),
    {
        "a hub's data set at a commit": (f"hf:a/b@{COMMIT}", HubRelease("a/b", COMMIT)),
        "its newest state, pinned when it is fetched": ("hf:a/b", HubRelease("a/b", "main")),
        "a folder of it": ("hf:a/b@v1#below=data/new", HubRelease("a/b", "v1", "data/new")),
        "a file with its digest": (
            f"https://x.org/a.zip#sha256={DIGEST}",
            WebRelease("https://x.org/a.zip", DIGEST),
        ),
        "a folder of an archive": (
            f"https://x.org/a.zip#sha256={DIGEST}&below=data",
            WebRelease("https://x.org/a.zip", DIGEST, "data"),
        ),
        "a commit pins as a digest does": (
            f"https://x.org/archive/{COMMIT}.zip",
            WebRelease(f"https://x.org/archive/{COMMIT}.zip"),
        ),
        "no encryption is needed within a machine": (
            f"http://127.0.0.1:8000/a.zip#sha256={DIGEST}",
            WebRelease("http://127.0.0.1:8000/a.zip", DIGEST),
        ),
    }.values(),
)
def test_an_address_is_read_and_written_again(text, release):
    assert parse_release_address(text) == release
    assert parse_release_address(str(release)) == release


@pytest.mark.parametrize("text", read_rows(__file__, "refused_releases.jsonl"))
def test_what_pins_nothing_or_leads_elsewhere_is_refused(text):
    with pytest.raises(SettingsError, match="is not an address of a release"):
        parse_release_address(text)
