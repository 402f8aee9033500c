"""What a figure shows: the names of curves, and where they are written."""

import numpy as np


def names_of(ax):
    """Return the names at the curves and in the legend, each on one line."""
    at_curves = [text.get_text().replace("\n", ": ") for text in ax.texts]
    legend = ax.get_legend()
    return at_curves + [
        text.get_text() for text in (legend.get_texts() if legend else [])
    ]


def check_names(display):
    """Check that all names are inside the figure and hide no point of a curve."""
    display.figure_.canvas.draw()
    ax, legend = display.ax_, display.ax_.get_legend()
    boxes = [text.get_window_extent() for text in ax.texts]
    boxes += [legend.get_window_extent()] if legend else []
    assert boxes
    points = [
        line.get_transform().transform(line.get_xydata())
        for line in ax.lines
        if line.get_gid() == "curve"
    ]
    for box in boxes:
        assert display.figure_.bbox.x0 <= box.x0 < box.x1 <= display.figure_.bbox.x1
        assert display.figure_.bbox.y0 <= box.y0 < box.y1 <= display.figure_.bbox.y1
        x, y = np.concatenate(points).T
        assert not ((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).any()
