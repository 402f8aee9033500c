"""Kernel regression and Gaussian processes in place of bins.

    python benchmarks/smoothed_errors.py [--replicates 300]

Nguyen and O'Connor (2015, section 7) name Gaussian processes and bootstrapped kernel
density estimation as future ways to estimate the label frequency. The calibration error
of distributions with a known error is estimated in four ways: in bins, as in Algorithm
1; by `calibration_error_interval`; by kernel regression (Nadaraya-Watson), whose
bandwidth is cross-validated, with the basic bootstrap of the squared error; and by a
Gaussian process of the difference between frequency and probability, whose scale and
variance maximise the likelihood, with an interval from its posterior. The last two get
the means of 100 cells with equally many rows. Takes five minutes.
"""

import time

import _study
import numpy as np
from _common import print_table, versions, write_csv
from _interval_cells import beta, rows, same, temperature, uniform, wave

from skcalib import calibration_error, calibration_error_interval

SHAPES = {"uniform": uniform(0, 1), "skewed": beta(0.1, 0.9)}
FREQUENCIES = {
    "calibrated": same,
    "overconfident": temperature(0.7),
    "wave": wave(0.08, 3),
}
SIZES = [1000, 10_000]
N_CELLS, N_BOOTSTRAP, N_DRAWS = 100, 200, 400
BANDWIDTHS = np.geomspace(0.005, 0.5, 12)
SCALES, DEVIATIONS = np.geomspace(0.02, 1, 6), np.r_[0, np.geomspace(0.005, 0.2, 6)]


def square(p, q, n):
    """Return the weighted mean square of p - q over the cells (last axis)."""
    return (n * (p - q) ** 2).sum(axis=-1) / n.sum(axis=-1)


def rms(values):
    return np.sqrt(np.mean(values**2))


def best_kernel(kernels, n, positive):
    """Return the kernel with the least squared error of rows that are left out."""
    losses = []
    for kernel in kernels:
        # without the row itself, which has weight 1 in its own cell
        others, hits = np.maximum(n @ kernel - 1, 1e-9), positive @ kernel
        missed = positive * (1 - (hits - 1) / others) ** 2
        losses.append((missed + (n - positive) * (hits / others) ** 2).sum())
    return kernels[int(np.argmin(losses))]


def by_kernel(q, n, positive, rng):
    distance = q[:, np.newaxis] - q
    kernels = [np.exp(-0.5 * (distance / h) ** 2) for h in BANDWIDTHS]
    # Of resampled rows, which are repeated, too narrow a kernel would be the best.
    kernel = best_kernel(kernels, n, positive)
    table = np.concatenate([positive, n - positive])
    drawn = rng.multinomial(n.sum(), table / n.sum(), size=N_BOOTSTRAP)
    hits, misses = np.split(np.vstack([table, drawn]), 2, axis=1)
    counts = hits + misses
    squares = square((hits @ kernel) / (counts @ kernel), q, counts)
    low, high = 2 * squares[0] - np.quantile(squares[1:], [0.975, 0.025])
    return np.sqrt(np.maximum([squares[0], low, high], 0))


def by_process(q, n, positive, rng):
    y = positive / n - q
    noise = np.maximum(q * (1 - q), 1e-4) / n
    found = []
    for scale in SCALES:
        shape = np.exp(-0.5 * ((q[:, np.newaxis] - q) / scale) ** 2)
        for deviation in DEVIATIONS:
            root = np.linalg.cholesky(deviation**2 * shape + np.diag(noise))
            z = np.linalg.solve(root, y)
            likely = -0.5 * z @ z - np.log(np.diag(root)).sum()
            found.append((likely, deviation, scale, root))
    _, deviation, scale, root = max(found, key=lambda each: each[0])
    prior = deviation**2 * np.exp(-0.5 * ((q[:, np.newaxis] - q) / scale) ** 2)
    half = np.linalg.solve(root, prior)
    mean = half.T @ np.linalg.solve(root, y)
    spread = np.linalg.cholesky(prior - half.T @ half + 1e-10 * np.eye(q.size))
    drawn = mean + rng.normal(size=(N_DRAWS, q.size)) @ spread.T
    squares = square(drawn, 0, np.broadcast_to(n, drawn.shape))
    low, high = np.quantile(squares, [0.025, 0.975]) if deviation else (0, 0)
    return np.sqrt([square(mean, 0, n), low, high])


def by_bins(y, q):
    result = calibration_error_interval(y, q)
    return result.estimate, result.low * (result.low > 1e-15), result.high


def measured(y, q, rng):
    """Return (estimate, low, high) and seconds of each method."""
    order = np.argsort(q, kind="stable")
    parts = np.array_split(order, N_CELLS)
    cells = [
        np.array([f(part) for part in parts], dtype=float)
        for f in (lambda part: q[part].mean(), len, lambda part: y[part].sum())
    ]
    nan = float("nan")
    methods = {
        "bins, plug-in": lambda: (calibration_error(y, q), nan, nan),
        "calibration_error_interval": lambda: by_bins(y, q),
        "kernel regression": lambda: by_kernel(*cells, rng),
        "Gaussian process": lambda: by_process(*cells, rng),
    }
    found = {}
    for name, method in methods.items():
        start = time.perf_counter()
        found[name] = (*method(), time.perf_counter() - start)
    return found


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--replicates", type=int, default=300)
    options = parser.parse_args()
    lines = []
    for shape, law in SHAPES.items():
        for kind, frequency in FREQUENCIES.items():
            for n in SIZES:
                cell = rows("", law, frequency, n)
                rng = np.random.default_rng(n)
                found = []
                for _ in range(options.replicates):
                    y, q, _ = cell.draw(rng)
                    found.append(measured(y, q, rng))
                for method in found[0]:
                    values = np.array([each[method] for each in found])
                    estimate, low, high, seconds = values.T
                    covered = (low <= cell.truth) & (cell.truth <= high)
                    has_ends = np.isfinite(low).all()
                    lines.append(
                        {
                            "probabilities": shape,
                            "frequencies": kind,
                            "rows": n,
                            "method": method,
                            "true error": f"{cell.truth:.4f}",
                            "mean estimate": f"{estimate.mean():.4f}",
                            "rms error": f"{rms(estimate - cell.truth):.4f}",
                            "coverage": f"{covered.mean():.3f}" if has_ends else "",
                            "width": f"{(high - low).mean():.4f}" if has_ends else "",
                            "seconds": f"{np.median(seconds):.4f}",
                        }
                    )
                print_table(lines[-4:])
    note = f"{options.replicates} samples, 95% intervals, {N_CELLS} cells; "
    write_csv("smoothed_errors.csv", lines, note + versions("numpy", "scipy"))


if __name__ == "__main__":
    main()
