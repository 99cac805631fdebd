"""Pages as HTML: templates that escape all that is put into them.

What a page says instead of what was asked for.
"""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.escaping import one_line, printable

FOLDER = Path(__file__).parent


def page(name: str, status: int = 200, **told: object) -> Response:
    """Make a page.

    Args:
        name: Of its template.
        status: Of the response.
        told: What the template is told.
    """
    text = _templates().get_template(name).render(**told)
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"printable": printable, "one_line": one_line}
    return made


class RefusedError(BenchError):
    """A request that is not answered as it was meant; its text is what the page says."""

    def __init__(self, status: int, sentence: str, *, after: float = 0.0) -> None:
        super().__init__(sentence)
        self.status = status
        self.after = after  # s, until it may be tried again; 0: it says nothing of that
