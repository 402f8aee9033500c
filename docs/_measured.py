"""The version of skcalib with which a table or a figure was measured.

The role names the CSV files in benchmarks/results that the numbers come from, and shows
the version of their headers: :measured:`tagging.csv` or :measured:`a.csv, b.csv`. Date
and command are shown when the pointer is on it.
"""

import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst.directives.tables import CSVTable

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

from _common import RESULTS, RUN, header_of


class MeasuredTable(CSVTable):
    """A CSV of benchmarks/results as a table, without the header above the names."""

    def get_csv_data(self):
        lines, source = super().get_csv_data()
        return lines[1:], source


def measured(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Return the sentence of the role, with the commands as its explanation."""
    paths = [RESULTS / each for each in text.split(", ")]
    try:
        headers = [header_of(path) for path in paths]
    except (OSError, ValueError) as error:
        message = inliner.reporter.error(str(error), line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    for path in paths:
        inliner.document.settings.env.note_dependency(str(path))
    versions = dict.fromkeys(header["version"] for header in headers)
    commands = dict.fromkeys(f"{h['date']}: {RUN} {h['command']}" for h in headers)
    sentence = f"Measured with skcalib {' and '.join(versions)}."
    return [nodes.abbreviation(rawtext, sentence, explanation="; ".join(commands))], []


def setup(app):
    app.add_role("measured", measured)
    app.add_directive("measured-table", MeasuredTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
