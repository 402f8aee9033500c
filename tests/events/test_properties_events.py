"""Laws of event counts: documents have no order, actors no names, sums are sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcalib.events import AffiliationLexicon, EventCounter

SEEDS = st.integers(0, 10_000)
RANDOM = st.randoms(use_true_random=False)
CODES = ("AAA", "BBB", "CCC")

few = settings(max_examples=15)


@pytest.fixture(scope="session")
def draw(make_document, random_proba, as_log):
    """Draw documents of two years, and scores of their antecedents."""

    def draw(seed, n_documents=6):
        rng = np.random.default_rng(seed)
        documents, scores = [], []
        for i in range(n_documents):
            n = int(rng.integers(0, 6))
            code = rng.choice([None, *CODES], size=n)
            date = (1990 + int(rng.integers(2)), 1 + int(rng.integers(12)), 3)
            agent = rng.random(n) < 0.6
            documents.append(make_document(agent, code, date=date, name=f"news-{i}"))
            scores.append(as_log(random_proba(rng, n, 0.1)) if n else np.zeros((0, 0)))
        return documents, scores

    return draw


def counter(rule, unit, **kwargs):
    return EventCounter(
        rule, method="exact", freq="year", unit=unit, countries=CODES, **kwargs
    )


def cells(counts):
    """Return mean and variance of the cells that are not 0."""
    rows = zip(
        counts.period.tolist(),
        counts.country.tolist(),
        counts.mean,
        counts.sd**2,
        strict=True,
    )
    return {(p, c): np.array([m, v]) for p, c, m, v in rows if m > 0}


def same(found, expected):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, atol=1e-12)


units = pytest.mark.parametrize("unit", ["documents", "entities"])


@units
@few
@given(seed=SEEDS, random=RANDOM)
def test_order_of_documents(draw, marked_rule, unit, seed, random):
    documents, scores = draw(seed)
    order = random.sample(range(len(documents)), len(documents))
    count = counter(marked_rule, unit).count
    expected = count(documents, scores)
    found = count([documents[i] for i in order], [scores[i] for i in order])
    same(cells(found), cells(expected))
    assert found.n_documents.tolist() == expected.n_documents.tolist()


@units
@few
@given(seed=SEEDS, cut=st.integers(1, 5))
def test_counts_of_two_collections_add_up(draw, marked_rule, unit, seed, cut):
    documents, scores = draw(seed)
    count = counter(marked_rule, unit).count
    first = cells(count(documents[:cut], scores[:cut]))
    second = cells(count(documents[cut:], scores[cut:]))
    sums = {key: first.get(key, 0) + second.get(key, 0) for key in {**first, **second}}
    same(cells(count(documents, scores)), sums)
    twice = count(documents * 2, scores * 2)
    same(cells(twice), {k: 2 * v for k, v in cells(count(documents, scores)).items()})


@units
@few
@given(seed=SEEDS)
def test_distributions_and_their_moments(draw, marked_rule, unit, seed):
    counts = counter(marked_rule, unit).count(*draw(seed))
    for (period, country), (mean, variance) in cells(counts).items():
        pmf = counts.distribution(country, period)
        value = np.arange(pmf.size)
        assert pmf.sum() == pytest.approx(1)
        assert value @ pmf == pytest.approx(mean)
        assert value**2 @ pmf - mean**2 == pytest.approx(variance, abs=1e-9)
    for method in ("normal", "quantile"):
        low, high = counts.interval(method=method)
        assert (low <= high).all()
    low, high = counts.bounds()
    if unit == "documents":
        assert (low <= counts.mean + 1e-9).all()
        assert (counts.mean <= high + 1e-9).all()


@units
@few
@given(seed=SEEDS)
def test_swapping_actors_flips_the_sign(draw, marked_rule, unit, seed):
    counts = counter(marked_rule, unit).count(*draw(seed))
    for first, second in (CODES[:2], CODES[1:]):
        one, other = counts.compare(first, second), counts.compare(second, first)
        assert other.mean_difference == pytest.approx(-one.mean_difference)
        assert other.less == pytest.approx(float(one))
        assert other.equal == pytest.approx(one.equal)
        assert float(one) + one.equal + one.less == pytest.approx(1)
    assert float(counts.compare("AAA", "AAA")) == 0


@few
@given(seed=SEEDS)
def test_float32(draw, marked_rule, seed):
    documents, scores = draw(seed)
    count = counter(marked_rule, "documents").count
    found = count(documents, [table.astype(np.float32) for table in scores])
    expected = count(documents, scores)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-5)
    np.testing.assert_allclose(found.sd, expected.sd, atol=1e-3)


NAMES = ("rebel", "front", "Arcadian Front", "army", "Free Army")
TEXTS = st.lists(
    st.sampled_from(["the", "Rebels", "Arcadian", "Front", "Free", "Army", "fronts"]),
    max_size=7,
)


@few
@given(
    owners=st.lists(st.sampled_from("XYZ"), min_size=5, max_size=5),
    words=TEXTS,
    random=RANDOM,
)
def test_order_and_names_of_codes(owners, words, random):
    """Whoever has a name, and wherever it is listed, the same words are found."""

    def found(rows, names):
        entries = {}
        for owner, name in rows:
            entries.setdefault(names[owner], []).append(name)
        return AffiliationLexicon(entries).find(words)

    same_names = dict(zip("XYZ", "XYZ", strict=True))
    rows = list(zip(owners, NAMES, strict=True))
    expected = found(rows, same_names)
    mixed = random.sample(rows, len(rows))
    assert [(*each[:2], set(each.codes)) for each in found(mixed, same_names)] == [
        (*each[:2], set(each.codes)) for each in expected
    ]
    renamed = found(rows, {"X": "one", "Y": "two", "Z": "three"})
    assert [each[:2] for each in renamed] == [each[:2] for each in expected]
