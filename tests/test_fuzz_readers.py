"""Whatever a file holds, its reader gives what it says or names the file and line."""

import gzip
import io
import itertools
import re
import warnings
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skcalib.cli import main
from skcalib.datasets import (
    read_conll2012,
    read_conll_columns,
    read_conllu,
    read_litbank,
)
from skcalib.datasets._files import members_of, registry
from skcalib.documents import Document
from skcalib.events import AffiliationLexicon, CountryLexicon

CONLLU = """\
# newdoc id = weblog-toy.example_rain_20041117172713_ENG_20041117_172713
# global.Entity = GRP-etype-head
# meta::dateCreated = 2004-11-17
# sent_id = toy-1
1\tIt\tit\tPRON\tPRP\t_\t4\tnsubj\t_\tEntity=(1-object-1)
2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdoes\tdo\tAUX\tVBZ\t_\t4\taux\t_\tEntity=(2[1/2]-event-1)
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\train\train\tVERB\tVB\tTense=Pres\t0\troot\t_\tEntity=(2[2/2]-event-1)|Bridge=1<2
4.1\tgood\tgood\tADJ\tJJ\t_\t_\t_\t4:conj\t_

# newdoc
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\tEntity=(1-place-1(3)
2\trains\train\tVERB\tVBZ\t_\t1\tacl\t_\tEntity=1)
"""
CONLL2012 = """\
#begin document (toy); part 000
toy  0  0  Ada   NNP  (TOP*  -  -  -  Bo  *  *  (0|(1)
toy  0  1  rests VBZ  *)     -  -  -  Bo  *  *  0)

toy\t0\t0\tShe\tPRP\t*\t-\t-\t-\tBo\t*\t*\t(0)
#end document
#begin document (toy); part 001
#end document
"""
COLUMNS = "It\tO\nrains\tV\n\n#wet\t#\n \tO\n"
TEXT = "Ada met her brother .\n\nHe was a sailor .\n"
ANN = """\
MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP
MENTION\tT2\t0\t2\t0\t3\ther brother\tPER\tNOM
MENTION\tT3\t1\t0\t1\t0\tHe\tPER\tPRON
MENTION\tT4\t1\t2\t1\t3\ta sailor\tPER\tNOM
COREF\tT2\tbrother-1
COREF\tT3\tbrother-1
COP\tT4\tT3
"""
LEXICON = """\
# words
=== REBELS
REB\tREBELS
REB\tARCADIAN_FRONT
FRA\tThe_U.S.
-\tNEW_MEXICO
X-1\tNobody's
"""
CSV = 'correct,confidence,genre\n1,0.9,a\n0,.25,"b, c"\nyes,1e-3,a\nno,0.5,"b, c"\n'
JSONL = """\
{"y": 1, "p": 0.9, "genre": "a", "more": [1, {"deep": null}]}
{"y": true, "p": 1, "genre": "a"}
{"y": "no", "p": "0.25", "genre": 3}
{"y": 0, "p": 1e-9, "genre": 3}
"""

