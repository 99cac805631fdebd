"""A model that is asked for options: its answers, its numbers, and what cannot be asked so."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.elicitation import Elicitation, OptionLikelihoods
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Condition, Task
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.elicited_model import ElicitedModel
from tests.fakes.chat_server import Answer, ChatServer, texts
from tests.fakes.quiz import TASK
from tests.fakes.rows import question
from tests.fakes.server_engines import engine, remembering
from tests.fakes.stores import response_file
from tests.resources.models.registry.elicited_run import TWELVE, predict

CHOICE = question(
    question_id="q/1", task="q", kind="choice", options=("left", "right", "up"), answer=("B",)
)


class Weighing:
    """A chat model with probabilities of options: 1/8 each, but for what a prompt names."""

    name, signature = "m", "weighing"
    elicits = frozenset({"likelihood", "constrained"})

    def __init__(self, probable: dict[str, dict[str, float]] | None = None) -> None:
        self.probable = probable or {}
        self.requests: list[Request] = []

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        return [Response(text=self._text(request), finish_reason="stop") for request in requests]

    def _text(self, request: Request) -> str:
        of = self.probable.get(str(request.prompt.turns[-1].parts[-1]), {})
        likelihoods = [of.get(option, 1 / 8) for option in request.options]
        if request.elicit == "constrained":
            return request.options[likelihoods.index(max(likelihoods))]
        return OptionLikelihoods(tuple(map(log, likelihoods)), (1,) * len(likelihoods)).to_json()


def elicit(how: str, model: Weighing, *questions: Question, task: Task = TASK) -> list[Prediction]:
    elicited = ElicitedModel(model, f"m+{how}", Elicitation.parse(how))
    return pipeline.predict(task, questions, elicited)


def test_the_likeliest_option_is_the_answer_and_all_are_ranked():
    (predicted,) = elicit("likelihood", Weighing({"?": {"A": 0.25, "B": 0.5}}), CHOICE)
    assert (predicted.text, predicted.ranking) == ("B", ("B", "A", "C"))
    assert [exp(logprob) for logprob in predicted.logprobs] == pytest.approx(
        [0.25, 0.5, 0.125], abs=1e-6
    )
    assert json.loads(predicted.raw_text)["tokens"] == [1, 1, 1]
    assert predicted.decoding == "weighing|elicit=likelihood-letters-none"


def test_what_is_likely_without_a_question_is_taken_off():
    model = Weighing({"?": {"A": 0.5, "B": 0.25}, "": {"A": 0.5}})
    (plain,) = elicit("likelihood", model, CHOICE)
    (without,) = elicit("likelihood-unconditional", model, CHOICE)
    assert (plain.text, without.text) == ("A", "B")
    assert [exp(logprob) for logprob in without.logprobs] == pytest.approx([1, 2, 1], abs=1e-5)
    assert model.requests[-1].prompt == Prompt.of("")


def test_one_of_the_options_is_the_answer_by_its_letter():
    (predicted,) = elicit("constrained-texts", Weighing({"?": {"up": 0.5}}), CHOICE)
    assert (predicted.text, predicted.raw_text, predicted.ranking, predicted.logprobs) == (
        "C",
        "up",
        (),
        (),
    )


def test_what_is_none_of_the_options_is_an_error_and_no_answer():
    class Chatting(Weighing):
        def _text(self, request: Request) -> str:
            return "I think A."

    for how in ("likelihood", "constrained"):
        (predicted,) = elicit(how, Chatting(), CHOICE)
        assert predicted.error.startswith("not one of the options: ")
        assert not predicted.text


def test_an_error_of_the_prior_is_one_of_the_answer():
    class Failing(Weighing):
        def response(self, requests: Sequence[Request]) -> list[Response]:
            failed = Response(error="busy")
            empty = Prompt.of("")
            predicted = super().response(requests)
            return [
                failed if one.prompt == empty else given
                for one, given in zip(requests, predicted, strict=True)
            ]

    (predicted,) = elicit("likelihood-unconditional", Failing(), CHOICE)
    assert predicted.error == "busy"


def test_scores_have_the_confidence_of_the_answer():
    predictions = elicit("likelihood", Weighing({"?": {"A": 0.25, "B": 0.5}}), CHOICE)
    (score,) = pipeline.score(TASK, [CHOICE], predictions, [])
    assert (score.points, score.no_answer) == (1.0, False)
    assert score.confidence == pytest.approx(4 / 7, abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"kind": "text"}, "text"),
        ({"kind": "choices", "options": ("a", "b")}, "choices"),
        ({"kind": "blanks"}, "blanks"),
        ({"kind": "choice"}, "choice"),
        ({"kind": "choice", "options": ("only",)}, "choice"),
    ],
    ids=["texts", "several right ones", "blanks", "no options", "one option"],
)
def test_a_task_whose_questions_have_not_one_right_option_says_so_in_a_sentence(fields, kind):
    model = Weighing()
    other = question(question_id="q/2", task="q", **fields)
    with pytest.raises(SettingsError) as refused:
        elicit("likelihood", model, CHOICE, other)
    assert str(refused.value) == (
        "q: likelihood cannot be elicited: 1 of 2 questions do not have options of which exactly"
        f" one is right (such as q/2, kind {kind}); use --elicit generate"
    )
    assert model.requests == []


def test_several_draws_of_likelihoods_are_refused_and_those_of_options_are_not():
    task = Task(
        name="q",
        title="q",
        version=1,
        conditions={"main": Condition(prompt=lambda q: Prompt.of(q.text), about="", samples=2)},
        scorers=TASK.scorers,
        measures={"accuracy": lambda scored: mean(ScoredPoint(s.points) for _, s in scored)},
    )
    with pytest.raises(SettingsError, match="several responses are drawn"):
        elicit("likelihood", Weighing(), CHOICE, task=task)
    assert len(elicit("constrained", Weighing(), CHOICE, task=task)) == 2


def test_a_model_that_only_talks_is_refused():
    with pytest.raises(ModelError, match=r"^m: does not support likelihood \(expected"):
        ElicitedModel(ScriptedModel("m", lambda _: "A"), "m+likelihood", Elicitation("likelihood"))


def test_it_neither_judges_nor_writes():
    model = ElicitedModel(Weighing(), "m+likelihood", Elicitation("likelihood"))
    with pytest.raises(SettingsError, match="only questions with options"):
        model.response([Request(prompt=Prompt.of("Is it right?"))])


SHARES = {"A": 0.5, "B": 0.25, "C": 0.125}  # of the first token, whatever is asked
OPTIONS = ("B", "A", "C")


def completion(text: str, **fields: Any) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    choice |= {"finish_reason": "length"} | fields.pop("choice", {})
    whole = {"object": "chat.completion", "choices": [choice], "usage": {}} | fields
    return Answer(raw=json.dumps(whole).encode())


def ignores_all(body: dict[str, Any]) -> str:
    """Talk, with a 200, as servers do that do not know a field."""
    return "yes"


def vllm(body: dict[str, Any]) -> str | Answer:
    """vLLM's fields, as its documentation has them."""
    if "prompt_logprobs" in body:
        assert body["continue_final_message"] is True
        assert body["add_generation_prompt"] is False
        option = body["messages"][-1]
        assert option["role"] == "assistant"
        letters = [{"decoded_token": c, "logprob": log(SHARES[c])} for c in option["content"]]
        prompt = [None, *({"7": {"decoded_token": "x", "logprob": -9.0}} for _ in range(3))]
        return completion("!", prompt_logprobs=[*prompt, *({"1": letter} for letter in letters)])
    if choice := body.get("structured_outputs", {}).get("choice"):
        return str(choice[-1])
    return "yes"


