"""Pictures in a terminal that can show them: kitty's way, iTerm2's, sixels; else half blocks.

What a terminal can do is read off its environment; asking it would need its answer, which a pipe,
a slow line or another program may take away. Inside tmux and screen, which pass nothing on, and
wherever it is not known, pictures are made of characters: two pixels each.
"""

import base64
import io
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from PIL import Image
from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style

Way: TypeAlias = Literal["kitty", "iterm", "sixel", "blocks", ""]

SIDE = 480  # px, the longest side of what is sent
_WIDEST = 60  # characters of a picture made of them
_HIGHEST = 24  # lines
_CHUNK = 4096  # bytes that kitty takes at once
_COLOURS = 128  # of sixels

_KITTY = {"ghostty", "konsole"}
_ITERM = {"iterm.app", "wezterm", "mintty", "tabby", "rio"}
_SIXEL = ("foot", "mlterm", "contour", "yaft")


def way_of(environment: Mapping[str, str], *, is_terminal: bool) -> Way:
    """Read off the environment how a terminal shows pictures; "": it shows none.

    >>> way_of({"TERM": "xterm-kitty"}, is_terminal=True)
    'kitty'
    >>> way_of({"TERM": "xterm-kitty"}, is_terminal=False)
    ''
    """
    term = environment.get("TERM", "").lower()
    program = environment.get("TERM_PROGRAM", "").lower()
    if not is_terminal or term in ("", "dumb") or environment.get("NO_COLOR"):
        return ""
    if environment.get("TMUX") or program == "tmux" or term.startswith(("screen", "tmux")):
        return "blocks"
    if term == "xterm-kitty" or program in _KITTY or environment.get("KITTY_WINDOW_ID"):
        return "kitty"
    if (
        environment.get("KONSOLE_VERSION", "").isdigit()
        and environment["KONSOLE_VERSION"] >= "220400"
    ):
        return "kitty"
    if program in _ITERM or environment.get("LC_TERMINAL", "").lower() == "iterm2":
        return "iterm"
    return "sixel" if "sixel" in term or term.startswith(_SIXEL) else "blocks"


def drawn(picture: Image.Image, way: Way) -> str:
    """Write a picture as a terminal takes it, in ASCII; half blocks are drawn by ``blocks``.

    What is sent are pixels written anew: nothing of the file, which is a stranger's.
    """
    small = _small(picture, SIDE, SIDE)
    if way == "kitty":
        return "".join(_kitty(_png(small)))
    if way == "iterm":
        data = _png(small)
        return f"\x1b]1337;File=inline=1;size={len(data)}:{base64.b64encode(data).decode()}\a"
    return "".join(_sixels(small)) if way == "sixel" else ""


def blocks(picture: Image.Image, columns: int) -> Segments:
    """Make a picture of half blocks, two pixels a character, one above the other."""
    small = _small(picture, min(columns, _WIDEST), 2 * _HIGHEST)
    pixels = small.load()
    assert pixels is not None
    segments = []
    for y in range(0, small.height - 1, 2):
        for x in range(small.width):
            upper, lower = pixels[x, y], pixels[x, y + 1]
            style = Style(color=_colour(upper), bgcolor=_colour(lower))
            segments.append(Segment("▀", style))
        segments.append(Segment.line())
    return Segments(segments)


def _colour(pixel: object) -> Color:
    assert isinstance(pixel, tuple)
    return Color.from_rgb(*pixel)


def _small(picture: Image.Image, width: int, height: int) -> Image.Image:
    """Make it fit, on white; at least two pixels high, one line of characters."""
    plain = Image.new("RGB", picture.size, "white")
    whole = picture.convert("RGBA")
    plain.paste(whole, mask=whole)
    scale = min(width / plain.width, height / plain.height, 1)
    size = max(1, round(plain.width * scale)), max(2, round(plain.height * scale))
    return plain.resize(size, Image.Resampling.LANCZOS)


def _png(picture: Image.Image) -> bytes:
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def _kitty(data: bytes) -> Iterator[str]:
    text = base64.b64encode(data).decode()
    for start in range(0, len(text), _CHUNK):
        first = "a=T,f=100,q=2," if not start else ""  # q=2: it is to answer nothing
        more = int(start + _CHUNK < len(text))
        yield f"\x1b_G{first}m={more};{text[start : start + _CHUNK]}\x1b\\"


def _sixels(picture: Image.Image) -> Iterator[str]:
    """Bands of six lines; in each, a line of characters a colour, six pixels a character."""
    quantized = picture.quantize(_COLOURS)
    palette, width, height = quantized.getpalette() or [], quantized.width, quantized.height
    pixels = quantized.tobytes()
    yield f'\x1bP0;1;0q"1;1;{width};{height}'
    for colour in sorted(set(pixels)):
        red, green, blue = (round(one / 2.55) for one in palette[3 * colour : 3 * colour + 3])
        yield f"#{colour};2;{red};{green};{blue}"
    for top in range(0, height, 6):
        rows = [pixels[y * width : (y + 1) * width] for y in range(top, min(top + 6, height))]
        for colour in sorted(set(b"".join(rows))):
            bits = (
                sum(1 << n for n, row in enumerate(rows) if row[x] == colour) for x in range(width)
            )
            yield f"#{colour}" + "".join(chr(63 + six) for six in bits) + "$"
        yield "-"
    yield "\x1b\\"
