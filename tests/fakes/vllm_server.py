"""The embedded model behind vLLM's chat completions: ``python -m tests.fakes.vllm_server``.

The name of the model that is asked says which fields the server does not know: "m" has all of them,
"m-prompt_logprobs" talks on where others read ``prompt_logprobs``, with the same status 200.
"""

import base64
import io
import json
import sys
from threading import Event
from typing import Any

from PIL import Image as PILImage

from bench_resources.config.sections.models import EMBEDDED_MODELS
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.plain_model import PlainModel

MODEL = "tiny-vlm/step-6840"
Content = list[str | PILImage.Image]


class Vllm:
    """Answers bodies as vLLM does."""

    def __init__(self) -> None:
        self._model = PlainModel(EMBEDDED_MODELS[MODEL].place)

    def __call__(self, body: dict[str, Any]) -> Answer:
        """One choice, with what is asked for beside it."""
        for field in body["model"].split("-")[1:]:
            body.pop(field, None)
        content = _content(body["messages"][0])
        if body.get("prompt_logprobs") is not None:
            assert not body["add_generation_prompt"]
            assert body["continue_final_message"]
            (option,) = _content(body["messages"][1])
            tokens = self._model.tokens(content, str(option))
            return _completion("!", prompt_logprobs=[None, *map(_of_prompt, tokens)])
        if choice := (body.get("structured_outputs") or {}).get("choice"):
            return _completion(max(choice, key=lambda one: self._model.logprob(content, one)))
        top = self._model.likeliest(content, body.get("top_logprobs", 1))
        listed = [{"token": one["text"], "logprob": one["logprob"]} for one in top]
        logprobs = {"content": [listed[0] | {"top_logprobs": listed}]}
        return _completion(top[0]["text"], **({"logprobs": logprobs} if "logprobs" in body else {}))


def _of_prompt(token: dict[str, Any]) -> dict[str, Any]:
    return {str(token["id"]): {"logprob": token["logprob"], "decoded_token": token["text"]}}


def _content(message: dict[str, Any]) -> Content:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [part["text"] if part["type"] == "text" else _image(part) for part in parts]


def _image(part: dict[str, Any]) -> PILImage.Image:
    data = part["image_url"]["url"].partition(",")[2]
    return PILImage.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def _completion(text: str, **fields: Any) -> Answer:
    beside = {name: fields.pop(name) for name in ("prompt_logprobs",) if name in fields}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "length", **fields}
    whole = {"object": "chat.completion", "choices": [choice], "usage": {}, **beside}
    return Answer(raw=json.dumps(whole).encode())


if __name__ == "__main__":
    with ChatServer(Vllm(), keep_bodies=False) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        Event().wait()
