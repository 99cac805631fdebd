"""Recorded responses of writer models."""

from bench_assets.suites.journeybench.text_generation import GeneratedText


def response(request_id, text, error=""):
    return GeneratedText(
        request_id=request_id, prompt="?", text=text, error=error, writer="w", prompt_sha256="sha"
    )
