"""Addresses of the report's pages, as they stand where it is served on this machine.

A browser follows no link from the UI to a file: ``bench ui`` and ``bench report --serve`` show the
report at one address, so that what a check noted yesterday leads somewhere today.
"""

from urllib.parse import quote, urlencode

from bench_assets.report.site.scripts import slug

PORT = 8765
SERVED = f"http://127.0.0.1:{PORT}"


def task_page(task: str) -> str:
    """The page of a task.

    >>> task_page("journeybench/mcot")
    'http://127.0.0.1:8765/#/task/journeybench%2Fmcot'
    """
    return _page(["task", task], {})


def audit_page(task: str) -> str:
    """The page of the doubts about a task."""
    return _page(["audit", task], {})


def expectations_page(table: str) -> str:
    """Page of expectations, opened at a table.

    >>> expectations_page("codis/questions")
    'http://127.0.0.1:8765/#/expectations?table=codis%2Fquestions'
    """
    return _page(["expectations"], {"table": table})


def number_page(task: str, model: str, condition: str) -> str:
    """Page of a number's provenance, with its checks."""
    return _page(["number", f"{slug(task)}-{slug(model)}"], {"condition": _named(condition)})


def sample_page(task: str, question: str, model: str = "", condition: str = "main") -> str:
    """Page of one question with its images and a model's response.

    >>> sample_page("codis", "codis/7/1", "m")
    'http://127.0.0.1:8765/#/samples/codis?model=m&sample=codis%2F7%2F1'
    """
    query = {"condition": _named(condition), "model": model, "sample": question}
    return _page(["samples", task], query)


def _named(condition: str) -> str:
    """Pages show the paper's own condition where none is named."""
    return "" if condition == "main" else condition


def _page(parts: list[str], query: dict[str, str]) -> str:
    given = urlencode({name: value for name, value in query.items() if value})
    path = "/".join(quote(part, safe="", errors="replace") for part in parts)
    return f"{SERVED}/#/{path}{'?' if given else ''}{given}"
