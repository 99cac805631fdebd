"""Completeness of image files: half-written copies decode too, with a grey or black rest.

Decoders silently fill in what is missing. The signs checked here are the end of a JPEG's
entropy-coded data, its scans, and blocks of zeros in compressed data.
"""

import io
import re
import warnings
from collections.abc import Iterator
from itertools import product
from operator import eq
from typing import NamedTuple, TypeAlias
from zlib import crc32

from PIL import Image

_ZEROED = "half-written: a block of its compressed data is zero"
TRUNCATED = "cut short: its data ends before the image does"

_ZEROS = b"\0" * 512  # a block of a disk; compressed data has none
_MIN_TRAILING_ZEROS = 4096  # bytes
_END, _SCAN, _START = 0xD9, 0xDA, b"\xff\xd8"
JPEG_END = bytes((0xFF, _END))
_FRAMES = (0xC0, 0xC1, 0xC2)  # baseline, extended and progressive, with Huffman codes
_PROGRESSIVE = 0xC2
_FRAME_HEAD = 6
_STANDALONE_MARKERS = (0x01, 0xD8, *range(0xD0, 0xD8))  # markers without a segment
_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]")  # ends entropy-coded data
_RESTART = re.compile(rb"\xff+[\xd0-\xd7]")
_PROBE_BYTES = bytes((7 * n + n // 3) % 251 for n in range(1, 97))  # no 0xFF in it
_PROBE_TAIL = 16  # bytes
_STRIP = 256  # rows
_MAX_FULL_SIZE_PIXELS = 50_000_000  # px
_WEBP_HEAD = 12  # bytes
_WebpImage: TypeAlias = tuple[bytes, int, int]
_COMPRESSED = ("AVIF", "GIF", "JPEG2000", "PNG", "QOI")


class JpegScan(NamedTuple):
    """A scan of a JPEG: its components, its coefficients, and the position of its data."""

    components: tuple[int, ...]
    first: int  # coefficient, 0 to 63
    last: int
    lowest_bit: int
    refines: bool  # adds bits to coefficients of an earlier scan
    start: int  # of its entropy-coded data
    end: int


class JpegLayout(NamedTuple):
    """The parts of a JPEG."""

    frame: int  # start-of-frame marker, one of _FRAMES
    components: tuple[int, ...]
    scans: tuple[JpegScan, ...]
    end: int | None  # position of the end marker; None without one

    @property
    def is_progressive(self) -> bool:
        """Whether each scan refines the whole image."""
        return self.frame == _PROGRESSIVE

    @property
    def lacks_scans(self) -> bool:
        """Whether a progressive JPEG lacks scans that bring the last bit of a coefficient."""
        complete = {
            (component, coefficient)
            for scan in self.scans
            if scan.lowest_bit == 0
            for component, coefficient in product(scan.components, range(scan.first, scan.last + 1))
        }
        return self.is_progressive and len(complete) < 64 * len(self.components)


def jpeg_layout(data: bytes) -> JpegLayout | None:
    """Parse the markers of a JPEG; None for other data, other codings, or without pixel data."""
    if not data.startswith(_START):
        return None
    frame, components = 0, tuple[int, ...]()
    scans: list[JpegScan] = []
    end = None
    for marker, body, after in _segments(data):
        if marker == _END:
            end = after
            break
        if marker in _FRAMES and len(body) > _FRAME_HEAD:
            frame, components = marker, tuple(body[6 : 6 + 3 * body[5] : 3])
        elif marker == _SCAN and body and len(body) >= 4 + 2 * body[0]:
            channels, (first, last, bits) = body[1 : 1 + 2 * body[0] : 2], body[-3:]
            scans.append(
                JpegScan(
                    tuple(channels),
                    first,
                    last,
                    lowest_bit=bits & 15,
                    refines=bits > 15,
                    start=after,
                    end=_end_of_scan(data, after),
                )
            )
    return JpegLayout(frame, components, tuple(scans), end) if components and scans else None


def append_end_marker(data: bytes) -> bytes:
    """Append the end marker to a JPEG that lacks one or both of its bytes."""
    return data.rstrip(b"\xff") + JPEG_END


def find_defect(data: bytes, form: str, decoded: Image.Image, *, turned: bool = False) -> str:
    """Why a decodable image is incomplete; "" if its format shows no defect.

    Args:
        data: The bytes of the file.
        form: Its format, as Pillow names it.
        decoded: The decoded image, in RGB.
        turned: Whether ``decoded`` has been rotated.
    """
    if form in ("JPEG", "MPO"):
        layout = jpeg_layout(data)
        return _defect_of_jpeg(data, layout, decoded, turned=turned) if layout else ""
    if form == "WEBP":
        return _ZEROED if any(_has_zero_block(data, *image) for image in _webp_images(data)) else ""
    if (
        form in _COMPRESSED
        and data.endswith(_ZEROS)
        and not _has_end_marker(data.rstrip(b"\0"), form)
    ):
        return _ZEROED
    return ""


def find_doubt(data: bytes, form: str) -> str:
    """Why an uncompressed image may be half-written; "" if nothing suggests it."""
    zeros = len(data) - len(data.rstrip(b"\0"))
    if form in ("JPEG", "MPO", "WEBP", *_COMPRESSED) or zeros < _MIN_TRAILING_ZEROS:
        return ""
    return f"its last {zeros} bytes are zero: black, or a half-written copy"


def _defect_of_jpeg(data: bytes, layout: JpegLayout, decoded: Image.Image, *, turned: bool) -> str:
    if layout.lacks_scans:
        return f"{TRUNCATED}: scans of the progressive JPEG are missing"
    if not layout.frame:  # arithmetic codes
        return ""
    has_end = layout.end is not None
    if not has_end:
        data, layout = append_end_marker(data), jpeg_layout(append_end_marker(data)) or layout
    doubtful = layout.is_progressive or not has_end or _has_flat_corner(decoded, turned=turned)
    is_plain = all(low == high for low, high in _range(decoded))
    holes = (
        []
        if is_plain
        else list(filter(None, (_zero_block_end(data, scan) for scan in layout.scans)))
    )
    suspects = [*holes, *([layout.scans[-1].end] if doubtful else [])]
    probes = (data[:end] + _PROBE_BYTES + data[end:] for end in suspects)
    if not holes and not turned and all(_decodes_to(probe, decoded) for probe in probes):
        return ""
    before = _checksum(data) if suspects else 0
    for end in suspects:
        if _checksum(data[:end] + _PROBE_BYTES + data[end:]) != before:
            return TRUNCATED
        if end in holes and not _affects_pixels(data, end, before):
            return _ZEROED
    return ""


def _zero_block_end(data: bytes, scan: JpegScan) -> int:
    """End of the data around a block of zeros: a restart or the scan's end; 0 without a block.

    Scans that refine means (DC coefficients) have one bit for each, all of which may be zero.
    """
    at = data.find(_ZEROS, scan.start, scan.end)
    if at < 0 or (scan.refines and scan.last == 0):
        return 0
    restart = _RESTART.search(data, at, scan.end)
    return restart.start() if restart else scan.end


def _segments(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Marker, content and end of each segment; for the end marker, its position."""
    at = 2
    while match := _MARKER.search(data, at):
        marker, after = data[match.end() - 1], match.end()
        if marker == _END:
            yield marker, b"", after - 2
            return
        if marker in _STANDALONE_MARKERS:
            at = after
            continue
        at = after + int.from_bytes(data[after : after + 2])
        yield marker, data[after + 2 : at], at
        if marker == _SCAN:
            at = _end_of_scan(data, at)


def _end_of_scan(data: bytes, start: int) -> int:
    match = _MARKER.search(data, start)
    return match.start() if match else len(data)


def _checksum(data: bytes) -> int:
    """Checksum of the pixels, of large images at half their size; -1 if it does not decode."""
    checksum = 0
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > _MAX_FULL_SIZE_PIXELS:
                decode_at_half_size(image)
            for strip in _strips(image):
                checksum = crc32(strip, checksum)
    except Exception:  # noqa: BLE001 - Pillow raises whatever a forged file makes it
        return -1
    return checksum


def _decodes_to(data: bytes, decoded: Image.Image) -> bool:
    """Whether a JPEG in RGB decodes to these pixels."""
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data)) as image:
            comparable = image.mode == "RGB" and image.size == decoded.size
            return comparable and all(map(eq, _strips(image), _strips(decoded)))
    except Exception:  # noqa: BLE001 - as above
        return False


def _strips(image: Image.Image) -> Iterator[bytes]:
    for top in range(0, image.height, _STRIP):
        strip = image.crop((0, top, image.width, min(top + _STRIP, image.height)))
        yield strip.tobytes()


def decode_at_half_size(image: Image.Image) -> None:
    """Have a JPEG decoded at half its width and height, in a quarter of the memory."""
    image.draft(None, ((image.width + 1) // 2, (image.height + 1) // 2))


def _has_flat_corner(image: Image.Image, *, turned: bool) -> bool:
    """Whether the last corner (2 x 2 px) has one colour, as if a decoder had filled it in."""
    right, bottom = max(0, image.width - 2), max(0, image.height - 2)
    return any(
        all(low == high for low, high in _range(image.crop((x, y, x + 2, y + 2))))
        for x in ((0, right) if turned else (right,))
        for y in ((0, bottom) if turned else (bottom,))
    )


def _range(image: Image.Image) -> list[tuple[int, int]]:
    extrema = image.getextrema()
    return [extrema] if isinstance(extrema[0], int) else list(extrema)  # type: ignore[arg-type]


def _webp_images(
    data: bytes, start: int = _WEBP_HEAD, end: int | None = None
) -> Iterator[_WebpImage]:
    """Kind, start and end of each compressed image of a WebP, including those in frames."""
    at, end = start, len(data) if end is None else end
    while at + 8 <= end:
        kind, after = data[at : at + 4], at + 8
        at = after + int.from_bytes(data[at + 4 : at + 8], "little")
        if kind == b"ANMF" and start == _WEBP_HEAD:  # frames hold no frames
            yield from _webp_images(data, after + 16, at)
        elif kind in (b"VP8 ", b"VP8L"):
            yield kind, after, at
        at += at % 2


def _has_zero_block(data: bytes, kind: bytes, start: int, end: int) -> bool:
    """Whether a block is zero; plain areas of lossless images may be, but then all data is used."""
    if _ZEROS not in data[start:end]:
        return False
    return kind == b"VP8 " or not _affects_pixels(data, end, _checksum(data))


def _affects_pixels(data: bytes, end: int, before: int) -> bool:
    """Whether the last bytes before ``end`` are used: replacing them changes the pixels."""
    return _checksum(data[: end - _PROBE_TAIL] + _PROBE_BYTES[:_PROBE_TAIL] + data[end:]) != before


def _has_end_marker(data: bytes, form: str) -> bool:
    """Whether data, stripped of trailing zeros, has the end of its format."""
    ends = {"PNG": b"IEND\xaeB`\x82", "GIF": b";", "JPEG2000": b"\xff\xd9"}
    return form in ends and data.endswith(ends[form])
