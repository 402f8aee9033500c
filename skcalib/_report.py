"""``skcalib report``: the calibration of a file of predictions."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ._predictions_file import Predictions, ReportError, read_predictions
from .metrics import (
    adaptive_reliability_curve,
    calibration_error,
    calibration_error_interval,
    score_decomposition,
)
from .metrics._frequency_interval import frequency_interval
from .plot import ReliabilityDisplay
from .plot._figures import blank_axes

__all__ = ["ReportError", "run_report"]

N_REGIONS = 10
FIGURES = (".png", ".svg", ".pdf")


def _effective_size(residual: np.ndarray, groups: np.ndarray | None) -> float:
    """Return the number of independent rows that tell as much."""
    n = residual.size
    if groups is None:
        return float(n)
    centred = residual - residual.mean()
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], centred)
    spread, own = float(sums @ sums), float(centred @ centred)
    if spread <= 1e-12 * n:  # all alike, or one group: then each group tells once
        return float(sums.size)
    return n * min(1.0, own / spread)


def _region(part: Predictions, low: float, high: float, level: float) -> dict[str, Any]:
    """Return how probabilities and outcomes compare between two probabilities."""
    said, came = float(part.q.mean()), float(part.y.mean())
    size = _effective_size(part.q - part.y, part.groups)
    left, right = frequency_interval(came, size, level)
    verdict = "fits"
    if said > right:
        verdict = "too high"
    elif said < left:
        verdict = "too low"
    return {
        "from": round(low, 10),
        "to": round(high, 10),
        "n": part.y.size,
        "mean_probability": said,
        "frequency": came,
        "frequency_low": float(left),
        "frequency_high": float(right),
        "verdict": verdict,
    }


def _measure(part: Predictions, options: Namespace) -> dict[str, Any]:
    """Return all numbers of the report on some predictions."""
    level = options.confidence_level
    bin_size = "auto" if options.bin_size is None else options.bin_size
    curve = adaptive_reliability_curve(part.y, part.q, bin_size=bin_size)
    interval = calibration_error_interval(
        part.y, part.q, groups=part.groups, confidence_level=level
    )
    edges = np.linspace(0, 1, N_REGIONS + 1)
    region = np.searchsorted(edges[1:-1], part.q, side="left")
    return {
        "n": part.y.size,
        "overall": _region(part, 0.0, 1.0, level),
        "calibration_error": interval.to_dict(),
        "plug_in": {"error": curve.error(), "bin_size": curve.bin_size},
        "ece": calibration_error(
            part.y, part.q, n_bins=N_REGIONS, strategy="uniform", norm="l1"
        ),
        "brier": {
            "adaptive": score_decomposition(
                part.y, part.q, bin_size=bin_size
            ).to_dict(),
            "isotonic": score_decomposition(
                part.y, part.q, method="isotonic"
            ).to_dict(),
        },
        "regions": [
            _region(part[region == k], float(edges[k]), float(edges[k + 1]), level)
            for k in np.unique(region)
        ],
    }


DIRECTION = {
    "too high": "overconfident: probabilities are too high on the whole",
    "too low": "underconfident: probabilities are too low on the whole",
    "fits": "neither too high nor too low on the whole",
}


def _score_lines(brier: dict[str, Any]) -> list[str]:
    """Return what the Brier score is made of, in bins and by isotonic regression."""
    bins, levels = brier["adaptive"], brier["isotonic"]
    sign = "-" if bins["residual"] < 0 else "+"
    return [
        f"Brier score {bins['score']:.4f}",
        f"  = {bins['calibration']:.4f} calibration + {bins['refinement']:.4f} "
        f"refinement {sign} {abs(bins['residual']):.4f} inside bins of "
        f"{bins['bin_size']}",
        f"  = {levels['calibration']:.4f} calibration - "
        f"{levels['discrimination']:.4f} discrimination + "
        f"{levels['uncertainty']:.4f} uncertainty, isotonic",
    ]


def _as_text(found: dict[str, Any], level: float) -> str:
    error, plug_in, overall = (
        found["calibration_error"],
        found["plug_in"],
        found["overall"],
    )
    percent = f"{100 * level:g}%"
    ends = f"[{error['low']:.4f}, {error['high']:.4f}]"
    rejected = "rejected" if error["p_value"] < 1 - level else "not rejected"
    groups = "" if error["n_groups"] is None else f", {error['n_groups']} groups"
    around = f"[{overall['frequency_low']:.4f}, {overall['frequency_high']:.4f}]"
    lines = [
        f"{found['n']} predictions{groups}: mean probability "
        f"{overall['mean_probability']:.4f}, frequency {overall['frequency']:.4f} "
        f"({percent} {around})",
        DIRECTION[overall["verdict"]],
        "",
        "calibration error, root mean square",
        f"  debiased    {error['estimate']:.4f}  {percent} {ends}, bins of "
        f"{error['bin_size']}",
        f"  plug-in     {plug_in['error']:.4f}  bins of {plug_in['bin_size']}, the "
        "curve's; biased upwards",
        f"  mean |.|    {found['ece']:.4f}  {N_REGIONS} equal-width bins, known as ECE",
        f"perfect calibration: p = {error['p_value']:.3g}, {rejected}",
        "",
        *_score_lines(found["brier"]),
        "",
        f"{'probability':<13}{'n':>9}{'mean':>8}{'freq.':>8}  {percent:<18}verdict",
    ]
    for row in found["regions"]:
        ends = f"[{row['frequency_low']:.3f}, {row['frequency_high']:.3f}]"
        lines.append(
            f"{row['from']:.1f} to {row['to']:.1f}{'':<3}{row['n']:>9}"
            f"{row['mean_probability']:>8.3f}{row['frequency']:>8.3f}  {ends:<18}"
            f"{row['verdict']}"
        )
    return "\n".join(lines)


def _draw(parts: dict[str, Predictions], path: Path, options: Namespace) -> None:
    (ax,) = blank_axes()
    for name, part in parts.items():
        ReliabilityDisplay.from_predictions(
            part.y,
            part.q,
            groups=part.groups,
            bin_size="auto" if options.bin_size is None else options.bin_size,
            confidence_level=options.confidence_level,
            name=name,
            ax=ax,
        )
    ax.figure.savefig(path, dpi=150, bbox_inches="tight")


def run_report(options: Namespace) -> None:
    """Print the report on a file of predictions and draw it."""
    _check_options(options)
    read = read_predictions(options)
    for note in read.notes:
        print(f"skcalib report: {note}", file=sys.stderr)
    if read.y.size < 2:
        raise ReportError(f"{options.file} must hold two predictions at least.")
    parts: dict[str, Predictions] = {}
    if read.by is not None:
        parts = {str(v): read[read.by == v] for v in dict.fromkeys(read.by.tolist())}
    whole = _measure_part(read, "", options)
    by = {value: _measure_part(part, value, options) for value, part in parts.items()}
    path = _figure_path(options)
    if path is not None:
        _draw(parts or {options.file.stem: read}, path, options)
    if options.json:
        _print_json(whole, by, read.n_skipped, path, options)
    else:
        _print_text(whole, by, read.n_skipped, path, options)


def _check_options(options: Namespace) -> None:
    level = options.confidence_level
    if not 0 < level < 1:
        raise ReportError(
            f"--confidence-level must be between 0 and 1, as 0.95 is. Got {level:g}."
        )
    if options.bin_size is not None and options.bin_size < 1:
        raise ReportError(f"--bin-size must be at least 1. Got {options.bin_size}.")
    if options.output is not None and options.output.suffix.lower() not in FIGURES:
        raise ReportError(
            f"--output must end in {', '.join(FIGURES)}. Got {str(options.output)!r}."
        )


def _figure_path(options: Namespace) -> Path | None:
    """Return where to draw to, None for nowhere."""
    if options.no_figure:
        return None
    if options.output is None and not options.json:
        return Path(f"{options.file.stem}.reliability.png")
    return options.output


def _print_json(
    whole: dict[str, Any],
    by: dict[str, Any],
    n_skipped: int,
    path: Path | None,
    options: Namespace,
) -> None:
    everything = {"file": str(options.file), "n_skipped": n_skipped, **whole}
    if by:
        everything["by"] = {"column": options.by, "values": by}
    everything["figure"] = None if path is None else str(path)
    print(json.dumps(everything, indent=2))


def _print_text(
    whole: dict[str, Any],
    by: dict[str, Any],
    n_skipped: int,
    path: Path | None,
    options: Namespace,
) -> None:
    if n_skipped:
        print(f"{n_skipped} row{'s' * (n_skipped > 1)} with an empty cell left out")
    print(f"{options.file}: {_as_text(whole, options.confidence_level)}")
    for value, part in by.items():
        print(f"\n{options.by} = {value}: {_as_text(part, options.confidence_level)}")
    if path is not None:
        print(f"\nfigure: {path}")


def _measure_part(part: Predictions, value: str, options: Namespace) -> dict[str, Any]:
    """Measure, and say where the file makes it impossible."""
    if part.y.size < 2:
        raise ReportError(
            f"{options.file}: {value!r} of --by has one row only; two are needed."
        )
    where = f"{options.file}, {options.by} = {value}" if value else options.file
    if part.groups is not None and np.unique(part.groups).size < 2:
        raise ReportError(
            f"{where}: --groups needs rows of two groups or more. Got "
            f"{str(part.groups[0])!r} in every row."
        )
    try:
        return _measure(part, options)
    except ValueError as error:
        raise ReportError(f"{where}: {error}") from None
