"""``skcalib demo --data ...`` on tagged sentences: HMM against CRF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline

from ._demo import print_table
from .datasets import fetch_ark_twitter_pos, make_tagged_sentences
from .metrics import calibration_error, calibration_error_interval
from .plot import ReliabilityDisplay
from .plot._figures import blank_axes
from .queries import TagQuery
from .scorers import log_likelihood_scorer
from .sequence import CRFTagger, HMMTagger, TokenFeatures

__all__ = ["run_tagging_demo"]

# Bins of the single query "is it V?", the one of the thesis' Twitter experiment.
BIN_SIZE = 500
PENALTIES = [3.0, 1.0, 0.3, 0.1, 0.03, 0.01]
PSEUDOCOUNTS = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003]


@dataclass(frozen=True)
class Corpus:
    """Tagged sentences in three parts, and the tag of the single query."""

    title: str
    train: tuple[list, list]
    dev: tuple[list, list]
    test: tuple[list, list]
    tag: str


def ark_twitter_pos() -> Corpus:
    """Return the tweets of Gimpel et al. (2011) in the thesis' split."""
    train, dev, test = (
        fetch_ark_twitter_pos(subset=subset, return_X_y=True)
        for subset in ("train", "dev", "test")
    )
    return Corpus("tweets (Gimpel et al. 2011)", train, dev, test, tag="V")


def tagged() -> Corpus:
    """Return generated sentences, for a machine without a network."""
    X, y = make_tagged_sentences(1800, random_state=0)
    train, dev, test = (
        (X[cut], y[cut])
        for cut in (slice(0, 1000), slice(1000, 1300), slice(1300, 1800))
    )
    return Corpus("generated sentences", train, dev, test, tag="NN")


CORPORA = {"ark_twitter_pos": ark_twitter_pos, "tagged": tagged}


def models() -> dict[str, tuple[Any, dict[str, list[float]]]]:
    """Return estimators and the settings to choose from."""
    return {
        "HMM, pseudocount 1": (HMMTagger(), {}),
        "HMM, tuned": (
            HMMTagger(),
            {"pseudocount": PSEUDOCOUNTS, "emission_pseudocount": PSEUDOCOUNTS},
        ),
        "CRF, basic": (
            make_pipeline(TokenFeatures("basic"), CRFTagger()),
            {"crftagger__c2": PENALTIES},
        ),
        "CRF, advanced": (
            make_pipeline(TokenFeatures("advanced"), CRFTagger()),
            {"crftagger__c2": PENALTIES},
        ),
    }


def choose(model: Any, grid: dict[str, list[float]], corpus: Corpus) -> dict[str, Any]:
    """Return the settings with the highest likelihood of the development part."""
    if not grid:
        return {}
    X = [*corpus.train[0], *corpus.dev[0]]
    y = [*corpus.train[1], *corpus.dev[1]]
    fold = np.repeat([-1, 0], [len(corpus.train[0]), len(corpus.dev[0])])
    search = GridSearchCV(
        model,
        grid,
        scoring=log_likelihood_scorer,
        cv=PredefinedSplit(fold),
        refit=False,
        n_jobs=-1,
    )
    return search.fit(X, y).best_params_


def tag_probabilities(
    corpus: Corpus, verbose: bool = True
) -> dict[str, tuple[Any, dict[str, Any], np.ndarray]]:
    """Return each model fitted, its settings and its probabilities of the test part."""
    found = {}
    for name, (model, grid) in models().items():
        if verbose:
            print(f"  {name} ...", flush=True)
        settings = choose(model, grid, corpus)
        fitted = clone(model).set_params(**settings).fit(*corpus.train)
        found[name] = (fitted, settings, fitted.predict_proba(corpus.test[0]))
    return found


HEADER = (
    "model",
    "settings",
    "accuracy",
    "confidence",
    "error over all tags",
    "squared error",
)


def table_row(
    name: str, model: Any, settings: dict[str, Any], proba: Any, corpus: Corpus
) -> tuple[str, ...]:
    """Return the cells of one line of the table."""
    X, y = corpus.test
    tokens = TagQuery("top").from_proba(y, proba, model.classes_)
    pairs = TagQuery().from_proba(y, proba, model.classes_)
    one = TagQuery(corpus.tag).from_proba(y, proba, model.classes_)
    error = calibration_error_interval(pairs.y_true, pairs.y_proba, groups=pairs.groups)
    square = calibration_error(one.y_true, one.y_proba, bin_size=BIN_SIZE, squared=True)
    shown = [f"{key.split('__')[-1]}={value:g}" for key, value in settings.items()]
    return (
        name,
        ", ".join(shown).replace("emission_pseudocount", "emissions"),
        f"{model.score(X, y):.3f}",
        f"{tokens.y_proba.mean():.3f}",
        f"{error.estimate:.4f} [{error.low:.4f}, {error.high:.4f}]",
        f"{square:.6f}",
    )


def run_tagging_demo(data: str, output: Path) -> None:
    """Print the table and draw the figure into a folder."""
    corpus = CORPORA[data]()
    output.mkdir(parents=True, exist_ok=True)
    n_tokens = sum(map(len, corpus.test[0]))
    print(
        f"Part-of-speech tags of {corpus.title}: {len(corpus.train[0])} sentences to "
        f"learn from,\n{len(corpus.dev[0])} to choose settings by their likelihood, "
        f"{len(corpus.test[0])} ({n_tokens} tokens) to test."
    )
    found = tag_probabilities(corpus)
    rows = [
        table_row(name, model, settings, proba, corpus)
        for name, (model, settings, proba) in found.items()
    ]
    print()
    print_table([HEADER, *rows])
    print(
        "\naccuracy, confidence: of the best tag of a token; a confidence above the "
        "accuracy\n  is overconfidence\n"
        "error over all tags: root mean square, debiased, every tag asked at every "
        "token;\n  95% interval, sentences as groups of dependent pairs\n"
        f"squared error: of the query 'is it {corpus.tag}?', bins of {BIN_SIZE}"
    )
    path = output / f"{data}.png"
    _draw(found, corpus, path)
    print(f"Figure: {path}")


def _draw(found: dict[str, Any], corpus: Corpus, path: Path) -> None:
    panels = blank_axes(2)
    titles = {None: "all tags", corpus.tag: f"is it {corpus.tag}?"}
    for ax, (tag, title) in zip(panels, titles.items(), strict=True):
        for name, (model, _, proba) in found.items():
            answers = TagQuery(tag).from_proba(corpus.test[1], proba, model.classes_)
            ReliabilityDisplay.from_predictions(
                answers.y_true,
                answers.y_proba,
                groups=answers.groups,
                bin_size="auto" if tag is None else BIN_SIZE,
                name=name,
                ax=ax,
            )
        ax.set_title(title)
    panels[0].figure.savefig(path, dpi=120, bbox_inches="tight")
