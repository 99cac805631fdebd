"""Stand-ins for the servers that others run; see ``tests.resources.models.api.stand_ins``."""

from tests.resources.models.api.stand_ins import (
    CONTEXT,
    LOCAL,
    THOUGHT,
    USUAL,
    StandIn,
    completion,
    error,
    flat,
    openai_error,
)

NO_KEY = openai_error(401, "Incorrect API key provided: sk-2.", code="invalid_api_key")

HOSTED = (
    StandIn(
        name="openai",
        takes=USUAL - {"max_tokens"},
        response=completion(content="B", refusal=None, annotations=[]),
        too_long=openai_error(400, CONTEXT, code="context_length_exceeded", param="messages"),
        no_model=openai_error(404, "The model `n` does not exist", code="model_not_found"),
        bad_key=NO_KEY,
    ),
    StandIn(
        name="azure",
        takes=USUAL - {"max_tokens"},
        key=("api-key", "sk-1"),
        response=completion(content="B", refusal=None),
        too_long=openai_error(400, CONTEXT, code="context_length_exceeded"),
        no_model=error(
            404,
            {"error": {"code": "DeploymentNotFound", "message": "The deployment does not exist."}},
        ),
        bad_key=error(401, {"statusCode": 401, "message": "Access denied: invalid key."}),
    ),
    StandIn(
        name="openrouter",
        takes=USUAL,
        response=completion(content="B", reasoning="A? B.", reasoning_details=[]),
        text=THOUGHT,
        too_long=error(
            400,
            {
                "error": {
                    "code": 400,
                    "message": "Provider returned error",
                    "metadata": {"raw": CONTEXT, "provider_name": "P"},
                }
            },
        ),
        no_model=openai_error(400, "n is not a valid model ID", code=400),
        bad_key=openai_error(401, "No auth credentials found", code=401),
    ),
    StandIn(
        name="gemini",
        takes=USUAL,
        formats=frozenset({"jpeg", "png", "webp", "heic", "heif"}),
        too_long=error(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": "The input token count (5000) exceeds the maximum number of"
                        " tokens allowed (4096).",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
        no_model=error(
            404, [{"error": {"code": 404, "message": "models/n is not found", "status": "X"}}]
        ),
        bad_key=error(400, [{"error": {"code": 400, "message": "API key not valid."}}]),
    ),
    StandIn(
        name="anthropic",
        takes=USUAL,
        too_long=openai_error(400, "prompt is too long: 5000 tokens > 4096 maximum"),
        no_model=openai_error(404, "model: n", type="not_found_error"),
        bad_key=openai_error(401, "invalid x-api-key", type="authentication_error"),
    ),
    StandIn(
        name="mistral",
        takes=USUAL - {"seed", "max_completion_tokens"} | {"random_seed"},
        response=completion(
            content=[
                {"type": "thinking", "thinking": [{"type": "text", "text": "A? B."}]},
                {"type": "text", "text": "B"},
            ]
        ),
        text=THOUGHT,
        too_long=flat(
            400,
            "Prompt contains 5000 tokens, too large for model with 4096 maximum context length",
            "invalid_request_prompt",
        ),
        no_model=flat(400, "Invalid model: n", "invalid_model"),
        bad_key=error(401, {"detail": "Unauthorized"}),
    ),
    StandIn(
        name="deepseek",
        takes=USUAL - {"max_completion_tokens"},
        response=completion(content="B", reasoning_content="A? B."),
        text=THOUGHT,
        too_long=openai_error(400, CONTEXT, type="invalid_request_error"),
        no_model=openai_error(400, "Model Not Exist", type="invalid_request_error"),
        bad_key=openai_error(401, "Authentication Fails", type="authentication_error"),
    ),
    StandIn(
        name="xai",
        takes=USUAL,
        formats=frozenset({"jpeg", "jpg", "png"}),
        response=completion(content="B", reasoning_content="A? B.", refusal=None),
        text=THOUGHT,
        too_long=error(
            400,
            {
                "code": "Client specified an invalid argument",
                "error": "This model's maximum prompt length is 4096 but the request contains 5000"
                " tokens.",
            },
        ),
        no_model=error(404, {"code": "Not found", "error": "The model n does not exist"}),
        bad_key=error(400, {"code": "Bad argument", "error": "Incorrect API key provided: sk***2"}),
    ),
    StandIn(
        name="dashscope",
        takes=USUAL,
        response=completion(content="B", reasoning_content="A? B."),
        text=THOUGHT,
        too_long=openai_error(
            400, "Range of input length should be [1, 4096]", code="invalid_parameter"
        ),
        no_model=openai_error(404, "The model `n` does not exist.", code="model_not_found"),
        bad_key=NO_KEY,
    ),
)

STAND_INS = (*LOCAL, *HOSTED)
