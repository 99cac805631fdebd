"""Pages as HTML: templates that escape all that is put into them."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from bench_assets.core.printable import one_line, printable

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
