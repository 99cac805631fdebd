"""Metadata of image files: EXIF, IPTC and XMP, comments, private segments, appended data."""

import io
import struct
import warnings
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from PIL import ExifTags, Image, ImageFile, IptcImagePlugin

_IFDS = (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo)
_PIXELS = frozenset({"exif", "icc_profile", "transparency", "background", "duration", "loop"})
"""Entries of ``Image.info`` that are read elsewhere, or that belong to the pixels."""

_SEGMENTS = frozenset({"APP0", "APP1", "APP2", "APP13", "APP14", "COM"})
_PNG = b"\x89PNG\r\n\x1a\n"
_MAX_VALUE_LENGTH = 4000  # characters of a value
_PARSE_ERRORS = (OSError, ValueError, SyntaxError, KeyError, TypeError, IndexError, AttributeError)


def read_metadata(data: bytes) -> dict[str, str]:
    """Metadata by name, as text; {} if there is none, or the file is unreadable."""
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data)) as image:
            metadata = {name: _text(value) for name, value in _entries(image)}
            metadata |= {"appended": _text(_appended(data, image.format))}
    except (*_PARSE_ERRORS, struct.error, Image.DecompressionBombError):
        return {}
    return {name: text for name, text in metadata.items() if text}


def _entries(image: ImageFile.ImageFile) -> Iterator[tuple[str, Any]]:
    yield from _exif(image.getexif())
    for (record, number), value in (IptcImagePlugin.getiptcinfo(image) or {}).items():
        yield f"IPTC {record}:{number:03}", value
    for name, value in (getattr(image, "text", None) or {}).items():  # PNG, also behind the pixels
        yield name, value
    for name, value in image.info.items():
        if name not in _PIXELS:
            yield str(name), value
    yield from _encoder_entries(image)


def _encoder_entries(image: ImageFile.ImageFile) -> Iterator[tuple[str, Any]]:
    for name, value in getattr(image, "applist", ()):  # JPEG: non-standard segments
        if name not in _SEGMENTS:
            yield name, value
    if profile := image.info.get("icc_profile"):
        yield "ICC profile", sha256(profile).hexdigest()[:12]
    if tables := getattr(image, "quantization", None):
        yield "JPEG tables", sha256(repr(sorted(tables.items())).encode()).hexdigest()[:12]


def _appended(data: bytes, form: str | None) -> bytes:
    """Data after the end of a JPEG or PNG, and a PNG's private chunks and time stamp."""
    if form == "JPEG":
        return data.rpartition(b"\xff\xd9")[2]
    if form != "PNG":
        return b""
    texts, position = [], len(_PNG)
    while position + 12 <= len(data):
        size, name = struct.unpack(">I4s", data[position : position + 8])
        if name[:1].islower() and (name[1:2].islower() or name == b"tIME"):
            texts.append(data[position + 8 : position + 8 + size])
        position += 12 + size
        if name == b"IEND":
            break
    return b" ".join([*texts, data[position:]])


def _exif(exif: Image.Exif) -> Iterator[tuple[str, Any]]:
    for number, value in exif.items():
        yield ExifTags.TAGS.get(number, f"tag {number}"), value
    for ifd in _IFDS:
        names: Mapping[int, str] = (
            ExifTags.GPSTAGS if ifd == ExifTags.IFD.GPSInfo else ExifTags.TAGS
        )
        for number, value in exif.get_ifd(ifd).items():
            yield names.get(number, f"tag {number}"), value


def _text(value: Any) -> str:  # noqa: ANN401  (whatever the file holds)
    if isinstance(value, bytes):
        for code in ("ASCII\0\0\0", "UNICODE\0", "JIS\0\0\0\0\0"):  # of EXIF's UserComment
            value = value.removeprefix(code.encode())
        wide = len(value) % 2 == 0 and value[1::2].count(0) > len(value) // 4  # Windows' tags
        value = value.decode("utf-16-le" if wide else "utf-8", "replace")
    elif isinstance(value, list | tuple):
        value = "; ".join(map(_text, value))
    return str(value).replace("\0", "").strip()[:_MAX_VALUE_LENGTH]
