"""The options of all commands, and the texts of their help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from .. import __version__
from .._errors import printable, shortened
from .._periods import EMPTY_PERIODS, FREQS
from ..evaluation._evaluation import POLICIES
from ..evaluation._read import FORMATS
from ._shared import LEVEL, WRONG_USE, CommandError, as_option

Options = dict[str, str | dict[str, Any]]


class Command(NamedTuple):
    """A command: its name, its line in the list of commands, its help and options.

    `files` are the help and further arguments of FILE. `options` are the groups of the
    help. A key is an option and its value: a metavar, "--by COL"; choices, "--missing
    {error,drop}", of which the first is the default if the help has "%(default)s"; or
    none, "--json". It has a help, or further arguments of `add_argument`.
    """

    name: str
    summary: str
    description: str
    epilog: str = ""
    files: dict[str, Any] = {}
    options: dict[str, Options] = {}


def names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _gain(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "must be followed by a gain D, such as 0.02, or stand after the files. "
            f"Got {text!r}"
        ) from None


# Metrics of sums, which --metric names.
METRICS = ("f1", "bleu", "chrf", "chrf++", "ter")

# Types of the values by their metavar; others are texts.
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("FILE", "LABELS", "DESIGN", "SAMPLE"), Path),
    **dict.fromkeys(("TABLE", "FIGURE", "PAGE"), Path),
    **dict.fromkeys(("N", "K", "SEED"), int),
    **dict.fromkeys(("LEVEL", "D"), float),
    "A,B,...": names,
}


class _Once(argparse.Action):
    """Store a value, and raise an error if the option is given twice."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        # Kept in the namespace and not in the action, because a parser may parse
        # several times.
        given = namespace.__dict__.setdefault("_given", set())
        if self.dest in given:
            # The first value would be lost without a word.
            parser.error(f"{option_string} is given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser that does not rewrap its texts and whose errors refer to the help."""

    def __init__(self, **kwargs: Any):
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=formatter, **kwargs)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # As for sacrebleu, metrics may follow each other without a comma.
        words: list[str] = []
        # argparse reads sys.argv in the method that is overridden here.
        for word in sys.argv[1:] if args is None else args:
            if word.lower() in METRICS and words[-2:-1] == ["--metric"]:
                words[-1] += f",{word}"
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        problem = shortened(printable(message))
        error = f"{self.prog}: error: {problem}. See '{self.prog} --help'.\n"
        self.exit(WRONG_USE, error)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    whole = _Parser(prog="skcalib", description=_DESCRIPTION, epilog=_EPILOG)
    whole.add_argument("--version", action="version", version=__version__)
    commands = whole.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    for command in (REPORT, COMPARE, SAMPLE, COUNT, DEMO):
        parser = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            epilog=command.epilog,
        )
        if command.files:
            parser.add_argument("file", type=Path, metavar="FILE", **command.files)
        for title, options in command.options.items():
            group = parser.add_argument_group(title) if title else parser
            for key, given in options.items():
                flag, _, value = key.partition(" ")
                settings = {"help": given} if isinstance(given, str) else given
                # Arguments that are given override those that follow from the value.
                kind = _kind_of(value, settings["help"])
                group.add_argument(flag, **kind | settings)
    return whole


def _kind_of(value: str, help_text: str) -> dict[str, Any]:
    """Return the arguments of `add_argument` that follow from an option's value."""
    if not value:
        return {"action": "store_true"}
    if not value.startswith("{"):
        return {"metavar": value, "type": _TYPES.get(value, str), "action": _Once}
    # The braces look as in the usage line of argparse.
    choices = value.strip("{}").split(",")
    # Other options are None if they are not given. A command sees by this whether it
    # has to reject them.
    default = choices[0] if "%(default)s" in help_text else None
    return {"choices": choices, "default": default, "action": _Once}


def reject(
    options: argparse.Namespace, names: Iterable[str], why: str, where: str = ""
) -> None:
    """Raise an error if one of some options is given; `why` ends its sentence."""
    for name in names:
        # Flags that are not given are False, and other options are None.
        if getattr(options, name, None) not in (None, False):
            raise CommandError(f"{where}{as_option(name)} {why}")


def _level(what: str) -> Options:
    """Return the option of the confidence level; `what` says more about it."""
    return {
        "--confidence-level LEVEL": {
            "default": LEVEL,
            "help": f"level of all intervals{what} (default: %(default)s)",
        }
    }


