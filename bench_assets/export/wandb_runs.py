"""Curves as runs of Weights & Biases; without a network, unless that is asked for."""

import hashlib
from pathlib import Path

from bench_assets.core.errors import SettingsError
from bench_assets.export.curves import Curve, curves
from bench_assets.export.gathering import Gathered

MODES = ("offline", "online")

_PROJECT = "bench-assets"


def write_wandb(gathered: Gathered, out: Path, mode: str) -> list[Path]:
    """Write all curves: into a folder from where ``wandb sync`` takes them, or to the server.

    Raises:
        SettingsError: If Weights & Biases is not installed, or does not take it; says why.
    """
    try:
        import wandb
    except ImportError as why:
        wanted = "pip install 'bench-assets[wandb]'"
        raise SettingsError(f"Weights & Biases is not installed: {wanted}") from why
    if mode not in MODES:
        raise SettingsError(f"--to {mode}: expected {' or '.join(MODES)}")
    out.mkdir(parents=True, exist_ok=True)
    try:
        return [_write(curve, out, mode) for curve in curves(gathered.evaluations())]
    except wandb.Error as why:
        raise SettingsError(f"Weights & Biases does not take it: {why}") from why


def _write(curve: Curve, out: Path, mode: str) -> Path:
    """Write one run, whose id is the same at each export; give its folder."""
    import wandb

    run = wandb.init(
        project=_PROJECT,
        id=hashlib.sha256(f"{curve.experiment}\n{curve.run}".encode()).hexdigest()[:16],
        name=curve.run,
        group=curve.experiment,
        config=dict(curve.tags),
        dir=out,
        mode="online" if mode == "online" else "offline",
        resume="allow" if mode == "online" else None,
        settings=wandb.Settings(
            console="off", silent=True, disable_git=True, disable_code=True, x_disable_stats=True
        ),
    )
    for point in curve.points:
        run.log(dict(point.values), step=point.step)
        run.summary[f"signature.{point.step}"] = point.signature
    folder = Path(run.dir).parent
    run.finish()
    return folder
