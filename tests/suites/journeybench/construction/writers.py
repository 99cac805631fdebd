from bench_assets.suites.journeybench.construction.distractors import Statement
from bench_assets.suites.journeybench.text_generation import GeneratedText


def response(request_id, text, error=""):
    return GeneratedText(
        request_id=request_id, prompt="?", text=text, error=error, writer="w", prompt_sha256="sha"
    )


def statement(text, number=1, image="a.png"):
    return Statement(
        statement_id=f"{image}/model/{number}",
        image=image,
        text=text,
        way="model",
        request_id=f"{image}/statements",
        writer="w",
        prompt_sha256="sha",
    )
