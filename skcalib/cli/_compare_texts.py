"""``skcalib compare`` on tagged sentences and on translations: metrics of sums."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError
from ..datasets import read_conll_columns
from ..metrics import span_statistics
from ..significance import (
    SystemComparison,
    bleu,
    bleu_statistics,
    chrf,
    chrf_statistics,
    compare_systems,
    ter,
    ter_statistics,
)
from ..significance._translation import signature
from . import _blocks as out
from ._compare_numbers import Compared, compare_all, numbers_of
from ._options import METRICS, reject
from ._shared import CommandError, as_option, command_error, command_errors, in_options

# Largest number of pairs that a page shows; beyond it, it shows the pairs with the
# baseline only.
MOST_ON_PAGE = 120

# Value of --groups and --by that means the document of each sentence.
DOCUMENT = "document"


class _Metric(NamedTuple):
    """A metric of sums: its name, the counts of a sentence, and the largest value.

    `statistic` computes the metric from the sums, and `name` is its name in sacrebleu.
    """

    title: str
    statistics: Callable[..., np.ndarray]
    statistic: Any
    largest: float = 100.0
    name: str = ""
    is_lower_better: bool = False
    # Whether words between spaces are compared.
    has_words: bool = True


_METRICS = {
    "f1": _Metric("F1", span_statistics, "f1", largest=1.0),
    "bleu": _Metric("BLEU", bleu_statistics, bleu, name="BLEU"),
    "chrf": _Metric("chrF2", chrf_statistics, chrf, name="CHRF", has_words=False),
    "chrf++": _Metric("chrF2++", chrf_statistics, chrf, name="CHRF"),
    "ter": _Metric("TER", ter_statistics, ter, name="TER", is_lower_better=True),
}

# Tokenisers of sacrebleu that split a text without spaces, and those after which TER
# compares characters of Chinese and Japanese.
_SPLITTING = ("zh", "char", "ja-mecab", "spm", "flores101", "flores200", "spBLEU-1K")
_ASIAN = ("zh", "ja-mecab")

# Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)

# Such a text has more of these letters between two spaces, and a larger share of them.
_MOST_IN_A_WORD, _LEAST_SHARE = 5, 0.1

_TAG = re.compile(r"O|[BIESLU]-\S+")

# Hardly any translation has a BLEU below this.
_LOW_BLEU = 2

# Names by which metrics of coreference are asked for.
_COREF = ["coref", "conll", "muc", "b3", "ceafe", "ceafm", "blanc", "lea", "pairwise"]

# Number of lines used to decide whether a file has tags in its last column.
_N_LOOKED_AT = 200


def metrics_of(options: Namespace) -> list[str]:
    """Return the requested metrics of sums, or none for scores of questions."""
    if options.metric is None:
        # Files of answers hardly ever look like this.
        return ["f1"] if all(map(_has_tags, options.file)) else []
    known, given = ", ".join(METRICS), list(dict.fromkeys(options.metric))
    for name in given:
        if name.lower() in _COREF:
            raise CommandError(
                "--metric is for tags and translations. For coreference, call in "
                "Python skcalib.significance.compare_systems with statistic=coref_f1 "
                "and the skcalib.coref.coref_statistics of each system; "
                f"Document.clusters() has the clusters of a file. Got {name!r}."
            )
        if name not in METRICS:
            raise CommandError(f"--metric must be one of {known}. Got {name!r}.")
    # F1 reads other files than the metrics of translation.
    if len(given) > 1:
        if "f1" in given:
            raise CommandError("--metric f1 excludes other metrics.")
        names = ("margin", "power", "fail_if")
        reject(options, names, "needs a single --metric, on whose scale it acts.")
    return given


def _has_tags(path: Path) -> bool:
    """Return whether every line of a text ends in a tag, with blank lines between."""
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8-sig") as file:
            # A large file of another kind is not read whole.
            lines = [line.rstrip("\n") for line in islice(file, _N_LOOKED_AT)]
    except (UnicodeDecodeError, OSError):
        return False
    cells = [line.split() for line in lines if line.strip()]
    return (
        bool(cells)
        # Sentences end with blank lines; a table of two columns has none.
        and len(cells) < len(lines)
        and all(len(each) > 1 and _TAG.fullmatch(each[-1]) for each in cells)
    )


def measure_texts(metric: str, options: Namespace) -> Compared:
    """Return all numbers of a comparison by a metric of sums."""
    _check_options(metric, options)
    known = _METRICS[metric]
    largest = known.largest
    names = _names(options.file)
    notes: list[str] = []
    signed = None
    warnings: list[str] = []
    if len(names) == 1:
        # The score of one system has an interval, but there is no gain to decide about.
        reject(options, _OF_PAIRS, "needs a second file to compare with.")
    if metric == "f1":
        systems = _span_counts(names, options, notes)
    else:
        settings = _settings_of(metric, options)
        systems = _translations(metric, settings, names, options, notes, warnings)
        # Scores of BLEU are comparable only if their signatures are equal (Post, 2018).
        signed = signature(known.name, len(options.reference), **settings)
    n = len(systems[names[0]])
    groups = _labels_of(options.groups, "--groups", n, metric, options)
    by = _labels_of(options.by, "--by", n, metric, options)

    def compare(
        inside: np.ndarray, inner: np.ndarray | None, adjust: str | None
    ) -> SystemComparison:
        return compare_systems(
            {name: counts[inside] for name, counts in systems.items()},
            statistic=known.statistic,
            groups=inner,
            adjust=adjust,
            confidence_level=options.confidence_level,
            largest=largest,
            random_state=0,
        )

    result = compare_all(compare, n, groups)
    files = {name: [str(path)] for name, path in zip(names, options.file, strict=True)}
    return numbers_of(
        result,
        compare,
        (options.by, by, groups),
        options,
        files=files,
        metric=known.title,
        unit="sentences",
        is_percent=largest == 100,
        lower_is_better=known.is_lower_better,
        only_in=dict.fromkeys(result.names, 0),
        # A score of 100 is a copy of the reference more often than a perfect
        # translation.
        notes=[*notes, *_notes_of(metric, result, largest)],
        reference=", ".join(map(str, options.reference or ())) or None,
        signature=signed,
        warnings=warnings or None,
    )


def _settings_of(metric: str, options: Namespace) -> dict[str, Any]:
    """Return the settings of a metric of sacrebleu."""
    tokenize = options.tokenize or "13a"
    if metric == "bleu":
        return {"tokenize": tokenize}
    if metric == "ter":
        # Otherwise, a sentence without spaces is one word, and TER is 0 or 100.
        is_asian = tokenize in _ASIAN
        return {"asian_support": is_asian, "normalized": is_asian}
    return {"word_order": 2 if metric == "chrf++" else 0}


def _without_spaces(
    metric: str, settings: dict[str, Any], path: Path, lines: list[str]
) -> list[str]:
    """Return a warning if a metric of words cannot see the words of a text."""
    # Such tokenisers find words or characters without the help of spaces.
    splits = settings.get("tokenize") in _SPLITTING or settings.get("asian_support")
    if splits or not _METRICS[metric].has_words:
        return []
    # Without spaces, a long text would be a few words, on which BLEU is near 0.
    words = " ".join(lines).split()
    found = [len(_WITHOUT_SPACES.findall(word)) for word in words]
    n, n_words = sum(found), sum(map(bool, found))
    if n <= max(_MOST_IN_A_WORD * n_words, _LEAST_SHARE * sum(map(len, words))):
        return []
    remedy = "use chrf, which compares characters."
    if metric != "chrf++":
        remedy = "pass --tokenize zh for Chinese or ja-mecab for Japanese"
        remedy += ", or char or flores200." if metric == "bleu" else ", or use chrf."
    return [
        f"Do not trust this score: it compares words between spaces, and {path} has "
        f"hardly any spaces between words. Instead, {remedy}"
    ]


# Options of compare that act on scores of questions only.
_OF_QUESTIONS = (
    *("question", "systems", "gold", "pass_at", "pass_all"),
    *("format", "score", "filter", "split", "model", "unanswered", "labels"),
    *("pos_label", "percent", "scale"),
)


# Options of compare that act on pairs of systems.
_OF_PAIRS = ("by", "csv", "fail_if", "margin", "power")


def _check_options(metric: str, options: Namespace) -> None:
    """Raise an error if an option has no meaning for a metric of sums."""
    why = f"does not apply to --metric {metric}."
    reject(options, _OF_QUESTIONS, why)
    reject(options, ["tokenize"] if metric == "f1" else ["scheme"], why)
    if options.tokenize is not None and not {"bleu", "ter"} & set(options.metric):
        raise CommandError("--tokenize acts on --metric bleu and ter.")
    references = options.reference or ()
    if metric == "f1" and len(references) > 1:
        raise CommandError("--reference must be one file with the gold tags.")
    # A link to the reference is the reference.
    systems = set(map(os.path.realpath, options.file))
    for path in references:
        if os.path.realpath(path) in systems:
            raise CommandError(f"{path} is both a reference and a system.")
    for name in ("missing", "duplicates"):
        if getattr(options, name) != "error":
            raise CommandError(f"{as_option(name)} {why}")
    # The sentences of files with tags are compared word by word.
    if options.mismatch not in ("error", "keep" if metric == "f1" else "error"):
        raise CommandError(f"--mismatch {options.mismatch} {why}")


def _notes_of(metric: str, result: SystemComparison, largest: float) -> list[str]:
    """Return which systems score so high or low that another file was meant."""
    score = dict(zip(result.names, result.score.tolist(), strict=True))
    best = 0.0 if metric == "ter" else largest
    why = "the best possible score. Is it a copy of the reference?"
    notes = [f"{name} has {why}" for name, v in score.items() if v == best]
    if metric == "f1":
        none = (name for name, value in score.items() if value == 0)
        notes += [f"{name} has no right entity." for name in none]
    if metric == "bleu":
        why = "Are its lines in the order of the reference?"
        low = [(name, value) for name, value in score.items() if value < _LOW_BLEU]
        notes += [f"{name} has a BLEU of {value:.2f}. {why}" for name, value in low]
    return notes


def _labels_of(
    given: str | None, option: str, n: int, metric: str, options: Namespace
) -> np.ndarray | None:
    """Return the label of each sentence: its document, or its line of a file."""
    if given is None:
        return None
    if metric == "f1" and given == DOCUMENT:
        origin = (options.reference or options.file)[0]
        # The documents of the reference, which the sentences of all systems follow.
        *_, documents = read_conll_columns(
            origin, label=-1, delimiter=None, return_documents=True
        )
        if len(set(documents)) < 2:
            raise CommandError(
                f"{option} {DOCUMENT} needs at least two documents, each of which "
                f"begins with a line -DOCSTART-. Got one in {origin}."
            )
        return np.array([str(document) for document in documents])
    path = Path(given)
    if not path.is_file():
        document = f", or {DOCUMENT!r}" if metric == "f1" else ""
        raise CommandError(
            f"{option} must be a file with a label for each sentence{document}, if "
            f"the metric is {metric}. Got {given!r}."
        )
    labels = _lines(path)
    if len(labels) != n or "" in labels:
        raise CommandError(
            f"{option} must have a line with a label for each of the {n} sentences. "
            f"{path} has {len(labels)} lines, {labels.count('')} of them empty."
        )
    return np.array(labels)


def _names(paths: list[Path]) -> list[str]:
    stems = [path.stem for path in paths]
    # Names of files are short; paths are needed only if files of folders have one name.
    if len(set(stems)) == len(stems):
        return stems
    return [str(path) for path in paths]


def _translations(
    metric: str,
    settings: dict[str, Any],
    names: list[str],
    options: Namespace,
    notes: list[str],
    warnings: list[str],
) -> dict[str, np.ndarray]:
    """Return the statistics of plain lines compared with the references.

    What is odd about the texts is added to `notes` and `warnings`.
    """
    if options.reference is None:
        raise CommandError(
            f"--metric {metric} needs --reference FILE, with one line per sentence."
        )
    first = options.reference[0]
    references = [_lines(path) for path in options.reference]
    systems = {}
    for path, reference in zip(options.reference, references, strict=True):
        notes += _checked(path, str(path), reference, references[0], first)
    warnings += _without_spaces(metric, settings, first, references[0])
    # `normalized` is in the signature of sacrebleu and follows from `asian_support`
    # here.
    given = {k: v for k, v in settings.items() if k != "normalized"}
    for name, path in zip(names, options.file, strict=True):
        lines = _lines(path)
        notes += _checked(path, name, lines, references[0], first)
        with command_errors():  # such as an ImportError: sacrebleu is optional
            systems[name] = _METRICS[metric].statistics(lines, references, **given)
    return systems


def _checked(
    path: Path, name: str, lines: list[str], reference: list[str], origin: Path
) -> Iterator[str]:
    """Check the number of lines, and yield how many are empty.

    Such a line may be a translation that failed.
    """
    if len(lines) != len(reference):
        # The usual reason for a line too many.
        last = "" if lines[-1].strip() else ", of which the last is empty"
        raise CommandError(
            f"{path} must have a line for each of the {len(reference)} lines of "
            f"{origin}. Got {len(lines)}{last}."
        )
    n = sum(not line.strip() for line in lines)
    if n:
        yield f"{name} has {n:,} empty line{'s' * (n > 1)} of {len(lines):,}."


def _lines(path: Path) -> list[str]:
    """Return the lines of a text, which end at line feeds only."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CommandError(f"{path} must be a text in UTF-8.") from None
    if not text:
        raise CommandError(f"{path} must have at least one line. It is empty.")
    # `splitlines` would also split at other characters, such as U+2028 inside a
    # sentence.
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _span_counts(
    names: list[str], options: Namespace, notes: list[str]
) -> dict[str, np.ndarray]:
    """Return the entity counts of each sentence; all files need the same sentences.

    Differences of a file from the right tags that are no errors are added to `notes`.
    """
    has_reference = options.reference is not None
    origin = (options.reference or options.file)[0]
    read = [_columns(path, -1) for path in options.file]
    tokens, gold = _columns(origin, -1 if has_reference else -2)
    systems = {}
    for name, path, (words, predicted) in zip(names, options.file, read, strict=True):
        if not has_reference:
            # Each file has its own copy of the right tags, which must be the same.
            _, own = _columns(path, -2)
            _check_same(path, own, origin, gold, "tags in the last column but one")
        _check_lengths(path, words, origin, gold)
        if options.mismatch != "keep":
            _check_same(path, words, origin, tokens, "tokens")
        elif words != tokens:
            n = sum(a != b for a, b in zip(words, tokens, strict=True))
            notes.append(
                f"{path}: {n} of {len(tokens)} sentences have other tokens than "
                f"{origin}: compared nevertheless."
            )
        # PER and PERSON never match, which looks like a low F1.
        unknown = sorted(_types(predicted) - _types(gold))
        if unknown:
            notes.append(
                f"{name} has entities of types that the right tags do not have: "
                f"{', '.join(unknown)}."
            )
        try:
            scheme = options.scheme or "BIO"
            systems[name] = span_statistics(gold, predicted, scheme=scheme)
        except ParameterError as error:
            if error.name == "scheme":
                raise command_error(error) from None
            message = in_options(error.problem)
            message = message.replace("must contain tags", "needs tags")
            if not has_reference:
                message += (
                    " The right tags are read from the last column but one; "
                    "--reference names a file with the right tags."
                )
            raise CommandError(f"{path} {message}") from None
    return systems


