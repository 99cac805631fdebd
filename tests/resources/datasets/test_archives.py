import io
import tarfile
import zipfile
from contextlib import suppress

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_resources.datasets.archives import unpack

NAMES = ("a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.tar.bz2", "a.tar.xz")
MODES = {"a.tar.gz": "w:gz", "a.tgz": "w:gz", "a.tar.bz2": "w:bz2", "a.tar.xz": "w:xz"}


def zip_bytes(entries=(("a.txt", b"x" * 99),)):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return data.getvalue()


def tar_entry(name, content=b"", kind=tarfile.REGTYPE, link=""):
    member = tarfile.TarInfo(name)
    member.size, member.type, member.linkname = len(content), kind, link
    return member, content


def tar_bytes(entries=None, mode="w:gz"):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:
        for member, content in entries or [tar_entry("a.txt")]:
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def write_archive(folder, name, entries):
    """Write an archive of the kind that its name says; entries are names with contents."""
    if name.endswith(".zip"):
        data = zip_bytes(entries)
    else:
        members = [tar_entry(entry_name, content) for entry_name, content in entries]
        data = tar_bytes(members, MODES.get(name, "w"))
    file = folder / name
    file.write_bytes(data)
    return file


def assert_refused(file, expected_message):
    """Assert that an archive is not unpacked, and that only the archive is in its folder."""
    with pytest.raises(SourceError, match=expected_message) as raised:
        unpack(file)
    assert str(file) in str(raised.value)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("a.zip", zip_bytes()[:-22], id="a zip without its end"),
        pytest.param("a.zip", zip_bytes().replace(b"PK\x01\x02\x14\x03\x14\x00\x00",
                                               b"PK\x01\x02\x14\x03\x14\x00\x01"), id="encrypted"),
        pytest.param("a.zip", zip_bytes()[:36] + b"\xff" * 4 + zip_bytes()[40:], id="torn inside"),
        pytest.param("a.tar.gz", tar_bytes()[:20], id="a tar that is cut off"),
        pytest.param("a.zip", b"<html>Gone</html>", id="a web page"),
    ],
)  # fmt: skip
def test_a_damaged_archive_is_named(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    assert_refused(tmp_path / name, "cannot be unpacked")


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(
            [("all/a.txt", b"x"), ("__MACOSX/all/._a.txt", b"attributes")], id="Finder's attributes"
        ),
        pytest.param([("all\\", b""), ("all\\a.txt", b"x")], id="folders as Windows writes them"),
    ],
)
def test_a_zip_of_another_system_is_unpacked_to_the_same_files(tmp_path, entries):
    unpack(write_archive(tmp_path, "a.zip", entries))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "a.zip"]
    assert (tmp_path / "a.txt").read_bytes() == b"x"


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_archives_of_macos_are_merged_without_their_hidden_files(tmp_path, kind):
    for name in ("1", "2"):
        hidden = [("images/.DS_Store", name.encode()), ("._images", name.encode())]
        unpack(write_archive(tmp_path, f"{name}.{kind}", [(f"images/{name}.png", b""), *hidden]))
    assert not list(tmp_path.glob(".*"))
    assert {file.name for file in tmp_path.glob("*.png")} == {"1.png", "2.png"}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_outside_the_folder(tmp_path, name):
    folder = tmp_path / "in"
    folder.mkdir()
    with suppress(SourceError):  # a tar is refused; of a zip, names lose ".."
        unpack(write_archive(folder, name, [("a.txt", b"1"), ("../evil.txt", b"2")]))
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([tar_entry("a", kind=tarfile.SYMTYPE, link="/etc")], id="a link out"),
        pytest.param([tar_entry("a", kind=tarfile.LNKTYPE, link="../../x")], id="a hard link out"),
        pytest.param([tar_entry("a", kind=tarfile.FIFOTYPE)], id="a pipe"),
    ],
)
def test_a_link_or_device_of_a_tar_is_refused(tmp_path, entries):
    (tmp_path / "a.tar").write_bytes(tar_bytes(entries, "w"))
    assert_refused(tmp_path / "a.tar", "cannot be unpacked")


def test_archives_that_share_folders_and_equal_files_are_merged(tmp_path):
    licence = ("LICENSE", b"MIT")
    unpack(write_archive(tmp_path, "a.zip", [("train/1.png", b"1"), licence]))
    unpack(write_archive(tmp_path, "b.zip", [("train/2.png", b"2"), licence]))
    images = {
        str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*.png")
    }
    assert images == {"train/1.png": b"1", "train/2.png": b"2"}
    assert (tmp_path / "LICENSE").read_bytes() == b"MIT"


@pytest.mark.parametrize(
    ("entries", "name"),
    [
        pytest.param([("notes.txt", b"new"), ("b", b"")], "notes.txt", id="another file"),
        pytest.param([("notes.txt/x", b""), ("b", b"")], "notes.txt", id="a folder for a file"),
        pytest.param([("images", b""), ("b", b"")], "images", id="a file for a folder"),
        pytest.param([("a.zip", b""), ("b", b"")], "a.zip", id="the archive itself"),
    ],
)
def test_an_archive_that_would_replace_a_file_is_refused(tmp_path, entries, name):
    (tmp_path / "notes.txt").write_bytes(b"old")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(b"1")
    file = write_archive(tmp_path, "a.zip", entries)
    before = file.read_bytes()
    with pytest.raises(SourceError, match=f"/{name} exists with other content"):
        unpack(file)
    assert (tmp_path / "notes.txt").read_bytes() == b"old"
    assert (tmp_path / "images" / "1.png").read_bytes() == b"1"
    assert file.read_bytes() == before
