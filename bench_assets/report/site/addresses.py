"""URLs of the report's pages, relative to the address where a home's report is served.

Browsers do not follow links from the UI to files, so ``bench ui`` and ``bench report --serve``
serve the report. They reuse the last port of the home, so that earlier links stay valid.
"""

from pathlib import Path
from urllib.parse import quote, urlencode

from bench_assets.report.site.folder import slug
from bench_resources.storage.atomic_write import open_atomic

PORT = 8765  # default port of the report
_PORT_FILE = ".port"


def served_port(home: Path) -> int:
    """Port at which the home's report is or was last served; ``PORT`` if never."""
    try:
        return int((home / "report" / _PORT_FILE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return PORT


def remember_port(home: Path, port: int) -> None:
    """Store the port for links to the report.

    Raises:
        HomeError: If it cannot be written.
    """
    with open_atomic(home / "report" / _PORT_FILE, sync=False) as file:
        file.write(str(port).encode())


def served_address(home: Path) -> str:
    """URL at which the home's report is or was last served."""
    return f"http://127.0.0.1:{served_port(home)}"


def task_page(task: str) -> str:
    """Page of a task.

    >>> task_page("journeybench/mcot")
    '/#/task/journeybench%2Fmcot'
    """
    return _page(["task", task], query={})


def audit_page(task: str) -> str:
    """Page of a task's audit."""
    return _page(["audit", task], query={})


def number_page(task: str, model: str, condition: str) -> str:
    """Page of a number's provenance, with its checks."""
    return _page(
        ["number", f"{slug(task)}-{slug(model)}"], {"condition": _condition_value(condition)}
    )


def sample_page(task: str, question: str, model: str = "", condition: str = "main") -> str:
    """Page of one question with its images and a model's response.

    >>> sample_page("codis", "codis/7/1", "m")
    '/#/samples/codis?model=m&sample=codis%2F7%2F1'
    """
    query = {"condition": _condition_value(condition), "model": model, "sample": question}
    return _page(["samples", task], query)


def _condition_value(condition: str) -> str:
    """Value of a condition in a URL; "" for the main condition, the default."""
    return "" if condition == "main" else condition


def _page(segments: list[str], query: dict[str, str]) -> str:
    encoded = urlencode({name: value for name, value in query.items() if value})
    path = "/".join(quote(segment, safe="", errors="replace") for segment in segments)
    return f"/#/{path}?{encoded}" if encoded else f"/#/{path}"