# What has broken readers of text: of bytes, of numbers, of nested things, of lines.
PIECES = [
    *(b"\x00", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80"),
    *(b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\x0b", b"\x1c", b"\x85", b"\xc2\x85"),
    *(b" ", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xd9\xa1", b"\xc2\xb2", b"\xef\xbc\x91"),
    *(b"-", b"_", b".", b"#", b"=", b"|", b"%", b"%00", b"%ff"),
    *(b"'", b'"', b"\\", b"$"),
    *(b"(", b")", b"[", b"]", b"{", b"}", b"(" * 3000, b")" * 3000, b"[" * 200_000),
    *(b"0", b"1", b"9" * 10, b"9" * 5000, b"-1", b"1e999", b"nan", b"-inf", b"1_0"),
    *(b"[1/2]", b"[" + b"9" * 5000 + b"/2]", b"\\ud800", b"Entity=", b"null", b"NaN"),
]


@st.composite
def damaged(draw, good):
    """Draw bytes: a good file with pieces cut, doubled, moved and put in, or any."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=60))
    data = good
    for _ in range(draw(st.integers(1, 4))):
        i, j = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        k = min(len(data), i + draw(st.integers(0, 8)))
        piece = draw(st.sampled_from(PIECES))
        changes = [
            data[:i] + piece + data[i:],
            data[:i] + piece + data[k:],
            data[:i] + data[k:],
            data[:i],
            data[i:],
            data[:j] + data[i:],
            data[j:] + data[:i],
            data.replace(data[i : i + 1], piece[:8]) if len(data) < 10_000 else data,
            data.replace(b"\n", b"\r\n"),
        ]
        data = draw(st.sampled_from(changes))
    return data


def lexicon(cls):
    return lambda path: cls.from_file(path).find(["Rebels", "of", "the", "U.S."])


def litbank(path):
    """Read a file that is the .txt and the .ann, which a line of = divides."""
    text, _, ann = path.read_bytes().partition(b"====\n")
    path.with_suffix(".txt").write_bytes(text)
    path.with_suffix(".ann").write_bytes(ann)
    return read_litbank(path.with_suffix(".ann"), predicative="link")


def zipped(members):
    """Return an archive whose members are packed as in those of corpora."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)  # of a fixed time: the same bytes in any run
            archive.writestr(info, text, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def reports(path):
    (file,) = registry()["muc3"]["files"].values()
    return members_of(path, file["members"])


READERS = {
    "read_conllu": (read_conllu, "a.conllu", CONLLU),
    "read_conllu, gzip": (
        read_conllu,
        "a.conllu.gz",
        gzip.compress(CONLLU.encode(), mtime=0),
    ),
    "read_conll2012": (read_conll2012, "a.conll", CONLL2012),
    "read_conll_columns": (read_conll_columns, "a.tsv", COLUMNS),
    "read_litbank": (litbank, "a.any", TEXT + "====\n" + ANN),
    "read_litbank, zip": (read_litbank, "a.zip", zipped({"a.txt": TEXT, "a.ann": ANN})),
    "MUC-3": (reports, "muc3.zip", zipped({"muc3/dev/a.xhtml": TEXT})),
    "AffiliationLexicon": (lexicon(AffiliationLexicon), "a.tsv", LEXICON),
    "CountryLexicon": (lexicon(CountryLexicon), "a.tsv", LEXICON),
}


def read_or_refuse(read, path):
    """Read a file, which may fail with what is documented and nothing else."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* line .*: two mentions of the same words")
        try:
            found = read(path)
        except OSError:
            return
        except ValueError as error:
            message = str(error)
            assert message.startswith(str(path.with_suffix(""))), message
            assert re.search("(, line [0-9]+)?: expected", message)
            return
    for document in found:
        if isinstance(document, Document):
            n_words = document.n_words
            assert all(mention.end <= n_words for mention in document.mentions)


TABLES = [(".csv", CSV), (".tsv", CSV.replace(",", "\t")), (".jsonl", JSONL)]
OPTIONS = [
    *(["--groups", "genre"], ["--by", "genre"], ["--y-true", "genre"], ["--json"]),
    *(["--percent"], ["--skip-missing"], ["--pos-label", "yes"]),
]
# All examples may share capsys: each reads what it has written.
SHARED = [HealthCheck.function_scoped_fixture]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def check_reader(reader, folder, data):
    read, name, good = reader
    path = folder / name
    good = good if isinstance(good, bytes) else good.encode()
    path.write_bytes(data.draw(damaged(good)))
    read_or_refuse(read, path)


def check_report(folder, data, capsys):
    suffix, good = data.draw(st.sampled_from(TABLES))
    path = folder / f"a{suffix}"
    path.write_bytes(data.draw(damaged(good.encode())))
    # No option may be given twice.
    chosen = st.lists(st.sampled_from(OPTIONS), max_size=2, unique_by=tuple)
    options = data.draw(chosen)
    code = main(["report", str(path), "--no-figure", *itertools.chain(*options)])
    out, err = capsys.readouterr()
    if code == 0:
        assert out
        # notes about the columns of the file
        assert all(
            each.startswith(f"skcalib report: {path}: ")
            for each in err.split("\n")[:-1]
        )
    else:
        assert (code, out) == (2, "")
        assert err.startswith("skcalib report: error: ")
        assert str(path) in err


@settings(max_examples=20)
@given(data=st.data())
@pytest.mark.parametrize("name", READERS)
def test_any_file_is_read_or_refused(name, folder, data):
    check_reader(READERS[name], folder, data)


@pytest.mark.slow
@settings(max_examples=1000)
@given(data=st.data())
@pytest.mark.parametrize("name", READERS)
def test_many_files_are_read_or_refused(name, folder, data):
    check_reader(READERS[name], folder, data)


@settings(max_examples=20, suppress_health_check=SHARED)
@given(data=st.data())
def test_any_predictions_are_reported_or_refused(folder, capsys, data):
    check_report(folder, data, capsys)


@pytest.mark.slow
@settings(max_examples=1000, suppress_health_check=SHARED)
@given(data=st.data())
def test_many_predictions_are_reported_or_refused(folder, capsys, data):
    check_report(folder, data, capsys)
