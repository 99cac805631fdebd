"""Replies of models that write, as rows."""

from bench_assets.suites.journeybench.writing import Written


def reply(request_id, text, error=""):
    return Written(
        request_id=request_id,
        prompt="?",
        text=text,
        error=error,
        writer="w",
        prompt_sha256="sha",
    )
