"""Train a parser on free data and parse the corpora of section 6 with it.

    pip install spacy
    SKCALIB_DATA=... python benchmarks/parse_corpora.py --output FOLDER

spaCy (no pretrained weights: hashed embeddings, a convolutional network) learns tags,
morphology, lemmas and universal dependencies from the train file of UD English EWT,
two sentences in five in lower case. Its accuracy is measured on the test files of EWT
and GUM with gold tokens: the boundaries of sentences are the parser's. Then it parses

- the reports of MUC-3, in lower case: FOLDER/muc3/muc3_parsed.conllu.gz,
- the State of the Union addresses: FOLDER/state_union/state_union_parsed.conllu.gz.

With FOLDER the folder of the data sets (SKCALIB_DATA or ~/skcalib_data), `fetch_corpus`
finds the files of 'muc3' and 'state_union'; or pass them as `parsed`.

Run time on one core: 13 minutes, 11 of them training.
"""

import dataclasses
import gzip
import re
import time
from pathlib import Path

import _study
import numpy as np
import spacy
from _common import print_table, versions, write_csv
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Config

from skcalib.datasets import fetch_corpus
from skcalib.documents import Document

N_STEPS = 1500
WORDS = 1500  # in a batch
MOST_WORDS = 150  # in a paragraph, where longer ones can be cut
SHARE_LOWER = 0.4
DROPOUT = 0.1

# The transition-based parser, without its vectors of words.
PARSER = """\
[components.parser]
factory = "parser"

[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true
nO = null
"""

CONFIG = f"""
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger", "morphologizer", "trainable_lemmatizer", "parser"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 4
embed_size = 3000
window_size = 1
maxout_pieces = 3
subword_features = true

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"
nO = null

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.morphologizer]
factory = "morphologizer"

[components.morphologizer.model]
@architectures = "spacy.Tagger.v2"
nO = null

[components.morphologizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.trainable_lemmatizer]
factory = "trainable_lemmatizer"

[components.trainable_lemmatizer.model]
@architectures = "spacy.Tagger.v2"
nO = null

[components.trainable_lemmatizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

{PARSER}
[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96
"""


# Texts


def paragraphs(document):
    """Yield the sentences of each paragraph, cut where it gets long."""
    own, n_words = [], 0
    for sentence in document.sentences:
        starts = any(comment.startswith("# newpar") for comment in sentence.comments)
        if own and (starts or n_words > MOST_WORDS):
            yield own
            own, n_words = [], 0
        own.append(sentence)
        n_words += len(sentence)
    if own:
        yield own


def as_doc(vocab, sentences, *, lowercase, annotated=True):
    """Return sentences as a Doc of spaCy, with or without what is to be learnt."""
    words = [form for sentence in sentences for form in sentence.form]
    spaces = ["SpaceAfter=No" not in m for s in sentences for m in s.misc]
    if lowercase:
        words = [word.lower() for word in words]
    if not annotated:
        return Doc(vocab, words, spaces)
    heads, start = [], 0
    for sentence in sentences:
        heads += [start + (h if h >= 0 else i) for i, h in enumerate(sentence.head)]
        start += len(sentence)
    columns = {
        spacy_name: [value for s in sentences for value in getattr(s, name)]
        for name, spacy_name in (
            ("xpos", "tags"),
            ("upos", "pos"),
            ("feats", "morphs"),
            ("lemma", "lemmas"),
            ("deprel", "deps"),
        )
    }
    if lowercase:
        columns["lemmas"] = [lemma.lower() for lemma in columns["lemmas"]]
    columns["morphs"] = ["" if m == "_" else m for m in columns["morphs"]]
    firsts = [i == 0 for s in sentences for i in range(len(s))]
    return Doc(vocab, words, spaces, heads=heads, sent_starts=firsts, **columns)


def example(vocab, sentences, lowercase):
    plain = as_doc(vocab, sentences, lowercase=lowercase, annotated=False)
    return Example(plain, as_doc(vocab, sentences, lowercase=lowercase))


# Training


def new_pipeline(config, seed):
    """Return an untrained pipeline, and a generator of random numbers."""
    spacy.util.fix_random_seed(seed)
    nlp = spacy.util.load_model_from_config(Config().from_str(config), auto_fill=True)
    return nlp, np.random.default_rng(seed)


def train(seed=0):
    """Return a pipeline trained for some steps, and how long it took."""
    start = time.process_time()
    nlp, rng = new_pipeline(CONFIG, seed)
    documents = fetch_corpus("ud_english_ewt", subset="train").documents
    texts = [sentences for d in documents for sentences in paragraphs(d)]
    optimizer = nlp.initialize(
        lambda: [example(nlp.vocab, text, False) for text in texts]
    )
    for step, batch in enumerate(batches(texts, N_STEPS, rng)):
        optimizer.learn_rate = 0.001 * min((step + 1) / 100, 1) * (1 - step / N_STEPS)
        lower = rng.random(len(batch)) < SHARE_LOWER
        pairs = zip(batch, lower.tolist(), strict=True)
        examples = [example(nlp.vocab, text, low) for text, low in pairs]
        losses = nlp.update(examples, sgd=optimizer, drop=DROPOUT, losses={})
        if (step + 1) % N_STEPS // 10 == 0:
            shown = ", ".join(f"{name} {loss:.0f}" for name, loss in losses.items())
            seconds = time.process_time() - start
            print(f"step {step + 1}, {seconds:.0f} s, losses: {shown}", flush=True)
    return nlp, time.process_time() - start


def batches(texts, n_steps, rng):
    """Yield batches of texts of some words, in a new order in each epoch."""
    batch, n_words, n = [], 0, 0
    while True:
        for i in rng.permutation(len(texts)).tolist():
            batch.append(texts[i])
            n_words += sum(map(len, texts[i]))
            if n_words >= WORDS:
                yield batch
                batch, n_words, n = [], 0, n + 1
                if n == n_steps:
                    return


