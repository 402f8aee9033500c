"""What scripts share: one thread, no window, options, cells of intervals, figures.

A script imports this module before numpy, which reads the number of threads.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

from _common import RESULTS, low_text


def parser_of(doc):
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def interval_cells(result, prefix=""):
    """Return the estimate of an error and the ends of its interval."""
    return {
        f"{prefix}error": f"{result.estimate:.4f}",
        f"{prefix}low": low_text(result.low),
        f"{prefix}high": f"{result.high:.4f}",
    }


def save(figure, name, dpi=80):
    """Write a figure to the folder of the results."""
    import matplotlib.pyplot as plt

    figure.savefig(RESULTS / name, dpi=dpi)
    plt.close(figure)
    print(f"written: {name}")


def draw_pairs(ax, comparison, kind, metric, title, most=None, scale=1, **borders):
    """Draw gain against confidence for the pairs of systems of some kind.

    What is far above every threshold only squeezes the curve, so that gains above
    `most` times the largest gain with p > .05 are not shown.
    """
    from skcalib.plot import SignificanceDisplay

    gain, pvalue = scale * comparison.gain, comparison.pvalue
    if kind is not None:
        shown = [k for k in range(len(kind)) if kind[k] is not None]
        gain, pvalue, kind = gain[shown], pvalue[shown], [kind[k] for k in shown]
    borders |= {"kind": kind, "ax": ax, "metric_name": metric}
    SignificanceDisplay.from_pvalues(gain, pvalue, **borders)
    ax.set_title(title)
    if most is not None:
        open_gain = abs(scale * comparison.gain[comparison.pvalue > 0.05]).max(
            initial=0
        )
        ax.set_xlim(right=min(ax.get_xlim()[1], most * open_gain))
