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


class ByteCounter(DownloadLog):
    """Counts the bytes of a download: those expected and those received."""

    total = 0
    received = 0

    def begin(self, title, total):
        self.total = total

    def add(self, n, n_transferred):
        self.received += n


@pytest.fixture
def hub(monkeypatch):
    with serving(
        StandIn({"data.json": b"[]", "images/a.bin": DATA}, lfs=("images/a.bin",))
    ) as server:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", server.url)
        yield server


def zip_bytes(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def serve_archive(server, data, below=""):
    server.files["release.zip"] = data
    digest = hashlib.sha256(data).hexdigest()
    return WebRelease(url=f"{server.url}/release.zip", sha256=digest, below=below)


def requested_ranges(hub, name):
    return [byte_range for path, byte_range in hub.requests if path.endswith(name)]


def test_a_home_that_cannot_be_written_is_named(hub, tmp_path):
    (tmp_path / "sources").touch()  # root may write into a read-only folder, but not below a file
    with pytest.raises(HomeError, match=rf"{tmp_path}/sources/codis/\w+: cannot be written: "):
        ReleaseCache(tmp_path).fetch("codis", SUITE, ByteCounter())


def test_a_data_set_is_fetched_once_and_pinned_to_its_commit(hub, tmp_path):
    cache, counter = ReleaseCache(tmp_path), ByteCounter()
    folder = cache.fetch("codis", SUITE, counter)
    assert (folder / "data.json").read_bytes() == b"[]"
    assert (folder / "images" / "a.bin").read_bytes() == DATA
    (download,) = cache.all()
    assert (download.suite, download.folder) == ("codis", folder)
    assert (download.release.commit, download.release.n_bytes) == (COMMIT, len(DATA) + 2)
    assert download.release.files["images/a.bin"] == hashlib.sha256(DATA).hexdigest()
    assert counter.total == len(DATA) + 2
    assert counter.received == len(DATA) + 2
    hub.requests.clear()
    assert cache.fetch("codis", SUITE, ByteCounter()) == folder
    assert hub.requests == []


def test_a_broken_download_is_resumed_where_it_broke(hub, tmp_path):
    hub.break_after = 5_000
    folder = ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, ByteCounter())
    assert (folder / "images" / "a.bin").read_bytes() == DATA
    assert requested_ranges(hub, "a.bin") == ["", "bytes=5000-", "bytes=10000-", "bytes=15000-"]


def test_a_server_that_breaks_every_download_and_resumes_none_is_given_up(hub, tmp_path):
    hub.break_after, hub.resumes = 5_000, False
    with pytest.raises(SourceError, match=r"a\.bin: ClientPayloadError"):
        ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, ByteCounter())
    # The first attempt gets 5,000 bytes; the others start anew and get no further.
    assert requested_ranges(hub, "a.bin") == ["", *["bytes=5000-"] * (AT_ONCE.tries - 1)]


def test_the_partial_file_of_a_failed_fetch_is_resumed(hub, tmp_path):
    hub.files.pop("data.json")
    hub.break_after = 5_000
    with pytest.raises(SourceError, match="the partial file is kept"):
        ReleaseCache(tmp_path, DownloadRetryPolicy(tries=1)).fetch("codis", SUITE, ByteCounter())
    hub.break_after = 0
    hub.requests.clear()
    counter = ByteCounter()
    ReleaseCache(tmp_path).fetch("codis", SUITE, counter)
    assert requested_ranges(hub, "a.bin") == ["bytes=5000-"]
    assert counter.received == len(DATA)