_DESCRIPTION = """\
Are the probabilities of a model calibrated? If the model gives 70% to some
cases, do 70% of them come true?

One command measures the calibration in your own file, one compares systems,
and one shows an example:

  skcalib report answers.csv   the answers of your model: the output of an
                               evaluation harness, or a table with one column
                               for right or wrong and one for probabilities
  skcalib compare old new      is a system better than another on the same
                               questions?
  skcalib demo                 two classifiers side by side, in a few seconds

A sum of probabilities over documents estimates a count, with the errors of the
model. Two commands draw documents to label and correct the count:

  skcalib sample docs.csv --n 100   which documents to label
  skcalib count docs.csv            the corrected count, with an interval
"""

_EPILOG = """\
'skcalib COMMAND --help' explains a command. For classifiers, taggers and
coreference models in Python, import skcalib.
"""


def _one_of(choices: Iterable[str]) -> str:
    return f"{{{','.join(choices)}}}"


# Options that several commands have.

# Each is a dict, so that a command places it among its own options.
_JSON: Options = {"--json": "print JSON instead of text"}
_HTML: Options = {"--html PAGE": "HTML file for the page"}
_MARKDOWN: Options = {
    "--markdown FILE": "Markdown file for verdict and table, such as "
    "$GITHUB_STEP_SUMMARY"
}

_OF_HARNESSES: Options = {
    "--format NAME": {
        "choices": FORMATS,
        "help": "format of the files, if it is not recognised: %(choices)s",
    },
    "--score NAME": "metric, scorer or column of the score, if there are several",
    "--scale LOW": {
        "nargs": 2,
        "type": float,
        "metavar": ("LOW", "HIGH"),
        "help": "lowest and highest grade, such as 1 5, if the scores are grades, in "
        "whose unit means and gains are printed",
    },
    "--filter NAME": "filter of lm-evaluation-harness, or result of Every Eval Ever",
    "--split NAME": "split of HELM",
    "--model NAME": "system, if a file contains several",
    f"--unanswered {_one_of(POLICIES)}": "refused, unparseable and failed samples "
    "count as wrong, are left out, or are left out and reported separately (default: "
    "the rule of the harness)",
}
_PERCENT: Options = {
    "--percent": "probabilities of a table, or of a log of inspect_ai, are "
    "percentages, from 0 to 100",
}
_LABELS_OF_PEOPLE = (
    "table with people's scores of a few answers, in columns question and score; "
    "the scores in the files are then treated as scores of a judge and corrected"
)

_CORPUS = {
    "help": "corpus with one row per document: CSV, TSV, JSON, JSON lines, parquet"
}
_MODEL: Options = {
    "--proba COL": "column of the model's probabilities",
    "--expected COL": "column of the model's expected counts",
}
_DATES: Options = {
    "--date COL": "column of dates, for periods",
    # The default is set by `check_dates`, which rejects --freq without --date.
    f"--freq {_one_of(FREQS)}": "length of a period (default: year)",
    # argparse formats each help with %, so that a percent sign is written twice.
    "--date-format FORMAT": "format of the dates, such as %%d.%%m.%%Y (default: "
    "2024-05-31, 2024-05, 2024Q2 or 2024)",
}

