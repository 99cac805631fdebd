"""Hostile images, and whole ones that are seldom seen as a person sees them."""

import io
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

_SIDE = 32  # px


def saved(image: Image.Image, form: str = "PNG", **more: Any) -> bytes:
    """Write an image in a form of Pillow's."""
    data = io.BytesIO()
    image.save(data, form, **more)
    return data.getvalue()


def photo(side: int = _SIDE) -> Image.Image:
    """Draw something that is no one colour."""
    ramp = Image.linear_gradient("L").resize((side, side))
    return Image.merge("RGB", (ramp, ramp.rotate(90), Image.new("L", ramp.size, 90)))


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png(width: int, height: int, *chunks: bytes, depth: int = 8, colour: int = 2) -> bytes:
    head = _png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + _png_chunk(b"IEND", b"")


def _idat(width: int, height: int) -> bytes:
    return _png_chunk(b"IDAT", zlib.compress(bytes((3 * width + 1) * height)))


def _zeros(mebibytes: int) -> bytes:
    """Zeros, packed block by block, which takes no time."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"x\x01" + block * mebibytes + b"\3\0\0\0\0\1"


def hostile() -> Mapping[str, bytes]:
    """Files that are no images, or torn ones, or far too large ones."""
    png, jpeg, gif = saved(photo()), saved(photo(), "JPEG"), saved(photo(), "GIF")
    packed = _zeros(200)
    text, profile = (_png_chunk(name, b"a\0\0" + packed) for name in (b"zTXt", b"iCCP"))
    turned = b"\xff\xe1" + struct.pack(">H", 2 + 32 - 2) + b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12"
    return {
        "of no bytes": b"",
        "a page of HTML": b"<!doctype html><title>404</title>",
        "an SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
        "a PNG of 100,000 x 100,000 px": _png(100_000, 100_000, _idat(4, 4)),
        "a PNG of 2**31 x 2**31 px": _png(2**31 - 1, 2**31 - 1, _idat(4, 4)),
        "a PNG of 0 x 0 px": _png(0, 0, _idat(1, 1)),
        "a PNG with too little in it": _png(64, 64, _idat(4, 4)),
        "a PNG cut in half": png[: len(png) // 2],
        "a PNG without an end": png[:-12],
        "a PNG with a wrong checksum": png[:40] + bytes([png[40] ^ 1]) + png[41:],
        "a PNG of an unknown depth": _png(4, 4, _idat(4, 4), depth=7),
        "a PNG with 200 MB of text": _png(4, 4, text, _idat(4, 4)),
        "a PNG with 200 MB of profile": _png(4, 4, profile, _idat(4, 4)),
        "a PNG that is only a signature": b"\x89PNG\r\n\x1a\n",
        "a JPEG cut in half": jpeg[: len(jpeg) // 2],
        "a JPEG that is only a signature": b"\xff\xd8\xff",
        "a JPEG of 65535 x 65535 px": jpeg.replace(
            struct.pack(">HH", _SIDE, _SIDE), struct.pack(">HH", 65535, 65535), 1),
        "a JPEG with torn EXIF": jpeg[:2] + turned + b"\xff" * 12 + jpeg[2:],
        "a GIF cut in half": gif[: len(gif) // 2],
        "a GIF of 65535 x 65535 px": gif[:6] + b"\xff\xff\xff\xff" + gif[10:],
        "a GIF that is only a signature": b"GIF89a",
        "a WebP cut in half": saved(photo(), "WEBP")[:60],
        "a TIFF whose directory points at itself": b"II*\0\x08\0\0\0\x01\0\0\x01\x04\0\x01\0\0\0"
        b"\x04\0\0\0\x08\0\0\0",
        "a TIFF cut in half": saved(photo(), "TIFF")[:400],
        "a BMP of -1 px": b"BM" + struct.pack("<IHHIIiiHH", 60, 0, 0, 54, 40, -1, -1, 1, 24),
        "an ICO that holds nothing": b"\0\0\1\0\1\0" + bytes(16),
        "an EPS, which would start a program": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"
        b"%%EndComments\nshowpage\n",
        "a PDF": b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>",
        "a zip behind a PNG": png + b"PK\3\4" + bytes(200),
        "a PPM that says more than it has": b"P6 9999 9999 255\n123",
        "a PPM of a number of 5000 digits": b"P6 " + b"9" * 5000 + b" 1 255\n",
        "an XBM": b"#define a_width 8\n#define a_height 8\nstatic char a_bits[] = { 0xff };",
        "a FITS with a negative axis": b"SIMPLE  =                    T".ljust(80)
        + b"BITPIX  =                    8".ljust(80) + b"NAXIS   =                   -2".ljust(80),
    }  # fmt: skip


def whole() -> Mapping[str, tuple[Callable[[], bytes], Callable[[Image.Image], bool]]]:
    """Images that are whole, and what a person sees in each."""
    ramp = np.broadcast_to(np.linspace(0, 1, 256), (16, 256))
    return {
        "black on transparent": (_black_on_transparent, _is_black_on_white),
        "black on a palette's transparent colour": (_transparent_palette, _is_black_on_white),
        "grey with alpha": (lambda: saved(Image.merge("LA", _ink())), _is_black_on_white),
        "16 bits": (lambda: saved(Image.fromarray((ramp * 65535).astype(np.uint16))), _is_ramp),
        "32 bits": (lambda: saved(
            Image.fromarray((ramp * 65535).astype(np.int32)), "TIFF"), _is_ramp),
        "floats": (lambda: saved(
            Image.fromarray(ramp.astype(np.float32)), "TIFF"), _is_ramp),
        "turned by EXIF": (_turned, lambda seen: seen.size == (16, 48)),
        "CMYK": (lambda: saved(
            Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG"), _is_red),
        "a palette": (lambda: saved(
            Image.new("RGB", (16, 16), "red").quantize(4)), _is_red),
        "one bit": (lambda: saved(Image.new("1", (16, 16), 1)),
                    lambda seen: seen.getpixel((3, 3)) == (255, 255, 255)),
        "animated, its first frame red": (lambda: saved(
            Image.new("RGB", (16, 16), "red"), "GIF", save_all=True,
            append_images=[Image.new("RGB", (16, 16), "blue")]), _is_red),
    }  # fmt: skip


def _ink() -> tuple[Image.Image, Image.Image]:
    """Black everywhere, and a square of it that can be seen."""
    shown = Image.new("L", (_SIDE, _SIDE), 0)
    ImageDraw.Draw(shown).rectangle((8, 8, 23, 23), fill=255)
    return Image.new("L", (_SIDE, _SIDE), 0), shown


def _black_on_transparent() -> bytes:
    black, shown = _ink()
    return saved(Image.merge("RGBA", (black, black, black, shown)))


def _transparent_palette() -> bytes:
    _, shown = _ink()
    paletted = Image.new("P", (_SIDE, _SIDE), 0)
    paletted.putpalette([0, 0, 0, 0, 0, 0])
    paletted.paste(1, mask=shown.convert("1"))
    return saved(paletted, transparency=0)


def _turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6  # lies on its side
    return saved(Image.new("RGB", (48, 16), "red"), "JPEG", exif=exif)


def _is_black_on_white(seen: Image.Image) -> bool:
    return seen.getpixel((1, 1)) == (255, 255, 255) and seen.getpixel((16, 16)) == (0, 0, 0)


def _is_ramp(seen: Image.Image) -> bool:
    levels = np.asarray(seen)[8, :, 0].astype(int)
    return len(set(levels.tolist())) > 200 and bool((np.diff(levels) >= 0).all())


def _is_red(seen: Image.Image) -> bool:
    red, green, blue = seen.getpixel((8, 8))  # type: ignore[misc]
    return bool(red > 200 and green < 60 and blue < 60)
