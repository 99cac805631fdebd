"""``bench home init``: templates of a home, a file benchmark and a suite package."""

import re
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import error_reporting, open_settings
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.suite import name_defects
from bench_assets.plugins import SUITES, find_owners
from bench_assets.workspace.console.new_home import new_home_printed
from bench_assets.workspace.console.output import print_message
from bench_resources.config.environment import default_home

app = typer.Typer()

_TEMPLATES = Path(__file__).parent / "templates"
_EXAMPLE = "fridge"  # placeholder name in the templates
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_IMAGE_SIZE = 96  # px, side of an image of the example
_MARGIN = 16  # px around a shape

Name = Annotated[str, typer.Argument(help="Lower-case letters, digits and _, such as fridge.")]


@app.command("init")
def home(
    folder: Annotated[
        Path | None, typer.Argument(help="Home folder. Default: $BENCH_HOME or bench_home.")
    ] = None,
) -> None:
    """Write a bench.toml with examples of settings as comments.

    Example: bench home init
    """
    with error_reporting():
        root = (folder or default_home()).expanduser().absolute()
        with new_home_printed(root):
            _write_new({root / "bench.toml": _render_template("home/bench.toml.txt", _EXAMPLE)})
        print_message(f"{root / 'bench.toml'}: uncomment what you need")
        if root != default_home():
            print_message(f"to use it: export BENCH_HOME={quote(str(root))}")


@app.command("init-benchmark")
def benchmark(name: Name) -> None:
    """Add a section to bench.toml, with a small file of questions and its images; no Python.

    Example: bench home init-benchmark fridge
    """
    with open_settings() as settings:
        _require_name(name)
        folder, file = settings.home / name, settings.file
        if name in settings.benchmarks:
            raise SettingsError(
                f"{file}: section [benchmarks.{name}] already exists. Choose another name"
            )
        questions = _render_template("benchmark/questions.jsonl.txt", _EXAMPLE)
        with new_home_printed(settings.home):
            _write_new({folder / "questions.jsonl": questions})
        _draw_example(folder)
        with file.open("a", encoding="utf-8") as bench_toml:
            bench_toml.write(_render_template("benchmark/bench.toml.txt", name))
        print_message(f"{file}: section [benchmarks.{name}]\n{folder}: four questions, two images")
        print_message(f"try: bench evaluate {name} --model random")


@app.command("init-suite")
def suite(
    name: Name,
    folder: Annotated[
        Path | None,
        typer.Option(help="Output folder. Default: NAME_bench in the working directory."),
    ] = None,
) -> None:
    """Write a package with a benchmark in Python: entry point, mini edition, tests.

    Example: bench home init-suite fridge
    """
    with error_reporting():
        _require_name(name)
        root = folder or Path(f"{name}_bench")
        texts = {}
        for template in sorted((_TEMPLATES / "suite").rglob("*.txt")):
            path = template.relative_to(_TEMPLATES / "suite").with_suffix("").as_posix()
            text = _render_template(f"suite/{path}.txt", name)
            texts[root / path.replace(_EXAMPLE, name)] = text
        _write_new(texts)
        print_message(
            f"{root}: {len(texts)} files\ntry: pip install --editable {root}; pytest {root}"
        )


def _render_template(template: str, name: str) -> str:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    title = name.replace("_", " ").capitalize()
    dashed = name.replace("_", "-")
    text = text.replace(f"{_EXAMPLE}-bench", f"{dashed}-bench")
    return text.replace(_EXAMPLE, name).replace(_EXAMPLE.capitalize(), title)


def _write_new(texts: dict[Path, str]) -> None:
    """Write new files; never overwrite one."""
    if existing := [file for file in texts if file.exists()]:
        raise SettingsError(f"{existing[0]}: exists already; nothing was written")
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{error.filename}: cannot be written: {error.strerror}") from error


def _draw_example(folder: Path) -> None:
    from PIL import Image, ImageDraw

    box = (_MARGIN, _MARGIN, _IMAGE_SIZE - _MARGIN, _IMAGE_SIZE - _MARGIN)
    for colour, shape in (("red", "square"), ("blue", "disc")):
        image = Image.new("RGB", (_IMAGE_SIZE, _IMAGE_SIZE), "white")
        pen = ImageDraw.Draw(image)
        draw_shape = pen.ellipse if shape == "disc" else pen.rectangle
        draw_shape(box, fill=colour)
        image.save(folder / f"{colour}-{shape}.png")


def _require_name(name: str) -> None:
    """Refuse a name that is malformed, reserved, or of an installed or known benchmark."""
    from bench_resources.config.known_benchmarks import known_benchmarks

    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r}: expected lower-case letters, digits and _, beginning with a letter"
        )
    if defects := name_defects(name):
        raise SettingsError(f"{name!r}: {defects[0]}; choose another name")
    if owner := find_owners(SUITES).get(name):
        raise SettingsError(
            f"{name!r}: already the name of an installed suite ({owner}). Choose another name"
        )
    if name in known_benchmarks():
        raise SettingsError(f"{name!r}: the name of a known benchmark. Choose another name")
