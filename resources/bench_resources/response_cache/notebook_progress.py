"""Progress bar of a notebook: one output that changes in place, without widgets."""

import time
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.progress import TaskID

_REFRESH = 0.2  # s between two drawings


@dataclass
class _Line:
    title: str
    total: float | None
    details: str
    done: float = 0


class NotebookProgress:
    """Bars with the methods of ``rich.progress.Progress`` that we use."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._shown: Any = None  # IPython's handle of the output
        self._drawn_at = 0.0

    def start(self) -> None:
        """Show the bars."""
        from IPython.display import HTML, display

        self._shown = display(HTML(self._html()), display_id=True)

    def stop(self) -> None:
        """Stop updating; the bars stay visible."""
        self._draw(last=True)

    def __enter__(self) -> "NotebookProgress":
        """Show the bars."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop updating; see ``stop``."""
        self.stop()

    def add_task(self, description: str, total: float | None = None, details: str = "") -> "TaskID":
        """Add a bar; returns its number."""
        self._lines.append(_Line(description, total, details))
        self._draw()
        return cast("TaskID", len(self._lines) - 1)

    def advance(self, line: "TaskID", advance: float = 1) -> None:
        """Move a bar on."""
        self._lines[line].done += advance
        self._draw()

    def update(
        self, line: "TaskID", *, completed: float, total: float | None, details: str
    ) -> None:
        """Set the progress of a bar, and the text beside it."""
        bar = self._lines[line]
        bar.done, bar.total, bar.details = completed, total, details
        self._draw()

    def remove_task(self, line: "TaskID") -> None:
        """Remove a bar; the numbers of earlier ones stay."""
        del self._lines[line]

    def _draw(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self._shown and (last or now - self._drawn_at > _REFRESH):
            from IPython.display import HTML

            self._drawn_at = now
            self._shown.update(HTML(self._html()))

    def _html(self) -> str:
        return "".join(map(_bar, self._lines)) or "<div></div>"


def _bar(line: _Line) -> str:
    """Draw a bar.

    >>> _bar(_Line("codis", 4, "2/s", 1))
    '<div>codis <progress value="1" max="4"></progress> 1/4, 2/s</div>'
    >>> _bar(_Line("codis", None, ""))
    '<div>codis <progress></progress></div>'
    """
    known = line.total is not None
    attributes = f' value="{line.done:g}" max="{line.total or 1:g}"' if known else ""
    details = [f"{line.done:g}/{line.total:g}"] if known else []
    details += [escape(line.details)] if line.details else []
    text = f" {', '.join(details)}" if details else ""
    return f"<div>{escape(line.title)} <progress{attributes}></progress>{text}</div>"