REPORT = Command(
    name="report",
    summary="measure accuracy and calibration of the answers in files",
    description="""\
Measure the accuracy and the calibration of answers: print the numbers and draw
a reliability plot.

A file is the output of an evaluation harness (lm-evaluation-harness,
inspect_ai, HELM, lighteval, HLE, simple-evals, promptfoo, deepeval, OpenAI
evals, Every Eval Ever), the answers of decision models beside gold labels, or
a table with one row per answer. One column says whether the answer was right,
and another contains the probability that it is right:

  question,correct,confidence
  capital of Peru,1,0.98
  boiling point of tin,0,0.75

Columns with usual names are found (correct, y_true, label, ...; confidence,
probability, score, ...); others are named by --y-true and --y-proba.
""",
    epilog="""\
examples:
  skcalib report answers.csv
  skcalib report answers.jsonl --percent --by model
  skcalib report mails.tsv --y-true class --pos-label spam --y-proba p
  skcalib report routes.csv --gold team --prediction choice
  skcalib report samples.csv --confidence agreement --prediction answer
  skcalib report samples_gsm8k_*.jsonl --filter strict-match
  skcalib report logs/*.eval --html report.html
  skcalib report judged.json --labels people.csv
  skcalib report answers.csv --alone 0.95 --fail-if not-alone
  skcalib report answers.csv --max-error 0.05 --markdown summary.md
  skcalib report answers.csv --alone 0.95 --save threshold.json
  skcalib report new.csv --check threshold.json

exit status:
  0  the report was made
  1  the condition of --fail-if or --max-error is met, or --check rejects
  2  invalid arguments, or files that cannot be read

The report contains the fraction of right answers with an interval, and whether
probabilities are too high or too low on average. It contains the calibration
error (root mean square distance between probability and frequency) with its
interval, a test of perfect calibration, the AUROC (whether right answers have
higher probabilities than wrong ones), and the Brier score with its parts. A
table has one row per tenth of the probabilities, or one row per probability if
there are at most twenty different ones. Files of one run, with one task each,
are combined in one report. 'skcalib compare FILE' measures F1 of tags, and
BLEU, chrF or TER of translations.
""",
    files={
        "nargs": "+",
        "help": "output of a harness (a file, a folder with a file per task, or a run "
        "folder of HELM), or a table: CSV, TSV, JSON, JSON lines, parquet",
    },
    options={
        "what to read of a table": {
            "--y-true COL": "column of 0/1, true/false, yes/no or labels",
            "--y-proba COL": "column of probabilities",
            "--gold COL": "column of right answers, instead of --y-true",
            "--prediction COL": "column of the model's answers, with --gold or "
            "--confidence",
            "--confidence {agreement}": "of several samples of a question, report the "
            "most frequent answer; its confidence is the share of the samples that "
            "agree with it (a table needs --prediction)",
            "--pos-label LABEL": "the label whose probability is given, if --y-true "
            "contains labels other than yes and no; or the score of a harness that "
            "counts as right, if scores are other labels",
            **_PERCENT,
            "--skip-missing": "leave out rows with an empty cell, and print their "
            "number; rows without a probability alone count in the accuracy",
        },
        "what to read of a harness": _OF_HARNESSES,
        "how to measure": {
            "--groups COL": "column of the document, user, ... of a row: rows of one "
            "group may depend on each other, and the interval takes this into account",
            "--by COL": "also report each value of this column separately; each value "
            "of a column 'model' or 'system' has a report of its own",
            "--labels LABELS": _LABELS_OF_PEOPLE,
            "--alone D": {
                "default": 0.9,
                "help": "accuracy that answers need to be used without a check: report "
                "the lowest probability from which they have it (default: %(default)s)",
            },
            "--check FILE": "file of --save: do the answers from its threshold on have "
            "its accuracy? Accepted, rejected or too few answers; exit with status 1 "
            "if it is rejected, because the interval shows a lower accuracy",
            **_level(", between 0 and 1"),
        },
        "what to write": {
            **_JSON,
            "--save FILE": "JSON file for the threshold of --alone, which --check "
            "applies to new answers",
            "--output FIGURE": "PNG, SVG or PDF file for the figure (default: the name "
            "of FILE with .reliability.png, in this folder; none with --json)",
            "--no-figure": "draw nothing",
            # The page of `report` has a figure, which the shared option does not
            # mention.
            "--html PAGE": "HTML file for a page with figure, tables and verdict",
            **_MARKDOWN,
            "--fail-if {miscalibrated,not-alone}": "exit with status 1 if perfect "
            "calibration is rejected for a system (miscalibrated), or if no "
            "probability is shown from which its answers, and those of each task or "
            "value of --by, have the accuracy of --alone, nor one up to which labels "
            "are negative (not-alone); with --labels, the answers with a label decide",
            "--max-error D": "exit with status 1 if the lower end of the interval of "
            "the calibration error of a system is above D",
        },
    },
)