def older_vllm(body: dict[str, Any]) -> str | Answer:
    return str(body["guided_choice"][-1]) if "guided_choice" in body else "yes"


def openai(body: dict[str, Any]) -> str | int | Answer:
    """OpenAI's fields; others are refused with 400."""
    if set(body) & {"structured_outputs", "guided_choice", "grammar", "prompt_logprobs"}:
        return 400
    if body.get("logprobs"):
        assert body["max_tokens"] == 1
        listed = [{"token": f" {c}", "logprob": log(p)} for c, p in SHARES.items()]
        top = {"token": "A", "logprob": log(0.5), "top_logprobs": listed}
        return completion("A", choice={"logprobs": {"content": [top]}})
    if "response_format" in body:
        schema = body["response_format"]["json_schema"]["schema"]
        return json.dumps({"answer": schema["properties"]["answer"]["enum"][-1]})
    return "yes"


def hosted_openai(body: dict[str, Any]) -> str | int | Answer:
    """OpenAI's fields; another is refused by its name, in OpenAI's words."""
    known = {"model", "messages", "temperature", "max_tokens", "response_format"}
    if unknown := sorted(set(body) - known - {"seed", "logprobs", "top_logprobs", "top_p"}):
        return Answer(status=400, text=f"Unrecognized request argument supplied: {unknown[0]}")
    return openai(body)


