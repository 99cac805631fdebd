"""Python functions as models: behind the response store, known by their code and options."""

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.engine_kinds import EngineContext
from bench_resources.config.sections.models import PythonSpec
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.functions import resolve_function
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.python_model import PythonEngine
from bench_resources.models.registry.setup import setup_of
from bench_resources.response_cache.rows import TokenCounts
from tests.fakes.server_engines import requests_for

CODE = """
ASKED = []

def answer(images, prompt, *, voice="{voice}"):
    ASKED.append(prompt)
    return f"{{voice}} {{prompt}} {{[image.size for image in images]}}"

def odd(images, prompt):
    if prompt == "raise":
        raise KeyError("second")
    return {{"text": "A", "number": 5, "half": "\\ud83d"}}[prompt]

async def later(images, prompt):
    return "A"
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    """Writes a module beside the home, and takes away what was imported of it before."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions within a second

    def write(voice: str) -> None:
        (tmp_path / "functions_of_tests.py").write_text(CODE.format(voice=voice))
        monkeypatch.delitem(sys.modules, "functions_of_tests", raising=False)

    write("A")
    return write


def ask(
    folder: Path, *requests: Request, more: str = "", function: str = "answer"
) -> tuple[list[str], str]:
    """Texts of the responses, and the signature of the model."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    section = f'[models.m]\nkind = "python"\nfunction = "functions_of_tests:{function}"\n{more}\n'
    (home / "bench.toml").write_text(section)
    store = ImageStore(folder=str(home / "images"))
    with Models(settings=load_settings(home), image_store=store).open("m") as model:
        return [response.text for response in model.response(requests)], model.signature


def prompts() -> list[str]:
    asked: list[str] = importlib.import_module("functions_of_tests").ASKED
    return asked


def test_options_go_to_the_function_and_into_the_identity(code, tmp_path):
    _, plain = ask(tmp_path, *requests_for("?"))
    texts, signature = ask(tmp_path, *requests_for("?"), more='options = { voice = "B" }')
    assert texts == ["B ? []"]
    assert signature == f'{plain}|options={{"voice": "B"}}'
    assert plain.startswith("function|functions_of_tests:answer|code:")


def test_a_changed_file_asks_again(code, tmp_path):
    ask(tmp_path, *requests_for("?"))
    before = setup_of("m", load_settings(tmp_path / "home"))
    code("C")
    assert ask(tmp_path, *requests_for("?"))[0] == ["C ? []"]
    assert ask(tmp_path, *requests_for("?"))[0] == ["C ? []"]
    assert prompts() == ["?"]
    assert setup_of("m", load_settings(tmp_path / "home")) != before


def test_it_sees_images_and_one_that_is_lost_costs_the_others_nothing(code, tmp_path):
    written = io.BytesIO()
    PILImage.new("L", (3, 2)).save(written, "PNG")
    store = ImageStore(folder=str(tmp_path / "home" / "images"))
    stored = store.put(written.getvalue(), "a.png")
    requests = [Request(prompt=Prompt.of(Image(sha), "?")) for sha in ("00ff", stored.sha256)]
    assert ask(tmp_path, *requests)[0] == ["", "A ? [(3, 2)]"]
    with pytest.raises(ModelError, match="m: all 1 requests failed: no image 00ff in"):
        ask(tmp_path, requests[0])


def test_what_is_no_response_is_an_error_of_its_question_and_the_rest_stays(code, tmp_path):
    requests = requests_for("raise", "number", "half", "text")
    assert ask(tmp_path, *requests, function="odd")[0] == ["", "", "", "A"]
    with pytest.raises(ModelError, match="m: all 1 requests failed: KeyError: 'second'"):
        ask(tmp_path, requests[0], function="odd")


@pytest.mark.parametrize(
    ("function", "more", "message"),
    [
        ("nothing", "", r"bench.toml, model m: functions_of_tests:nothing: "),
        ("answer", "options = { voise = 1 }", r"\[models.m.options\]: entry voise: .*'voice'"),
        ("later", "", "which is asynchronous"),
    ],
)
def test_a_function_that_cannot_be_called_is_named(code, tmp_path, function, more, message):
    with pytest.raises(SettingsError, match=message):
        ask(tmp_path, *requests_for("?"), function=function, more=more)


def test_a_module_that_does_not_compile_is_named_with_file_and_model(code, tmp_path):
    (tmp_path / "functions_of_tests.py").write_text("def answer(:\n")
    with pytest.raises(
        SettingsError, match=r"bench.toml, model m: .*:answer: SyntaxError: invalid"
    ):
        ask(tmp_path, *requests_for("?"))


def test_an_earlier_response_is_sent_back_without_its_reasoning():
    seen: list[str] = []

    def model(images: list[Any], prompt: str) -> str:
        seen.append(prompt)
        return "<think>Two? One.</think>One."

    spec = resolve_function(model, "m").spec
    assert isinstance(spec, PythonSpec)
    at = EngineContext(
        name="m", read_image=lambda _: b"", resolve=Path, spent=lambda _: TokenCounts()
    )
    prompt = Prompt((Turn("user", ("How many?",)), Turn("user", ("Sure?",))))
    list(PythonEngine(spec, at).stream([Request(prompt=prompt)]))
    assert seen == ["How many?", "How many?\nAssistant: One.\nSure?"]
