"""Coverage of true event counts by the intervals of EventCounts.

    python benchmarks/event_coverage.py [--corpora 1000] [--jobs 2]

Corpora of 80 or 320 documents are generated, whose entities are one draw from the model
of antecedents that scores them. Each country's number of documents with an attack by it
is compared with the intervals under that model; and, on the first eighth of the
corpora, with those under the model at other temperatures. Of all models the same counts
are looked at, by the posterior standard deviation under the true one: 2 or more, and 4
or more.
"""

import _study
import matplotlib.pyplot as plt
import numpy as np
from _common import print_table, versions, write_csv
from joblib import Parallel, delayed

from skcalib.datasets import make_event_documents
from skcalib.events import EventCounter, EventRule
from skcalib.metrics._frequency_intervals import frequency_interval
from skcalib.posteriors import AntecedentPosterior

SIZES = (80, 80, 80, 320)
TEMPERATURES = (0.25, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0)
N_SAMPLES = 100
METHODS = ("normal", "quantile")


def corpus(number, temperatures):
    """Return a row of each count: temperature, true sd, z, covered by each method."""
    rng = np.random.default_rng([2015, number])
    documents, events, scores = make_event_documents(
        SIZES[number % len(SIZES)],
        mean_mentions=14,
        return_scores=True,
        random_state=rng,
    )
    counter = EventCounter(
        EventRule(),
        n_samples=N_SAMPLES,
        freq=None,
        method="sample",
        random_state=int(rng.integers(2**31)),
    )
    posterior = AntecedentPosterior(scores)
    found = {t: counter.count(documents, posterior.tempered(t)) for t in temperatures}
    sd = found[1.0].sd
    rows = []
    for t, counts in found.items():
        true = np.array([sum(c in each for each in events) for c in counts.countries])
        z = (true - counts.mean) / counts.sd
        ends = [counts.interval(method=method) for method in METHODS]
        covered = [(low <= true) & (true <= high) for low, high in ends]
        width = [high - low for low, high in ends]
        rows.append(np.column_stack([np.full(sd.size, t), sd, z, *covered, *width]))
    return np.concatenate(rows)


def table(rows):
    """Return a row for each temperature and class of standard deviation."""
    found = []
    for t in TEMPERATURES:
        for least in (2, 4):
            own = rows[(rows[:, 0] == t) & (rows[:, 1] >= least)]
            if len(own) == 0:
                continue
            share, width = 100 * own[:, 3:5].mean(axis=0), own[:, 5:7].mean(axis=0)
            found.append(
                {
                    "temperature": t,
                    "sd_at_least": least,
                    "counts": len(own),
                    "standard_error": f"{100 * np.sqrt(0.0475 / len(own)):.2f}",
                    "normal": f"{share[0]:.2f}",
                    "quantile": f"{share[1]:.2f}",
                    "normal_width": f"{width[0]:.2f}",
                    "quantile_width": f"{width[1]:.2f}",
                    "mean_z": f"{own[:, 2].mean():.3f}",
                    "sd_z": f"{own[:, 2].std():.3f}",
                }
            )
    return found


def run(n_corpora, n_jobs):
    few = max(1, n_corpora // 8)
    tasks = (
        delayed(corpus)(k, TEMPERATURES if k < few else (1.0,))
        for k in range(n_corpora)
    )
    return table(np.concatenate(Parallel(n_jobs)(tasks)))


def draw(rows):
    """Draw coverage against the temperature."""
    rows = [row for row in rows if row["sd_at_least"] == 2]
    t = [float(row["temperature"]) for row in rows]
    n = np.array([int(row["counts"]) for row in rows])
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for k, method in enumerate(METHODS):
        y = np.array([float(row[method]) for row in rows])
        low, high = frequency_interval(y / 100, n, 0.95, "wilson")
        ends = [y - 100 * low, 100 * high - y]
        style = {"marker": "os"[k], "markersize": 5, "capsize": 2, "label": method}
        ax.errorbar(t, y, yerr=ends, **style)
    ax.axhline(95, color="0.5", linestyle="--", linewidth=1)
    ax.axvline(1, color="0.8", linewidth=1, zorder=0)
    ax.set_xscale("log")
    ax.set_xticks(t, [f"{x:g}" for x in t])
    ax.minorticks_off()
    ax.set_xlabel("Temperature of the model of antecedents (1: the true one)")
    ax.set_ylabel("Coverage of the true count, %")
    ax.legend(title="95% interval")
    _study.save(figure, "event_coverage.png", 110)


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--corpora", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = run(options.corpora, options.jobs)
    print_table(rows)
    note = (
        f"{options.corpora} corpora at temperature 1, an eighth of them at others; "
        f"{N_SAMPLES} samples; coverage in %; " + versions("numpy", "scipy")
    )
    write_csv("event_coverage.csv", rows, note)
    draw(rows)


if __name__ == "__main__":
    main()