def _types(sentences: list[list[str]]) -> set[str]:
    """Return the types of the entities of tags such as B-PER."""
    tags = set().union(*sentences)
    return {tag.partition("-")[2] for tag in tags} - {""}


def _columns(path: Path, label: int) -> tuple[list[list[str]], list[list[str]]]:
    try:
        # Tags are counted from the right, since files differ in the columns before.
        words, tags = read_conll_columns(path, label=label, delimiter=None)
    except ValueError as error:
        # A file without a second column of tags is a file of predictions alone.
        if label == -2:
            raise CommandError(
                f"{path} must have the right tags in its last column but one. Give a "
                "file with the right tags by --reference."
            ) from None
        raise CommandError(str(getattr(error, "problem", error))) from None
    return words, tags


def _check_lengths(path: Path, words: Any, origin: Path, gold: Any) -> None:
    if list(map(len, words)) == list(map(len, gold)):
        return
    if len(words) != len(gold):
        raise CommandError(
            f"{path} must have the {len(gold)} sentences of {origin}. Got {len(words)}."
        )
    k = next(k for k in range(len(gold)) if len(words[k]) != len(gold[k]))
    raise CommandError(
        f"{path} must have the sentences of {origin}. Got {len(words[k])} tokens for "
        f"{len(gold[k])} in sentence {k + 1}."
    )


