"""Whether a model's place hangs on the order in which the options stand."""

from collections.abc import Iterable, Iterator
from math import isnan

from bench_assets.core.signature import short
from bench_assets.core.tables import digest
from bench_assets.soundness.chance import DOUBT, LARGE
from bench_assets.soundness.evidence import Evidence
from bench_assets.soundness.examined import Finding, Suspect
from bench_assets.soundness.order_figures import (
    ALL_ORDERS,
    CIRCULAR,
    CONSISTENT,
    LETTER,
    PUBLISHED_ORDER,
    OrderFigure,
)

_LEAST = 20  # questions in several orders that it takes


def orders_finding(evidence: Evidence) -> Finding:
    """Find models that choose by place, or do better in the order that the benchmark has.

    By place: a letter is chosen more or less often than the same choices would be found there.
    """
    measured = _latest(evidence)
    if not measured:
        return Finding.not_looked_at("no model was asked in several orders (bench orders)")
    enough = {model: rows for model, rows in measured.items() if _n(rows) >= _LEAST}
    if not enough:
        n = max(map(_n, measured.values()))
        return Finding.not_looked_at(f"{n} questions in several orders; it takes {_LEAST}")
    tried = [one for rows in enough.values() for one in rows.values() if not isnan(one.p)]
    suspects = [
        Suspect(model, _told(one, rows), abs(one.value - one.expected))
        for model, rows in enough.items()
        for one in _hanging(rows.values(), len(tried))
    ]
    said = "; ".join(f"{model}: {_figures(rows)}" for model, rows in enough.items())
    return Finding(not suspects, f"{said}.", sum(map(_n, enough.values())), suspects)


def _latest(evidence: Evidence) -> dict[str, dict[str, OrderFigure]]:
    """Model -> figures by name, of the present questions, each as it was measured last."""
    if not evidence.order_figures:
        return {}
    data = short(digest(evidence.questions))
    found: dict[str, dict[str, OrderFigure]] = {}
    for one in evidence.order_figures:
        rows = found.setdefault(one.model, {}) if one.data == data else {}
        if any(row.at != one.at for row in rows.values()):
            rows.clear()
        rows[one.figure] = one
    return found


def _n(rows: dict[str, OrderFigure]) -> int:
    return max((one.n for one in rows.values() if not isnan(one.p)), default=0)


def _hanging(rows: Iterable[OrderFigure], tries: int) -> Iterator[OrderFigure]:
    for one in rows:
        if isnan(one.p) or one.n < _LEAST:
            continue
        if one.p * tries < DOUBT and abs(one.value - one.expected) >= LARGE:
            yield one


def _told(one: OrderFigure, rows: dict[str, OrderFigure]) -> str:
    if one.figure == PUBLISHED_ORDER:
        why = (
            f"the benchmark's own order gains {one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f},"
            f" n = {one.n}) over the others"
        )
    else:
        why = (
            f"says {one.figure.removeprefix(LETTER)} {one.value:.0%} of the time ({one.low:.0%} to"
            f" {one.high:.0%}, n = {one.n}); the same choices stand there {one.expected:.0%}"
        ).replace("%", " %")
    return f"{why}; {_figures(rows)}"


def _figures(rows: dict[str, OrderFigure]) -> str:
    words = {
        "order_1": "{} in the benchmark's order",
        ALL_ORDERS: "{} over all",
        CIRCULAR: "{} right in all",
        CONSISTENT: "{} chosen alike in all",
    }
    return ", ".join(
        said.format(f"{rows[name].value:.1%}".replace("%", " %"))
        for name, said in words.items()
        if name in rows
    )
