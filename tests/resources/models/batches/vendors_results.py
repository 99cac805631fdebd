"""What became of the requests of a batch, as OpenAI and Anthropic write it down."""

from typing import Any

import orjson


def openai_files(results: list[dict[str, Any]], end: str) -> tuple[bytes, bytes]:
    """What was answered, and what was not, of a batch that ended so."""
    output, error = b"", b""
    for one in results:
        answer = one.pop("answer")
        if answer is None:
            if end == "expired":
                why = {"code": "batch_expired", "message": "could not be executed in time"}
                error += orjson.dumps(one | {"response": None, "error": why}) + b"\n"
        elif isinstance(answer, int):
            refusal = {"error": {"message": "as asked", "code": answer}}
            response = {"status_code": answer, "request_id": "r", "body": refusal}
            error += orjson.dumps(one | {"response": response, "error": None}) + b"\n"
        else:
            message = {"role": "assistant", "content": answer}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 10, "completion_tokens": 3}
            body = {"object": "chat.completion", "choices": [choice], "usage": usage}
            response = {"status_code": 200, "request_id": "r", "body": body}
            output += orjson.dumps(one | {"response": response, "error": None}) + b"\n"
    return output, error


def anthropic_results(results: list[dict[str, Any]], end: str) -> bytes:
    """A line for each request of a batch that ended so."""
    lines = []
    for one in results:
        answer = one.pop("answer")
        result: dict[str, object]
        if answer is None:
            result = {"type": "expired" if end == "expired" else "canceled"}
        elif isinstance(answer, int):
            error = {"type": "invalid_request_error", "message": "as asked"}
            result = {"type": "errored", "error": {"type": "error", "error": error}}
        else:
            message = {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "text", "text": answer}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 3},
            }
            result = {"type": "succeeded", "message": message}
        lines.append(orjson.dumps({"custom_id": one["custom_id"], "result": result}))
    return b"\n".join(lines)