COMPARE = Command(
    name="compare",
    summary="compare systems on the same questions",
    description="""\
Compare systems on the same questions. The output contains scores with
intervals, the gain of each later file over each earlier one, an exact test,
and a verdict.

A file is the output of an evaluation harness, a folder of such files (one per
task), or a table. A table may have one column of scores per system:

  question,small,large
  capital of Peru,1,1
  boiling point of tin,0,1

The first system is the baseline. Questions are matched by their names or hashes,
never by their position.
""",
    epilog="""\
examples:
  skcalib compare old.jsonl new.jsonl
  skcalib compare runs/base runs/tuned --groups subject --html compare.html
  skcalib compare scores.csv --by subject
  skcalib compare answers.csv --gold answer --missing drop
  skcalib compare old.eval new.eval --margin 0.02 --fail-if inferior
  skcalib compare old.eval new.eval --pass-at 4 --power 0.03
  skcalib compare old.json new.json --labels people.csv
  skcalib compare a.txt b.txt c.txt --metric bleu --reference ref.txt
  skcalib compare one.txt --metric bleu,chrf++,ter --reference ref.txt
  skcalib compare old.csv new.csv --fail-if worse-calibrated --markdown new.md

exit status:
  0  the comparison was made
  1  the condition of --fail-if is met
  2  invalid arguments, or files that cannot be read or do not match
The status does not depend on whether the reader of a pipe closes it early.
""",
    files={
        "nargs": "+",
        "help": "output of a harness for one system, a folder of such files, or a "
        "table; the first system is the baseline. With --metric, one file gives the "
        "score of one system",
    },
    options={
        "what to read": {
            "--question COL": "column of a table that names the question",
            "--systems A,B,...": "systems to compare, or columns of a table, in this "
            "order",
            "--gold COL": "column of right answers, if the columns of the systems "
            "contain answers",
            "--pos-label LABEL": "label that counts as right, if scores are labels "
            "other than yes and no",
            **_PERCENT,
            **_OF_HARNESSES,
        },
        "how to match questions": {
            "--missing {error,drop}": "treatment of questions that not all systems "
            "have (default: %(default)s)",
            "--duplicates {error,mean,drop}": "treatment of questions with several "
            "rows, if most have one; drop keeps one of equal rows (default: "
            "%(default)s)",
            "--mismatch {error,drop,keep}": "treatment of questions with different "
            "right answers or prompts (default: %(default)s)",
        },
        "how to compare": {
            "--groups COL": "column of the passage, document, ... of a question: "
            "answers of one group may depend on each other, and tests and intervals "
            "take this into account. For --metric: a file with one label per "
            "sentence, or 'document' for documents that begin with -DOCSTART- lines",
            "--metric A,B,...": {
                "type": lambda text: names(text.lower()),
                "help": "f1: entities of files with one token per line and tags in the "
                "last column; one or several of bleu, chrf, chrf++ and ter: plain "
                "lines (default: scores of questions, or f1 if every line ends in a "
                "tag)",
            },
            "--tokenize NAME": "tokeniser of sacrebleu for BLEU: zh for Chinese, "
            "ja-mecab for Japanese, char, flores200, ... (default: 13a, for texts with "
            "spaces between words). With zh and ja-mecab, TER compares characters",
            "--scheme NAME": "tagging scheme for f1: BIO, BILOU, IOBES, IOB1, IOE1 or "
            "IOE2 (default: BIO)",
            "--reference FILE": {
                "action": "append",
                "help": "references, one line per sentence (repeat it for several "
                "references); for f1, a file with the gold tags (default: the last "
                "column but one)",
            },
            "--by COL": "also compare the systems for each value of this column; with "
            "--metric, a file or 'document', as for --groups",
            "--labels LABELS": {
                "action": "append",
                "help": f"{_LABELS_OF_PEOPLE}. The file must have a column system or a "
                "column of scores for each system; or repeat --labels, once per system "
                "in their order. Labels may be of the same questions or of others",
            },
            "--pass-at K": "compare pass@K (any of K is right)",
            "--pass-all K": "compare pass^K (all K are right)",
            "--margin D": "test whether a later system is worse by less than D, and "
            "whether both are equivalent",
            "--power D": {
                "type": _gain,
                # Without D, the value is True, which is not a valid gain.
                "nargs": "?",
                "const": True,
                "help": "print the gain that these questions, or the labels of "
                "--labels, detect with 80%% power, and the number needed to detect a "
                "gain of D, in units of the score (0.5 for half a point of BLEU); "
                "without D, after the files",
            },
            **_level("; tests use 1 - LEVEL"),
        },
        "what to write": {
            **_JSON,
            "--csv": "print one row per pair as CSV",
            **_HTML,
            **_MARKDOWN,
            "--fail-if {worse,not-better,inferior,worse-calibrated}": "exit with "
            "status 1 if any later system is significantly worse than the baseline "
            "(worse), is not significantly better (not-better), is not shown to be "
            "worse by less than the margin (inferior), or has a significantly larger "
            "calibration error (worse-calibrated); with --labels, the interval of the "
            "corrected gain decides",
        },
    },
)

