"""Archives that are not what they should be are errors that name them."""

import io
import tarfile
import zipfile

import pytest

from bench_assets.core.schema.errors import SourceError
from resources.datasets.archives import unpack


def zipped():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "x" * 99)
    return data.getvalue()


def tarred():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("a.zip", zipped()[:-22], id="a zip without its end"),
        pytest.param("a.zip", zipped().replace(b"PK\x01\x02\x14\x03\x14\x00\x00",
                                               b"PK\x01\x02\x14\x03\x14\x00\x01"), id="encrypted"),
        pytest.param("a.zip", zipped()[:36] + b"\xff" * 4 + zipped()[40:], id="torn inside"),
        pytest.param("a.tar.gz", tarred()[:20], id="a tar that is cut off"),
    ],
)  # fmt: skip
def test_a_damaged_archive_is_named(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=name):
        unpack(tmp_path / name)