def llama(body: dict[str, Any]) -> str | int | Answer:
    """llama.cpp: grammars act; vLLM's fields are ignored, and a schema may be a 500."""
    if "response_format" in body:
        return 500
    if "grammar" in body:
        return str(json.loads(body["grammar"].rsplit("| ", 1)[-1]))
    return (
        openai({name: body[name] for name in body if "prompt_l" not in name})
        if body.get("logprobs")
        else "yes"
    )


def ask(answer: Callable[[dict[str, Any]], Any], method: Any, **spec: Any) -> tuple[Any, list[Any]]:
    """The response to one request, and the bodies that the server got."""
    request = Request(prompt=Prompt.of("Which?"), elicit=method, options=OPTIONS)
    with ChatServer(answer) as server:
        ((_, response),) = engine(server.base_url, **spec).stream([request])
        return response, list(server.bodies)


@pytest.mark.parametrize(
    ("server", "way", "n_probes"),  # what is ignored or fails is tried twice
    [
        (vllm, "structured_outputs", 1),
        (older_vllm, "guided_choice", 3),
        (openai, "response_format", 5),
        (hosted_openai, "response_format", 3),
        (llama, "grammar", 7),
    ],
    ids=["vLLM", "an older vLLM", "OpenAI", "OpenAI in its words", "llama.cpp"],
)
def test_one_of_the_options_is_requested_in_the_way_that_acts(server, way, n_probes):
    response, bodies = ask(server, "constrained")
    assert (response.error, response.text, response.note) == ("", "C", f"options by {way}")
    assert len(bodies) == n_probes + 1
    assert way in bodies[-1]


def test_an_option_after_separate_reasoning_is_read():
    def thinking(body: dict[str, Any]) -> Answer:
        return Answer(text=str(vllm(body)), message={"reasoning_content": "Hm, B? No: C."})

    response, _ = ask(thinking, "constrained")
    assert (response.error, response.text) == ("", "C")
    assert response.note == "options by structured_outputs"


def test_likelihoods_come_of_the_prompt_where_a_server_tells_them():
    response, bodies = ask(vllm, "likelihood")
    likelihoods = OptionLikelihoods.from_json(response.text, 3)
    assert [exp(logprob) for logprob in likelihoods.logprobs] == pytest.approx(
        [0.25, 0.5, 0.125], abs=1e-5
    )
    assert likelihoods.tokens == (1, 1, 1)
    assert response.note == "options by prompt_logprobs"
    assert len(bodies) == 2 + 3  # a probe of two options, then three


def test_likelihoods_come_of_the_first_token_where_a_server_lists_it():
    for server in (openai, hosted_openai, llama):
        response, _ = ask(server, "likelihood")
        likelihoods = OptionLikelihoods.from_json(response.text, 3)
        assert [exp(logprob) for logprob in likelihoods.logprobs] == pytest.approx(
            [0.25, 0.5, 0.125], abs=1e-5
        )
        assert response.note == "options by top_logprobs"


def test_an_option_that_is_not_listed_is_at_most_as_likely_as_the_last_that_is(tmp_path: Path):
    choice = question(question_id="q/1", kind="choice", options=tuple("wxyz"), answer=("A",))
    with ChatServer(openai) as server:
        model = remembering(server.base_url, tmp_path / "r.sqlite")
        likely = ElicitedModel(model, "m", Elicitation("likelihood"))
        (predicted,) = pipeline.predict(TASK, [choice], likely)
        prior = ElicitedModel(model, "m", Elicitation.parse("likelihood-unconditional"))
        (without,) = pipeline.predict(TASK, [choice], prior)
    shares = (log(0.5), log(0.25), log(0.125), log(0.125))
    assert (predicted.text, predicted.logprobs) == ("A", pytest.approx(shares, abs=1e-6))
    assert predicted.note.endswith("; not among the likeliest tokens: D")
    assert without.error.startswith(
        "no unconditional likelihood: not among the likeliest tokens: D"
    )


