"""Releases come whole into the home or not at all, from servers that misbehave."""

import hashlib
import io
import zipfile

import huggingface_hub.constants
import pytest

from bench_assets.core.schema.errors import HomeError, SourceError
from bench_resources.datasets.cache import ReleaseCache
from bench_resources.datasets.download import DownloadLog, DownloadRetryPolicy
from bench_resources.datasets.hub import HubRelease, WebRelease
from tests.fakes.full_disk import full_disk
from tests.resources.datasets.stand_in import COMMIT, REPOSITORY, StandIn, serving

DATA = bytes(range(256)) * 64
SUITE = HubRelease(REPOSITORY, "main")
AT_ONCE = DownloadRetryPolicy(pause=0.0)


class Counted(DownloadLog):
    """How many bytes are announced and there."""

    total = 0
    there = 0

    def begin(self, title, total):
        self.total = total

    def add(self, n):
        self.there += n


@pytest.fixture
def hub(monkeypatch):
    with serving(StandIn({"data.json": b"[]", "images/a.bin": DATA}, lfs=("images/a.bin",))) as one:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", one.url)
        yield one


def zipped(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return archive.getvalue()


def web(server, data, **more):
    server.files["release.zip"] = data
    return WebRelease(f"{server.url}/release.zip", hashlib.sha256(data).hexdigest(), **more)


def ranges_of(hub, name):
    return [ranged for path, ranged in hub.requests if path.endswith(name)]


def test_a_home_that_cannot_be_written_is_named(hub, tmp_path):
    (tmp_path / "sources").touch()  # root may write into a read-only folder, but not below a file
    with pytest.raises(HomeError, match=rf"{tmp_path}/sources/codis/\w+: cannot be written: "):
        ReleaseCache(tmp_path).fetch("codis", SUITE, Counted())


def test_a_data_set_is_fetched_once_and_pinned_to_the_commit_it_was_at(hub, tmp_path):
    cache, counted = ReleaseCache(tmp_path), Counted()
    folder = cache.fetch("codis", SUITE, counted)
    assert (folder / "data.json").read_bytes() == b"[]"
    assert (folder / "images" / "a.bin").read_bytes() == DATA
    ((_, fetched, _),) = cache.all()
    assert (fetched.commit, fetched.n_bytes) == (COMMIT, len(DATA) + 2)
    assert fetched.files["images/a.bin"] == hashlib.sha256(DATA).hexdigest()
    assert counted.total == counted.there == len(DATA) + 2
    hub.requests.clear()
    assert cache.fetch("codis", SUITE, Counted()) == folder
    assert hub.requests == []


def test_a_connection_that_breaks_goes_on_where_it_broke(hub, tmp_path):
    hub.break_after = 5_000
    folder = ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, Counted())
    assert (folder / "images" / "a.bin").read_bytes() == DATA
    assert ranges_of(hub, "a.bin") == ["", "bytes=5000-", "bytes=10000-", "bytes=15000-"]


def test_a_server_that_always_breaks_and_resumes_nothing_is_given_up(hub, tmp_path):
    hub.break_after, hub.resumes = 5_000, False
    with pytest.raises(SourceError, match=r"a\.bin: ClientPayloadError"):
        ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, Counted())
    # The first attempt gets further than nothing; the others no further than that.
    assert ranges_of(hub, "a.bin") == ["", *["bytes=5000-"] * (AT_ONCE.tries - 1)]


def test_what_a_killed_fetch_left_is_not_fetched_again(hub, tmp_path):
    hub.files.pop("data.json")
    hub.break_after = 5_000
    with pytest.raises(SourceError, match="the partial file is kept"):
        ReleaseCache(tmp_path, DownloadRetryPolicy(tries=1)).fetch("codis", SUITE, Counted())
    hub.break_after = 0
    hub.requests.clear()
    counted = Counted()
    ReleaseCache(tmp_path).fetch("codis", SUITE, counted)
    assert ranges_of(hub, "a.bin") == ["bytes=5000-"]
    assert counted.there == len(DATA)


def test_a_full_disk_is_named_with_the_file_and_the_fetch_goes_on_later(hub, tmp_path):
    cache = ReleaseCache(tmp_path, AT_ONCE)
    with (
        full_disk(room=len(DATA) // 2),
        pytest.raises(HomeError, match=r"images/a\.bin\.part: cannot be written: "),
    ):
        cache.fetch("blink", SUITE, Counted())
    assert (cache.fetch("blink", SUITE, Counted()) / "images" / "a.bin").read_bytes() == DATA


def test_a_busy_hub_is_tried_later(hub, tmp_path):
    hub.refusals = [(429, {"Retry-After": "0"}), (503, {})]
    ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, Counted())
    assert hub.refusals == []


@pytest.mark.parametrize("name", ["data.json", "images/a.bin"])
def test_a_file_that_is_not_the_pinned_one_is_not_kept(hub, tmp_path, name):
    hub.served[name] = hub.files[name][::-1]
    cache = ReleaseCache(tmp_path, AT_ONCE)
    with pytest.raises(SourceError, match="not the pinned file"):
        cache.fetch("codis", SUITE, Counted())
    assert cache.all() == []
    hub.served.clear()
    assert (cache.fetch("codis", SUITE, Counted()) / name).read_bytes() == hub.files[name]


def test_more_bytes_than_there_should_be_are_not_read(hub, tmp_path):
    hub.served["data.json"] = b"[" * 1_000_000
    with pytest.raises(SourceError, match="larger than expected"):
        ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, Counted())


def test_a_file_that_would_lie_elsewhere_is_refused(hub, tmp_path):
    hub.listed = {"rfilename": "../out"}
    with pytest.raises(SourceError, match="is outside the folder"):
        ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, Counted())


def test_terms_that_are_not_accepted_are_named_with_their_page(hub, tmp_path):
    hub.needs_terms = True
    with pytest.raises(SourceError, match=f"Accept its terms at {hub.url}/datasets/{REPOSITORY}"):
        ReleaseCache(tmp_path).fetch("codis", SUITE, Counted())


def test_a_data_set_that_is_not_there_is_named(hub, tmp_path):
    with pytest.raises(SourceError, match="nobody/nothing does not exist, or is private"):
        ReleaseCache(tmp_path).fetch("codis", HubRelease("nobody/nothing", "main"), Counted())


def test_without_a_network_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SourceError, match=r"hf:authors/suite@main: .* cannot be reached"):
        ReleaseCache(tmp_path).fetch("codis", SUITE, Counted())


def test_an_archive_is_unpacked_without_the_folder_that_holds_all_of_it(hub, tmp_path):
    release = web(hub, zipped({"suite-1/data/data.json": b"[1]"}), below="data")
    folder = ReleaseCache(tmp_path).fetch("codis", release, Counted())
    assert [file.name for file in folder.iterdir()] == ["data.json"]
    assert not list(tmp_path.rglob("release.zip"))


def test_a_folder_that_the_release_lacks_is_named(hub, tmp_path):
    release = web(hub, zipped({"data.json": b"[1]"}), below="nowhere")
    with pytest.raises(SourceError, match="has no folder nowhere"):
        ReleaseCache(tmp_path).fetch("codis", release, Counted())


def test_an_archive_that_cannot_be_unpacked_leaves_nothing(hub, tmp_path):
    cache = ReleaseCache(tmp_path)
    with pytest.raises(SourceError, match="cannot be unpacked"):
        cache.fetch("codis", web(hub, zipped({"a": b"1" * 99})[:-30]), Counted())
    assert cache.all() == []
