import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.datasets.hub import HubRelease, WebRelease, parse_release_address
from tests.cases import read_rows

DIGEST, COMMIT = "ab" * 32, "cd" * 20


@pytest.mark.parametrize(
    ("text", "release"),
    [
        pytest.param(
            f"hf:a/b@{COMMIT}", HubRelease("a/b", COMMIT), id="a hub's data set at a commit"
        ),
        pytest.param(
            "hf:a/b", HubRelease("a/b", "main"), id="its newest state, pinned when it is fetched"
        ),
        pytest.param(
            "hf:a/b@v1#below=data/new",
            HubRelease(repository="a/b", revision="v1", below="data/new"),
            id="a folder of it",
        ),
        pytest.param(
            f"https://x.org/a.zip#sha256={DIGEST}",
            WebRelease("https://x.org/a.zip", DIGEST),
            id="a file with its digest",
        ),
        pytest.param(
            f"https://x.org/a.zip#sha256={DIGEST}&below=data",
            WebRelease(url="https://x.org/a.zip", sha256=DIGEST, below="data"),
            id="a folder of an archive",
        ),
        pytest.param(
            f"https://x.org/archive/{COMMIT}.zip",
            WebRelease(f"https://x.org/archive/{COMMIT}.zip"),
            id="a commit pins as a digest does",
        ),
        pytest.param(
            f"http://127.0.0.1:8000/a.zip#sha256={DIGEST}",
            WebRelease("http://127.0.0.1:8000/a.zip", DIGEST),
            id="no encryption is needed within a machine",
        ),
    ],
)
def test_an_address_is_parsed_also_as_its_release_formats_it(text, release):
    assert parse_release_address(text) == release
    assert parse_release_address(str(release)) == release


@pytest.mark.parametrize("text", read_rows(__file__, "refused_releases.jsonl"))
def test_a_text_that_is_no_address_of_a_pinned_release_is_refused(text):
    with pytest.raises(SettingsError, match="is not an address of a release"):
        parse_release_address(text)
