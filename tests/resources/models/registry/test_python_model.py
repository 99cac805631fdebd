import importlib
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
from bench_resources.models.registry.functions import check_function, resolve_function
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.python_model import PythonEngine
from bench_resources.models.registry.setup import setup_of
from bench_resources.response_cache.rows import TokenCounts
from tests.fakes.server_engines import requests_for
from tests.fakes.written_images import saved

CODE = """
PROMPTS = []

def answer(images, prompt, *, voice="{voice}"):
    PROMPTS.append(prompt)
    return f"{{voice}} {{prompt}} {{[image.size for image in images]}}"

def fail(images, prompt):
    if prompt == "raise":
        raise KeyError("no such prompt")
    return {{"text": "A", "number": 5, "half": "\\ud83d"}}[prompt]

async def later(images, prompt):
    return "A"
"""


@pytest.fixture
def write_code(tmp_path, monkeypatch):
    """Writes a module beside the home, with its voice, and forgets its import."""
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
    """Send requests; return the texts of the responses and the signature of the model."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    section = f'[models.m]\nkind = "python"\nfunction = "functions_of_tests:{function}"\n{more}\n'
    (home / "bench.toml").write_text(section)
    store = ImageStore(folder=str(home / "images"))
    with Models(settings=load_settings(home), image_store=store).open("m") as model:
        return [response.text for response in model.response(requests)], model.signature


def received_prompts() -> list[str]:
    prompts: list[str] = importlib.import_module("functions_of_tests").PROMPTS
    return prompts


def test_options_are_passed_to_the_function_and_are_part_of_the_signature(write_code, tmp_path):
    _, signature = ask(tmp_path, *requests_for("?"))
    texts, signature_with_options = ask(
        tmp_path, *requests_for("?"), more='options = { voice = "B" }'
    )
    assert texts == ["B ? []"]
    assert signature.startswith("function|functions_of_tests:answer|code:")
    assert signature_with_options == f'{signature}|options={{"voice": "B"}}'


def test_changed_code_is_called_again_once_and_changes_the_setup(write_code, tmp_path):
    ask(tmp_path, *requests_for("?"))
    setup = setup_of("m", load_settings(tmp_path / "home"))
    write_code("C")
    for _ in range(2):  # the second response is a cached one
        texts, _ = ask(tmp_path, *requests_for("?"))
        assert texts == ["C ? []"]
    assert received_prompts() == ["?"]
    assert setup_of("m", load_settings(tmp_path / "home")) != setup


def test_a_function_gets_images_and_a_missing_one_is_the_error_of_its_request(write_code, tmp_path):
    store = ImageStore(folder=str(tmp_path / "home" / "images"))
    stored = store.put(saved(PILImage.new("L", (3, 2))), "a.png")
    missing = Request(prompt=Prompt.of(Image("00ff"), "?"))
    texts, _ = ask(tmp_path, missing, Request(prompt=Prompt.of(Image(stored.sha256), "?")))
    assert texts == ["", "A ? [(3, 2)]"]
    with pytest.raises(ModelError, match="m: all 1 requests failed: no image 00ff in"):
        ask(tmp_path, missing)


def test_invalid_responses_leave_the_other_requests_answered(write_code, tmp_path):
    requests = requests_for("raise", "number", "half", "text")
    texts, _ = ask(tmp_path, *requests, function="fail")
    assert texts == ["", "", "", "A"]


@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        ("raise", "KeyError: 'no such prompt'"),
        ("number", "expected a text, got int: 5"),
        ("half", "its text is not valid Unicode"),
    ],
)
def test_an_invalid_response_is_the_error_of_its_request(write_code, tmp_path, prompt, error):
    with pytest.raises(ModelError, match=f"m: all 1 requests failed: .*{error}"):
        ask(tmp_path, *requests_for(prompt), function="fail")


@pytest.mark.parametrize(
    ("function", "more", "expected_message"),
    [
        ("nothing", "", r"bench.toml, model m: functions_of_tests:nothing: "),
        ("answer", "options = { voise = 1 }", r"\[models.m.options\]: entry voise: .*'voice'"),
        ("later", "", "which is asynchronous"),
        ("PROMPTS", "", "functions_of_tests:PROMPTS: not a function"),
    ],
)
def test_a_function_that_cannot_be_called_is_named(
    write_code, tmp_path, function, more, expected_message
):
    with pytest.raises(SettingsError, match=expected_message):
        ask(tmp_path, *requests_for("?"), function=function, more=more)


def test_an_object_that_cannot_be_called_is_refused_with_its_type():
    with pytest.raises(SettingsError, match=r"expected a function .*, got int$"):
        check_function(5)


def test_a_module_that_does_not_compile_is_named_with_file_and_model(write_code, tmp_path):
    (tmp_path / "functions_of_tests.py").write_text("def answer(:\n")
    with pytest.raises(
        SettingsError, match=r"bench.toml, model m: .*:answer: SyntaxError: invalid"
    ):
        ask(tmp_path, *requests_for("?"))


@pytest.mark.parametrize("turns", [(), (Turn("system", ("?",)),)], ids=["no turn", "a system's"])
def test_a_prompt_without_a_user_turn_is_an_error(write_code, tmp_path, turns):
    with pytest.raises(ModelError, match="the prompt has no unanswered user turn"):
        ask(tmp_path, Request(prompt=Prompt(turns)))


def test_an_earlier_response_is_sent_back_without_its_reasoning():
    received: list[str] = []

    def model(images: list[Any], prompt: str) -> str:
        received.append(prompt)
        return "<think>Two? One.</think>One."

    spec = resolve_function(model, "m").spec
    assert isinstance(spec, PythonSpec)
    context = EngineContext(
        name="m", read_image=lambda _: b"", resolve=Path, spent=lambda _: TokenCounts()
    )
    prompt = Prompt((Turn("user", ("How many?",)), Turn("user", ("Sure?",))))
    list(PythonEngine(spec, context).stream([Request(prompt=prompt)]))
    assert received == ["How many?", "How many?\nAssistant: One.\nSure?"]