@pytest.mark.parametrize("method", ["likelihood", "constrained"])
@pytest.mark.parametrize(
    "refuse",
    [
        Answer(status=400, text="The prompt was blocked by our content filter."),
        Answer(text="", finish_reason="content_filter"),
    ],
    ids=["400", "200"],
)
def test_a_refusal_for_good_is_one_by_every_method(tmp_path: Path, method, refuse):
    questions = [
        question(question_id=f"q/{n}", kind="choice", text=f"{n}?", options=("x", "y"))
        for n in range(2)
    ]
    with ChatServer(lambda body: refuse if texts(body)[0] == "1?" else vllm(body)) as server:
        model = remembering(server.base_url, tmp_path / "r.sqlite")
        predictions = pipeline.predict(
            TASK, questions, ElicitedModel(model, "m", Elicitation(method))
        )
    assert [row.refused for row in predictions] == ["", "content filter"]
    assert predictions[1].error
    assert not predictions[1].logprobs


def test_options_of_which_none_is_listed_are_an_error():
    request = Request(prompt=Prompt.of("?"), elicit="likelihood", options=("(A)", "(B)"))
    with ChatServer(openai) as server:
        ((_, response),) = engine(server.base_url).stream([request])
    assert "no option is among the 3 most likely first tokens" in response.error


@pytest.mark.parametrize("method", ["likelihood", "constrained"])
def test_a_server_that_ignores_every_field_is_refused_in_one_sentence(method):
    with pytest.raises(ModelError) as refused:
        ask(ignores_all, method)
    message = str(refused.value)
    assert message.startswith(f"m: the server does not support {method} (")
    assert message.endswith("; use --elicit generate")


@pytest.mark.parametrize("method", ["likelihood", "constrained"])
def test_a_wrong_key_is_not_reported_as_unsupported_options(method):
    with pytest.raises(ModelError, match=r"/v1: HTTP 401: no; set api_key_env to .* this server$"):
        ask(lambda _: Answer(status=401, text="no"), method)


def test_a_model_without_logprobs_is_not_reported_as_a_wrong_key():
    message = "You are not allowed to request logprobs from this model"  # OpenAI of its o series
    with pytest.raises(ModelError, match=rf"does not support likelihood .*{message}.*--elicit"):
        ask(lambda _: Answer(status=403, text=message), "likelihood")


def test_fields_that_answer_with_nonsense_are_not_taken_for_likelihoods():
    def percent(body: dict[str, Any]) -> str | Answer:
        listed = [{"token": c, "logprob": -100 * p} for c, p in SHARES.items()]
        listed += [{"token": str(n), "logprob": -0.1} for n in range(9)]
        top = {"token": "A", "logprob": 0, "top_logprobs": listed}
        return completion("A", choice={"logprobs": {"content": [top]}})

    with pytest.raises(ModelError, match="add up to more than 1"):
        ask(percent, "likelihood")


def test_an_echo_that_is_one_token_off_is_not_taken_for_the_option():
    def shifted(body: dict[str, Any]) -> str | Answer:
        if "prompt_logprobs" not in body:
            return "yes"
        answer = vllm(body)
        assert isinstance(answer, Answer)
        whole = json.loads(answer.raw or b"")
        whole["prompt_logprobs"].append({"9": {"decoded_token": "\n", "logprob": -1.0}})
        whole["prompt_logprobs"].append({"9": {"decoded_token": "#", "logprob": -1.0}})
        return Answer(raw=json.dumps(whole).encode())

    with pytest.raises(ModelError, match="prompt_logprobs end with '#', not 'A'"):
        ask(shifted, "likelihood")


def requests_of(server: ChatServer) -> Counter[str]:
    """Requests by question; a likelihood takes one for each option."""
    counts = Counter(texts(body)[0] for body in server.bodies)
    return Counter({text: n for text, n in counts.items() if text.startswith("Number")})


@pytest.mark.long
def test_what_was_stored_before_a_kill_is_not_requested_again(tmp_path: Path):
    file = tmp_path / "responses.sqlite"
    with ChatServer(vllm, latency=0.05) as server:
        command = [
            sys.executable,
            "-m",
            "tests.resources.models.registry.elicited_run",
            server.base_url,
            str(file),
        ]
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 60
        while server.n_answered < 2 + 10 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.wait()
        begun = requests_of(server)
        stored = len(list(response_file(file).rows()))
        assert 0 < stored < len(TWELVE)
        assert len(begun) < len(TWELVE)
        server.forget()
        predictions = predict(server.base_url, file)
        again = requests_of(server)
    assert not any(prediction.error for prediction in predictions)
    assert len(again) == len(TWELVE) - stored  # also those that were in flight
    assert set(again.values()) == {2}
    assert len(list(response_file(file).rows())) == len(TWELVE)
