"""Pictures in terminals: what is sent is what each way of showing them asks for."""

import base64
import io
import re

import pytest
from PIL import Image
from rich.console import Console

from bench_assets.bench.terminal_pictures import SIDE, blocks, drawn, way_of


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        pytest.param({"TERM": "xterm-kitty"}, "kitty", id="kitty"),
        pytest.param({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty", id="by window"),
        pytest.param({"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, "kitty", id="ghostty"),
        pytest.param({"TERM": "xterm-256color", "KONSOLE_VERSION": "230804"}, "kitty",
                     id="Konsole, since 22.04"),
        pytest.param({"TERM": "xterm-256color", "KONSOLE_VERSION": "211203"}, "blocks",
                     id="an older Konsole"),
        pytest.param({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm", id="iTerm2"),
        pytest.param({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "iterm",
                     id="iTerm2 behind ssh"),
        pytest.param({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm", id="WezTerm"),
        pytest.param({"TERM": "foot"}, "sixel", id="foot"),
        pytest.param({"TERM": "xterm+sixel"}, "sixel", id="a terminal that says so"),
        pytest.param({"TERM": "xterm-256color"}, "blocks", id="any other"),
        pytest.param({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, "blocks", id="inside tmux"),
        pytest.param({"TERM": "screen"}, "blocks", id="inside screen"),
        pytest.param({"TERM": "dumb"}, "", id="one that only prints"),
        pytest.param({}, "", id="none that is known"),
        pytest.param({"TERM": "xterm-kitty", "NO_COLOR": "1"}, "", id="without colours"),
    ],
)  # fmt: skip
def test_what_a_terminal_can_show_is_read_off_its_environment(environment, way):
    assert way_of(environment, is_terminal=True) == way
    assert way_of(environment, is_terminal=False) == ""


def test_kitty_is_sent_a_png_in_chunks_and_asked_for_no_answer():
    noise = Image.effect_noise((80, 60), 90).convert("RGB")
    sent = drawn(noise, "kitty")
    chunks = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sent)
    assert "".join(f"\x1b_G{keys};{data}\x1b\\" for keys, data in chunks) == sent
    assert chunks[0][0] == "a=T,f=100,q=2,m=1"
    assert {keys for keys, _ in chunks[1:-1]} <= {"m=1"}
    assert chunks[-1][0] == "m=0"
    assert all(len(data) <= 4096 for _, data in chunks)
    assert pixels("".join(data for _, data in chunks)) == noise.tobytes()


def test_iterm_is_sent_a_png_with_its_size():
    red = Image.new("RGB", (3, 2), "red")
    found = re.fullmatch(r"\x1b\]1337;File=inline=1;size=(\d+):(.*)\a", drawn(red, "iterm"))
    assert len(base64.b64decode(found[2])) == int(found[1])
    assert pixels(found[2]) == red.tobytes()


def pixels(data):
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB").tobytes()


def test_sixels_by_pencil():
    # Two columns, seven rows: six red and one blue on the left, all blue on the right.
    picture = Image.new("RGB", (2, 7), (0, 0, 255))
    for y in range(6):
        picture.putpixel((0, y), (255, 0, 0))
    sent = drawn(picture, "sixel")
    assert sent.startswith('\x1bP0;1;0q"1;1;2;7#')
    assert sent.endswith("-\x1b\\")
    colours = {rgb: n for n, rgb in re.findall(r"#(\d+);2;(\d+;\d+;\d+)", sent)}
    red, blue = colours["100;0;0"], colours["0;0;100"]
    first, second = re.sub(r".*\d+;2;\d+;\d+;\d+", "", sent)[:-2].split("-")[:2]
    # Six bits of a band, the topmost is 1: all of them are 63 + 63 "~", none "?", the first "@".
    assert sorted(first.split("$")[:-1]) == sorted([f"#{red}~?", f"#{blue}?~"])
    assert second == f"#{blue}@@$"


def test_half_blocks_are_two_pixels_a_character():
    picture = Image.new("RGB", (2, 2), (255, 0, 0))
    picture.putpixel((0, 1), (0, 0, 255))
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=40)
    console.print(blocks(picture, 40), end="")
    assert console.file.getvalue() == (
        "\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[0m\x1b[38;2;255;0;0;48;2;255;0;0m▀\x1b[0m\n"
    )


@pytest.mark.parametrize(
    "size", [(4000, 10), (1, 3000), (1, 1), (600, 600)], ids=["wide", "high", "a dot", "large"]
)
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "LA"])
def test_pictures_of_any_size_and_kind_fit(size, mode):
    picture = Image.new(mode, size)
    console = Console(file=io.StringIO(), force_terminal=True, color_system="256", width=70)
    console.print(blocks(picture, 70), end="")
    shown = console.file.getvalue().splitlines()
    assert 1 <= len(shown) <= 24
    assert all(line.count("▀") <= 60 for line in shown)
    sent = Image.open(io.BytesIO(base64.b64decode(drawn(picture, "iterm").split(":")[1][:-1])))
    assert max(sent.size) <= SIDE