# Accuracy


def accuracy(nlp, documents, *, lowercase):
    """Return the shares of words that are right, given gold tokens, and boundaries."""
    right = dict.fromkeys(("UPOS", "XPOS", "lemma", "UAS", "LAS"), 0)
    n_words = 0
    found, gold = set(), set()
    texts = [sentences for d in documents for sentences in paragraphs(d)]
    plain = [as_doc(nlp.vocab, t, lowercase=lowercase, annotated=False) for t in texts]
    for k, (text, doc) in enumerate(zip(texts, nlp.pipe(plain), strict=True)):
        true = as_doc(nlp.vocab, text, lowercase=lowercase)
        n_words += len(true)
        for a, b in zip(true, doc, strict=True):
            same_head = a.head.i == b.head.i
            right["UPOS"] += a.pos == b.pos
            right["XPOS"] += a.tag == b.tag
            right["lemma"] += a.lemma == b.lemma
            right["UAS"] += same_head
            right["LAS"] += same_head and a.dep_.lower() == b.dep_.lower()
        gold |= {(k, s.start, s.end) for s in true.sents}
        found |= {(k, s.start, s.end) for s in doc.sents}
    row = {name: f"{100 * n / n_words:.1f}" for name, n in right.items()}
    row["sentence F1"] = f"{200 * len(found & gold) / (len(found) + len(gold)):.1f}"
    return {"words": n_words, **row}


def accuracies(nlp):
    corpora = {
        "EWT test": fetch_corpus("ud_english_ewt", subset="test").documents,
        "GUM test": fetch_corpus("gum", subset="test").data,
    }
    return [
        {
            "corpus": name,
            "case": "lower" if lowercase else "as written",
            **accuracy(nlp, documents, lowercase=lowercase),
        }
        for name, documents in corpora.items()
        for lowercase in (False, True)
    ]


# Parsing


def muc3_text(paragraph):
    """Return a paragraph without remarks at its ends, in lower case."""
    text = re.sub(r"^ *\[[A-Z .,'-]*\]|\[[^\]]*\] *$", " ", paragraph)
    text = text.replace("[", "(").replace("]", ")").lower()
    return " ".join(text.split())


def muc3_paragraphs(report):
    """Return the text of a report by paragraphs, without its name and dateline."""
    _, first, *rest = report.metadata["paragraphs"]
    first = re.sub(r"^.*?-- *(\[[^\]]*\] *)+", "", first)
    found = [text for text in map(muc3_text, (first, *rest)) if text]
    if not found:
        raise ValueError(f"{report.id} has no text")
    return found


def muc3():
    """Return the reports, and their texts by paragraphs."""
    reports = fetch_corpus("muc3", subset="all", parsed=False).data
    return reports, [muc3_paragraphs(report) for report in reports]


def state_union():
    """Return the addresses, and their texts by paragraphs, without the title."""
    addresses = fetch_corpus("state_union", parsed=False).data
    return addresses, [address.metadata["paragraphs"][1:] for address in addresses]


TEXTS = {"muc3": muc3, "state_union": state_union}


def parse(nlp, documents, texts):
    """Yield the documents with the parses of their texts."""
    pairs = ((text, i) for i, own in enumerate(texts) for text in own)
    parsed = [[] for _ in documents]
    for doc, i in nlp.pipe(pairs, as_tuples=True, batch_size=64):
        sentences = Document.from_spacy(doc).sentences
        comments = ["# newpar"]
        for sentence in sentences:
            parsed[i].append(dataclasses.replace(sentence, comments=comments))
            comments = []
    for document, sentences in zip(documents, parsed, strict=True):
        yield dataclasses.replace(document, sentences=sentences)


def write_conllu(path, documents):
    """Write documents with their dates, the words of white space left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for document in documents:
            file.write("".join(conllu_lines(document)).encode())


def conllu_lines(document):
    yield f"# newdoc id = {document.id}\n"
    if document.date is not None:
        yield f"# meta::dateCreated = {document.date}\n"
    for n, sentence in enumerate(document.sentences, 1):
        yield "".join(f"{comment}\n" for comment in sentence.comments)
        yield f"# sent_id = {document.id}-{n}\n# text = {' '.join(sentence.form)}\n"
        columns = (
            range(1, len(sentence) + 1),
            sentence.form,
            sentence.lemma,
            sentence.upos,
            sentence.xpos,
            sentence.feats,
            [head + 1 for head in sentence.head],
            [deprel.replace("ROOT", "root") for deprel in sentence.deprel],
        )
        for row in zip(*columns, strict=True):
            yield "\t".join(map(str, row)) + "\t_\t_\n"
        yield "\n"


def main():
    parser = _study.parser_of(__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--corpus", nargs="+", choices=list(TEXTS), default=list(TEXTS))
    parser.add_argument("--model", type=Path, help="folder that keeps the parser")
    options = parser.parse_args()
    if options.model and options.model.exists():
        nlp = spacy.load(options.model)
    else:
        nlp, seconds = train()
        print(f"training: {seconds:.0f} s", flush=True)
        if options.model:
            nlp.to_disk(options.model)
    rows = accuracies(nlp)
    print_table(rows)
    note = f"{N_STEPS} steps of {WORDS} words; gold tokens; "
    write_csv("parse_corpora.csv", rows, note + versions("spacy", "skcalib"))
    for corpus in options.corpus:
        start = time.process_time()
        path = options.output / corpus / f"{corpus}_parsed.conllu.gz"
        documents, texts = TEXTS[corpus]()
        write_conllu(path, parse(nlp, documents, texts))
        print(f"{path}: {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