SAMPLE = Command(
    name="sample",
    summary="draw documents to label, for a corrected count",
    description="""\
Draw documents to label at random, with higher probabilities for documents
about which the model is uncertain. Two files are written. The file for
annotators contains the drawn documents with an empty column 'label', without
the numbers of the model. The file for 'skcalib count' contains the inclusion
probability of every document of the corpus.
""",
    epilog="""\
examples:
  skcalib sample docs.csv --n 100 --proba p
  skcalib sample docs.csv --n 100 --proba p --date date --freq quarter
  skcalib sample docs.csv --n 60 --expected victims --strata newspaper
  skcalib sample docs.csv --n 40 --equal --columns id,text

Without --equal, half of the probability is spread evenly, because a
model may be confident and wrong. Equal probabilities are better for fewer than
50 labels and for rare documents.
""",
    files=_CORPUS,
    options={
        "what to read": {
            "--id COL": "column of document ids",
            **_MODEL,
            "--sd COL": "column of standard deviations of the model's counts",
            "--size COL": "draw in proportion to this column of sizes, or of sizes "
            "and --sd in equal parts",
        },
        "how to draw": {
            # A default would decide how much work people have.
            "--n N": {"required": True, "help": "number of documents to label"},
            "--strata COL": "column of strata, within periods if --date is given; "
            "each gets at least 2 draws",
            **_DATES,
            "--equal": "equal probabilities",
            "--random-state SEED": {
                "default": 0,
                "help": "seed of the draw (default: %(default)s)",
            },
        },
        "what to write": {
            "--columns A,B,...": "columns that annotators see (default: all except "
            "columns of the model and of labels)",
            "--output SAMPLE": "CSV or TSV of the drawn documents (default: FILE's "
            "name with .sample.csv, in this folder); the design is written beside it "
            "as .design.csv",
        },
    },
)

COUNT = Command(
    name="count",
    summary="count in a corpus, corrected by labelled documents",
    description="""\
Count documents or events in a corpus, with an interval that is valid even if
the model is wrong.

A model gives each document a probability or an expected count. The sum of
these numbers has the errors of the model. Labels of a random sample of
documents correct the sum:

  id,date,p,label
  d1,2020-01-07,0.93,1
  d2,2020-01-09,0.12,
  d3,2020-02-01,0.40,0

The cell of a document without a label is empty. 'skcalib sample' draws the
documents to label.
""",
    epilog="""\
examples:
  skcalib count docs.csv --labels docs.sample.csv --design docs.design.csv
  skcalib count docs.csv --label event --proba p
  skcalib count docs.csv --label victims --expected n --date date --freq year --trend
  skcalib count docs.csv --labels sample.csv --date date --compare 1989 1990
  skcalib count docs.csv --by newspaper --mean --html count.html

Columns with usual names are found (label, y_true, gold, ...; p, proba,
probability, ...; expected; inclusion_probability; id, doc_id, ...). Labels of
another file are joined by the ids of documents, never by position.
""",
    files=_CORPUS,
    options={
        "what to read": {
            "--label COL": "column of labels: 1/0, yes/no or counts, empty for no "
            "label",
            "--labels LABELS": "file of labels, with the ids of documents and a "
            "column of labels",
            "--pos-label LABEL": "label that counts as 1 (others: 0)",
            "--id COL": "column of document ids, in both files",
            **_MODEL,
            "--size COL": "column of sizes (tokens, mentions), if counts and errors "
            "grow with them",
        },
        "how documents were drawn": {
            "--design DESIGN": "file of inclusion probabilities that 'skcalib sample' "
            "wrote",
            "--inclusion COL": "column of inclusion probabilities, for all documents "
            "(default: equal)",
            "--strata COL": "column of the strata of the draw",
            "--groups COL": "column of groups that were drawn as a whole, such as "
            "newspapers",
            "--missing {error,drop}": "treatment of drawn documents without a label "
            "(default: %(default)s)",
        },
        "what to count": {
            **_DATES,
            "--by COL": "also count each value of this column separately",
            "--trend": "change of the count per period",
            "--compare PERIOD": {
                "nargs": 2,
                "metavar": ("FIRST", "SECOND"),
                "help": "difference of two periods, such as 1989 1990, first minus "
                "second, with a p-value; per month if they are not equally long",
            },
            "--lengths A,B,...": "months of all periods, from the first to the last, "
            "such as 12,12,8, for --trend and --compare (default: from the dates)",
            f"--empty-periods {_one_of(EMPTY_PERIODS)}": "periods without documents "
            "in the trend: a count of 0, or left out (default: zero)",
            "--mean": "estimate the share of documents, or the mean per document, not "
            "the total",
            **_level(", between 0 and 1"),
        },
        "what to write": {**_JSON, "--csv TABLE": "CSV to write the table to", **_HTML},
    },
)

DEMO = Command(
    name="demo",
    summary="compare two classifiers on data that come with scikit-learn",
    description="""\
Compare the calibration of naive Bayes and logistic regression, out of fold, on
two data sets that come with scikit-learn. Print a table and what to do now, and
draw a figure into the folder skcalib-demo. This takes a few seconds.
""",
)
