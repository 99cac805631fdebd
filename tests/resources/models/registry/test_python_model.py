"""Models in Python: behind the response store, known by their code, their options and questions."""

import importlib
import io
import sys
from pathlib import Path

import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.setup import setup_of
from tests.fakes.rows import question

CODE = """
from bench_assets.core.schema.chat import Response

class Model:
    signature = "mine|v1"

    def __init__(self, name, open_image, voice="{voice}"):
        self.name, self.open_image, self.voice = name, open_image, voice

    def response(self, requests):
        BATCHES.append(len(requests))
        return [Response(text=self.say(request)) for request in requests]

    def say(self, request):
        sizes = [self.open_image(image.sha256).size for image in request.prompt.images]
        return f"{{self.voice}} {{request.question.question_id}} {{sizes}}"

class Short(Model):
    def response(self, requests):
        return []

class Silent(Model):
    def response(self, requests):
        return None

class Odd(Model):
    def response(self, requests):
        odd = [Response(text=5), "A", Response(text="\\ud83d"), None,
               Response(text="A", prompt_tokens="12")]
        return odd[:len(requests)]

class Raising(Model):
    def response(self, requests):
        if any(request.question.question_id == "t/2" for request in requests):
            raise KeyError("second")
        return super().response(requests)

def none(name, open_image):
    return None

BATCHES = []
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    """Writes the module ``model_of_tests``, and takes away what was imported of it before."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions within a second

    def write(voice: str) -> None:
        (tmp_path / "model_of_tests.py").write_text(CODE.format(voice=voice))
        monkeypatch.delitem(sys.modules, "model_of_tests", raising=False)

    write("A")
    return write


def ask(home: Path, *requests: Request, more: str = "", factory: str = "Model") -> list[str]:
    section = f'[models.m]\nkind = "python"\nfactory = "model_of_tests:{factory}"\n{more}\n'
    (home / "bench.toml").write_text(section)
    store = ImageStore(folder=str(home / "images"))
    with Models(settings=load_settings(home), image_store=store).open("m") as model:
        return [response.text for response in model.response(requests)]


def signature(home: Path) -> str:
    """The identity of the model that was asked last."""
    store = ImageStore(folder=str(home / "images"))
    with Models(settings=load_settings(home), image_store=store).open("m") as model:
        return model.signature


def about(question_id: str) -> Request:
    return Request(prompt=Prompt.of("?"), question=question(question_id=question_id))


def batches() -> list[int]:
    found: list[int] = importlib.import_module("model_of_tests").BATCHES
    return found


def test_options_go_to_the_factory_and_into_the_identity(code, tmp_path):
    ask(tmp_path, about("t/1"))
    assert signature(tmp_path) == "mine|v1"
    assert ask(tmp_path, about("t/1"), more='options = { voice = "B" }') == ["B t/1 []"]
    assert signature(tmp_path) == 'mine|v1|options={"voice": "B"}'
    assert batches() == [1, 1]


def test_a_changed_file_asks_again(code, tmp_path):
    ask(tmp_path, about("t/1"))
    code("C")
    assert ask(tmp_path, about("t/1")) == ["C t/1 []"]
    assert ask(tmp_path, about("t/1")) == ["C t/1 []"]
    assert batches() == [1]


def test_it_sees_images(code, tmp_path):
    written = io.BytesIO()
    PILImage.new("L", (3, 2)).save(written, "PNG")
    stored = ImageStore(folder=str(tmp_path / "images")).put(written.getvalue(), "a.png")
    request = Request(prompt=Prompt.of(Image(stored.sha256), "?"), question=question())
    assert ask(tmp_path, request)[0].endswith("[(3, 2)]")


def test_a_image_that_cannot_be_shown_costs_the_others_of_its_batch_nothing(code, tmp_path):
    broken = Request(prompt=Prompt.of(Image("00ff"), "?"), question=question())
    with pytest.raises(ModelError, match="m: all 1 requests failed: no image 00ff in"):
        ask(tmp_path, broken)
    good = about("t/1")
    assert ask(tmp_path, good, broken) == ["A t/1 []", ""]