def test_a_full_disk_is_named_with_the_file_and_the_fetch_is_resumed_later(hub, tmp_path):
    cache = ReleaseCache(tmp_path, AT_ONCE)
    with (
        full_disk(room=len(DATA) // 2),
        pytest.raises(HomeError, match=r"images/a\.bin\.part: cannot be written: "),
    ):
        cache.fetch("blink", SUITE, ByteCounter())
    assert (cache.fetch("blink", SUITE, ByteCounter()) / "images" / "a.bin").read_bytes() == DATA


def test_a_record_that_cannot_be_written_is_named(hub, tmp_path):
    folder = ReleaseCache(tmp_path).fetch("codis", SUITE, ByteCounter()).parent
    (folder / "fetched.json").rename(folder / "elsewhere")
    (folder / ".fetched.json").mkdir()  # in place of the unfinished record
    with pytest.raises(HomeError, match=f"{folder}: cannot be written: Is a directory"):
        ReleaseCache(tmp_path).fetch("codis", SUITE, ByteCounter())


def test_a_file_is_fetched_through_the_proxy_of_the_environment(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", hub.url)
    url = f"http://files.invalid/resolve/{COMMIT}/images/a.bin"
    release = WebRelease(url=url, sha256=hashlib.sha256(DATA).hexdigest(), below="")
    folder = ReleaseCache(tmp_path, AT_ONCE).fetch("codis", release, ByteCounter())
    assert (folder / "a.bin").read_bytes() == DATA


@pytest.mark.parametrize(
    "record", ["torn", '{"address": "", "commit": "", "n_bytes": 1, "files": 5}']
)
def test_a_damaged_record_is_named(tmp_path, record):
    file = tmp_path / "sources" / "codis" / "0123" / "fetched.json"
    file.parent.mkdir(parents=True)
    file.write_text(record)
    with pytest.raises(SourceError, match=f"{file}: not written by bench. Delete it"):
        ReleaseCache(tmp_path).all()


def test_a_busy_hub_is_tried_later(hub, tmp_path):
    hub.refusals = [(429, {"Retry-After": "0"}), (503, {})]
    folder = ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, ByteCounter())
    assert hub.refusals == []
    assert (folder / "images" / "a.bin").read_bytes() == DATA


@pytest.mark.parametrize("name", ["data.json", "images/a.bin"])
def test_a_file_that_is_not_the_pinned_one_is_not_kept(hub, tmp_path, name):
    hub.served[name] = hub.files[name][::-1]
    cache = ReleaseCache(tmp_path, AT_ONCE)
    with pytest.raises(SourceError, match="not the pinned file"):
        cache.fetch("codis", SUITE, ByteCounter())
    assert cache.all() == []
    hub.served.clear()
    assert (cache.fetch("codis", SUITE, ByteCounter()) / name).read_bytes() == hub.files[name]


def test_a_file_with_more_bytes_than_listed_is_refused(hub, tmp_path):
    hub.served["data.json"] = b"[" * 1_000_000
    with pytest.raises(SourceError, match="larger than expected"):
        ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, ByteCounter())


def test_a_file_outside_of_the_folder_is_refused(hub, tmp_path):
    hub.listed = {"rfilename": "../out"}
    with pytest.raises(SourceError, match="is outside the folder"):
        ReleaseCache(tmp_path, AT_ONCE).fetch("codis", SUITE, ByteCounter())


def test_a_data_set_with_terms_is_refused_with_the_page_to_accept_them(hub, tmp_path):
    hub.needs_terms = True
    with pytest.raises(SourceError, match=f"Accept its terms at {hub.url}/datasets/{REPOSITORY}"):
        ReleaseCache(tmp_path).fetch("codis", SUITE, ByteCounter())


def test_a_data_set_that_does_not_exist_is_named(hub, tmp_path):
    with pytest.raises(SourceError, match="nobody/nothing does not exist, or is private"):
        ReleaseCache(tmp_path).fetch("codis", HubRelease("nobody/nothing", "main"), ByteCounter())


def test_a_revision_that_does_not_exist_is_named(hub, tmp_path):
    release = HubRelease(REPOSITORY, "nowhere")
    with pytest.raises(SourceError, match=f"@nowhere: .*/{REPOSITORY} has no such revision"):
        ReleaseCache(tmp_path).fetch("codis", release, ByteCounter())


def test_a_hub_that_cannot_be_reached_is_named_with_the_release(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SourceError, match=r"hf:authors/suite@main: .* cannot be reached"):
        ReleaseCache(tmp_path).fetch("codis", SUITE, ByteCounter())


def test_an_archive_is_unpacked_without_its_top_folder_and_not_kept(hub, tmp_path):
    release = serve_archive(hub, zip_bytes({"suite-1/data/data.json": b"[1]"}), below="data")
    folder = ReleaseCache(tmp_path).fetch("codis", release, ByteCounter())
    assert [file.name for file in folder.iterdir()] == ["data.json"]
    assert not list(tmp_path.rglob("release.zip"))


def test_a_folder_that_the_release_lacks_is_named(hub, tmp_path):
    release = serve_archive(hub, zip_bytes({"data.json": b"[1]"}), below="nowhere")
    with pytest.raises(SourceError, match="has no folder nowhere"):
        ReleaseCache(tmp_path).fetch("codis", release, ByteCounter())


def test_an_archive_that_cannot_be_unpacked_is_no_release(hub, tmp_path):
    cache = ReleaseCache(tmp_path)
    with pytest.raises(SourceError, match="cannot be unpacked"):
        cache.fetch("codis", serve_archive(hub, zip_bytes({"a": b"1" * 99})[:-30]), ByteCounter())
    assert cache.all() == []