def _check_same(path: Path, found: Any, origin: Path, expected: Any, what: str) -> None:
    if found == expected:
        return
    _check_lengths(path, found, origin, expected)
    different = [k for k in range(len(found)) if found[k] != expected[k]]
    k = different[0]
    # The first difference shows best whether files have another order or another text.
    i = next(i for i in range(len(found[k])) if found[k][i] != expected[k][i])
    remedy = " --mismatch keep ignores it." if what == "tokens" else ""
    raise CommandError(
        f"{path} and {origin} must have the same {what}. {len(different)} of "
        f"{len(found)} sentences differ, first sentence {k + 1}: {found[k][i]!r} and "
        f"{expected[k][i]!r}.{remedy}"
    )


class Metrics:
    """Comparisons of the same systems by several metrics, in one table.

    each : list of Comparison, one per metric
    """

    # The class of a comparison is in a module that imports this one.
    def __init__(self, each: list[Any]):
        self.each, self.first, self.found = each, each[0], each[0].found
        self.title = self.first.title
        notes = [note for one in each for note in one.found.notes]
        self.notes = list(dict.fromkeys(notes))

    def headline(self) -> str:
        """Return what was compared."""
        *first, last = (one.found.metric for one in self.each)
        names = f"{', '.join(first)} and {last}"
        return self.first.headline().replace(self.found.metric, names, 1)

    def beginning(self) -> Iterator[out.Block]:
        """Yield what was compared, and the verdict by each metric."""
        yield out.Paragraph(self.headline(), "soft")
        if not self.found.pairs:
            return
        for one in self.each:
            text = f"{one.found.metric}: {one.verdict_of_all()}"
            yield out.Paragraph(text, "verdict")
        decided = zip(*(one.decided for one in self.each), strict=True)
        # A pair without a significant difference does not contradict the others.
        split = [p[0] for p in decided if len({one.better for one in p} - {None}) > 1]
        if split:
            names = "; ".join(f"{pair.b} and {pair.a}" for pair in split)
            text = f"The metrics do not agree which system is better: {names}."
            yield out.Paragraph(text, "verdict")

    def printed(self) -> Iterator[out.Block]:
        """Yield the comparison for the terminal."""
        first, *others = self.beginning()
        yield from (first, out.Line(), *others, *[out.Line()] * bool(others))
        yield from self.numbers()
        for note in self.notes:
            yield from (out.Line(), out.Paragraph(note, "soft", mark="note  "))

    def brief(self) -> Iterator[out.Block]:
        """Yield the verdicts and the table."""
        yield from self.beginning()
        yield from self.numbers()
        yield from (out.Paragraph(f"Note: {note}") for note in self.notes)

    def page(self, settings: list[list[str]]) -> Iterator[out.Block]:
        """Yield the page: verdicts, the table, and the pairs by each metric."""
        yield from self.brief()
        for one in self.each:
            yield out.Heading(one.found.metric, is_name=True)
            yield from one.figure_of_gains()
            yield from one.of_pairs(MOST_ON_PAGE)
        yield out.Folded([self.first.files(settings)], "how this was made")

    def numbers(self) -> Iterator[out.Block]:
        """Yield the table, what its p-values mean, warnings and signatures."""
        yield self.table()
        if self.found.pairs:
            yield from (out.Line(), out.Paragraph(self.about_p(), "soft"))
        for one in self.each:
            for sentence in one.warnings():
                text = f"{one.found.metric}: {sentence}"
                yield from (out.Line(), out.Paragraph(text))
        yield from signatures([one.found for one in self.each])
        for one in self.each:
            if one.found.by is not None:
                heading, *others = one.by(one.found.by)
                yield out.Heading(f"{one.found.metric} by {one.found.by.column}")
                yield from others

    def table(self) -> out.Table:
        """Return the scores and the differences from the baseline by each metric."""
        interval = f"  {self.first.level} interval"
        labels = [interval, "  difference", interval, "  p", "  p, adjusted"]
        rows: list[list[str]] = []
        for system in self.found.systems:
            name, columns = system.name, [one.column(system.name) for one in self.each]
            is_baseline = bool(self.found.pairs) and name == self.found.baseline
            cells = zip(*columns, strict=True)
            name += " (baseline)" * is_baseline
            pairs = zip([name, *labels], cells, strict=False)
            rows += [[label, *row] for label, row in pairs]
        return out.Table(["system", *(one.found.metric for one in self.each)], rows)

    def about_p(self) -> str:
        """Return from what the differences are, and how p is corrected."""
        n, of_pairs = len(self.found.pairs), ""
        # Each method is named once, in the order of the metrics.
        tests = dict.fromkeys(p.method for one in self.each for p in one.found.pairs)
        if n > 1:
            of_pairs = f"The adjusted p has Holm's correction for {n} pairs. "
        return (
            f"Test: {'; '.join(tests)}. Differences are from {self.found.baseline}"
            + "; lower is better for TER" * any(o.is_lower_better for o in self.each)
            + f". {of_pairs}No p is corrected for the {len(self.each)} metrics: choose "
            "the metric that decides before you see the numbers, or multiply p by "
            f"{len(self.each)}."
        )


def signatures(several: list[Compared]) -> list[out.Block]:
    """Return the signatures of sacreBLEU, which say how its scores are computed."""
    known = [found.signature for found in several if found.signature is not None]
    if not known:
        return []
    texts = "sacreBLEU signature:", *known
    return [out.Line(), *(out.Paragraph(text, "soft") for text in texts)]