def test_code_that_does_not_answer_each_request_is_an_error(code, tmp_path):
    with pytest.raises(ModelError, match="m: 0 responses to 1 requests; model_of_tests:Short must"):
        ask(tmp_path, about("t/1"), factory="Short")


@pytest.mark.parametrize("more", ["", "budget_tokens = 5"], ids=["freely", "within a budget"])
def test_what_is_no_response_is_an_error_of_its_question_and_the_rest_stays(code, tmp_path, more):
    questions = [about(f"t/{n}") for n in range(5)]
    assert ask(tmp_path, *questions, factory="Odd", more=more) == ["", "", "", "", "A"]


def test_a_question_at_which_the_code_raises_costs_only_itself(code, tmp_path):
    more = "batch_size = 2"
    texts = ask(tmp_path, *map(about, ("t/1", "t/2", "t/3")), factory="Raising", more=more)
    assert texts == ["A t/1 []", "", "A t/3 []"]
    with pytest.raises(ModelError, match="m: all 1 requests failed: KeyError: 'second'"):
        ask(tmp_path, about("t/2"), factory="Raising", more=more)


def test_a_factory_that_makes_no_model_is_named_with_its_model(code, tmp_path):
    with pytest.raises(
        ModelError, match=r"^m: model_of_tests:none: expected a model, got NoneType"
    ):
        ask(tmp_path, about("t/1"), factory="none")


def test_a_function_of_a_file_beside_the_home_gets_images_and_text(tmp_path, monkeypatch):
    """As ``bench.evaluate`` takes it; each response is kept as it arrives."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "function_of_tests.py").write_text(
        "def answer(images, prompt, *, voice='A'):\n"
        "    return f'{voice} {prompt} {[image.size for image in images]}'\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    section = '[models.m]\nkind = "python"\nfunction = "function_of_tests:answer"\n'
    (home / "bench.toml").write_text(f'{section}options = {{ voice = "B" }}\n')
    written = io.BytesIO()
    PILImage.new("L", (3, 2)).save(written, "PNG")
    store = ImageStore(folder=str(home / "images"))
    image = Image(store.put(written.getvalue(), "a.png").sha256)
    before = setup_of("m", load_settings(home))
    with Models(settings=load_settings(home), image_store=store).open("m") as model:
        (response,) = model.response([Request(prompt=Prompt.of(image, "?"))])
        assert (response.text, model.signature) == (
            "B ? [(3, 2)]",
            'function|function_of_tests:answer|options={"voice": "B"}',
        )
    (tmp_path / "function_of_tests.py").write_text("def answer(images, prompt):\n    return 'C'\n")
    assert setup_of("m", load_settings(home)) != before
    monkeypatch.delitem(sys.modules, "function_of_tests")


@pytest.mark.parametrize("keys", ["", 'function = "a:b"\nfactory = "a:b"'], ids=["none", "two"])
def test_a_model_in_python_is_a_function_or_a_factory(tmp_path, keys):
    (tmp_path / "bench.toml").write_text(f'[models.m]\nkind = "python"\n{keys}\n')
    with pytest.raises(SettingsError, match="expected either function or factory"):
        load_settings(tmp_path)


def test_a_module_that_does_not_compile_is_named_with_file_and_model(code, tmp_path):
    (tmp_path / "model_of_tests.py").write_text("def Model(:\n")
    with pytest.raises(SettingsError, match=r"bench.toml, model m: .*:Model: SyntaxError: invalid"):
        ask(tmp_path, about("t/1"))


def test_a_factory_that_is_not_there_is_named_with_file_and_model(code, tmp_path):
    with pytest.raises(SettingsError, match=r"bench.toml, model m: model_of_tests:None_of_it: "):
        ask(tmp_path, about("t/1"), factory="None_of_it")
