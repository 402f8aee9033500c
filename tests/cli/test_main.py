"""Files, streams and signals of all commands: what is written, and the exit status."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skcalib.cli import main

ANSWERS = "question,correct,confidence\n" + "".join(
    f"q{k},{int(k % 3 > 0)},0.{5 + k % 4}\n" for k in range(90)
)
WORSE = "question,correct,confidence\n" + "".join(
    f"q{k},{int(k % 3 == 0)},0.{5 + k % 4}\n" for k in range(90)
)
DOCUMENTS = "id,p,label\n" + "".join(f"d{k},0.{k % 10},{k % 2}\n" for k in range(20))


@pytest.fixture
def files(folder):
    Path("a.csv").write_text(ANSWERS)
    Path("b.csv").write_text(WORSE)
    Path("docs.csv").write_text(DOCUMENTS)
    Path("people.csv").write_text("question,score\nq1,1\nq2,0\n")
    Path("design.csv").write_text("id,inclusion_probability,drawn\n")
    Path("runs").mkdir()
    Path("runs/samples_x.jsonl").write_text("{}\n")
    Path("link.svg").symlink_to("a.csv")
    os.link("b.csv", "other-name.html")
    return {path: path.read_bytes() for path in Path(".").rglob("*") if path.is_file()}


REPLACED = [
    ("report a.csv --html a.csv", "--html must not be a file that is read"),
    ("report a.csv --output link.svg", "--output must not be a file that is read"),
    ("report a.csv --html ./runs/../a.csv", "must not be a file that is read"),
    ("report a.csv --labels people.csv --html people.csv", "a file that is read"),
    ("report a.csv --output f.svg --html f.svg", "not be the file of --output"),
    ("report a.csv --html a.reliability.png", "not be the file of the figure"),
    ("report runs/samples_x.jsonl --html runs/samples_x.jsonl", "file that is read"),
    ("compare runs a.csv --html runs/samples_x.jsonl", "must not replace a file of a"),
    ("compare a.csv b.csv --html b.csv", "--html must not be a file that is read"),
    ("compare a.csv b.csv --html other-name.html", "must not be a file that is read"),
    ("compare a.csv b.csv --html f.md --markdown runs/../f.md", "file of --html"),
    ("compare a.csv b.csv --labels people.csv --html people.csv", "that is read"),
    ("compare a.csv b.csv --metric bleu --reference r.txt --html r.txt", "is read"),
    ("compare a.csv b.csv --metric f1 --groups g.txt --html g.txt", "is read"),
    ("count docs.csv --html docs.csv", "--html must not be a file that is read"),
    ("count docs.csv --csv docs.csv", "--csv must not be a file that is read"),
    ("count docs.csv --design design.csv --csv design.csv", "a file that is read"),
    ("count docs.csv --csv t.csv --html t.csv", "must not be the file of --csv"),
    ("sample docs.csv --n 4 --output docs.csv", "--output must not be a file that"),
    ("sample docs.csv --n 4 --output .", "--output must be a file. '.' is a folder"),
    ("report a.csv --html runs", "--html must be a file. 'runs' is a folder"),
]


@pytest.mark.parametrize(("command", "message"), REPLACED)
def test_an_output_replaces_no_other_file_of_the_command(run, files, command, message):
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert message in err
    found = {p: p.read_bytes() for p in Path(".").rglob("*") if p.is_file()}
    assert found == files


def test_outputs_are_checked_before_files_are_read(run, folder):
    for command in ("report no.csv", "compare no.csv no2.csv", "count no.csv"):
        code, _, err = run(*command.split(), "--html", "no.csv")
        assert code == 2
        assert "must not be a file that is read" in err


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no null device")
def test_a_device_may_be_every_output(run, files):
    code, _, err = run(
        *("count", "docs.csv", "--csv", "/dev/null", "--html", "/dev/null")
    )
    assert (code, err) == (0, "")


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")

PIPED = [
    "report pipe",
    "report a.csv --labels pipe",
    "compare a.csv pipe",
    "compare a.csv b.csv --labels pipe",
    "compare a.csv b.csv --metric bleu --reference pipe",
    "compare a.csv b.csv --metric bleu --reference a.csv --groups pipe",
    "count pipe",
    "count docs.csv --labels pipe",
    "count docs.csv --labels people.csv --design pipe",
    "sample pipe --n 4",
]


@needs_pipes
@pytest.mark.parametrize("command", PIPED)
def test_a_pipe_is_no_input_because_files_are_read_more_than_once(run, files, command):
    os.mkfifo("pipe")
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert "pipe must be a regular file, because files are read more than once" in err
    assert "It is a pipe. Save its content to a file first" in err


@pytest.mark.parametrize(
    "command",
    ["report loop", "compare a.csv loop", "count loop", "sample loop --n 2"]
    + ["report a.csv --no-figure --html loop", "count docs.csv --csv loop"],
)
def test_a_link_to_itself_is_named(run, files, command):
    Path("loop").symlink_to("loop")
    code, _, err = run(*command.split())
    assert code == 2
    assert err.count("\n") == 1
    assert err.endswith("Too many levels of symbolic links: 'loop'\n")


@pytest.mark.skipif(sys.platform == "win32", reason="open folders are not removed")
@pytest.mark.parametrize("command", ["report", "compare", "count", "demo"])
def test_a_current_folder_that_was_removed_is_an_error(run, tmp_path, command):
    Path("gone").mkdir()
    os.chdir("gone")
    Path("../gone").rmdir()
    names = [] if command == "demo" else ["a.csv", "b.csv"][: 1 + (command != "count")]
    code, out, err = run(command, *names)
    os.chdir(tmp_path)
    assert (code, out) == (2, "")
    assert "The current folder does not exist any more" in err


# Outputs that cannot be written to their end

WRITING = {
    "report a.csv --no-figure --html out.html": ["out.html"],
    "report a.csv --no-figure --markdown out.md": ["out.md"],
    "report a.csv --output out.png": ["out.png"],
    "report a.csv --output out.SVG": ["out.SVG"],
    "compare a.csv b.csv --html out.html": ["out.html"],
    "compare a.csv b.csv --markdown out.md": ["out.md"],
    "count docs.csv --csv out.csv": ["out.csv"],
    "count docs.csv --html out.html": ["out.html"],
    "sample docs.csv --n 15 --output out.csv": ["out.csv", "out.design.csv"],
    "demo": ["skcalib-demo/reliability.png"],
}


@pytest.mark.parametrize("command", WRITING)
def test_an_output_is_written_whole_or_not_at_all(run, files, command):
    resource = pytest.importorskip("resource")
    names = WRITING[command]
    before = {}
    if not command.startswith("sample"):  # which never replaces a file
        Path(names[0]).parent.mkdir(exist_ok=True)
        Path(names[0]).write_text("as it was")
        before = {names[0]: b"as it was"}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60, limits[1]))
    try:
        code, _, err = run(*command.split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert code == 2
    assert f"File too large: {names[0]!r}" in err
    found = {str(p): p.read_bytes() for p in Path(".").rglob("*") if p.is_file()}
    assert found == {str(p): content for p, content in files.items()} | before
    assert run(*command.split())[0] == 0
    found = {str(p) for p in Path(".").rglob("*") if p.is_file()}
    assert found == {str(p) for p in files} | set(names)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_an_output_keeps_its_link_and_its_permissions(run, files):
    Path("page.html").write_text("old")
    Path("page.html").chmod(0o604)
    Path("link.html").symlink_to("page.html")
    umask = os.umask(0o027)
    try:
        options = ("--html", "link.html", "--markdown", "new.md")
        assert run("report", "a.csv", "--no-figure", *options)[0] == 0
    finally:
        os.umask(umask)
    assert Path("link.html").is_symlink()
    assert Path("page.html").read_text("utf-8").startswith("<!")
    modes = [Path(name).stat().st_mode & 0o777 for name in ("page.html", "new.md")]
    assert modes == [0o604, 0o640]


@needs_pipes
def test_a_pipe_may_be_an_output(run, files):
    os.mkfifo("out")
    reader = os.open("out", os.O_RDONLY | os.O_NONBLOCK)
    assert run("count", "docs.csv", "--csv", "out")[0] == 0
    assert os.read(reader, 8) == b"estimate"
    os.close(reader)


# Standard output without a reader


@pytest.fixture
def without_reader(monkeypatch):
    """Run the command line with an output whose reader has gone away."""

    def without_reader(*arguments):
        reader, writer = os.pipe()
        os.close(reader)
        # pytest sets its own stream before each test, so the fixture is too early.
        with open(writer, "w") as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            return main(list(arguments))

    return without_reader


COMPARE = ["compare", "a.csv", "b.csv", "--html", "p.html", "--markdown", "f.md"]


def check_written():
    assert "b is worse than a" in Path("p.html").read_text("utf-8")
    assert "b is worse than a" in Path("f.md").read_text("utf-8")


def test_a_gate_does_not_depend_on_the_reader_of_a_pipe(files, without_reader):
    assert without_reader(*COMPARE, "--fail-if", "worse") == 1
    check_written()


def test_a_gate_does_not_depend_on_a_closed_output(files, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)  # as Python does for >&-
    assert main([*COMPARE, "--fail-if", "worse"]) == 1
    check_written()


def test_help_without_a_reader_is_no_error(without_reader):
    with pytest.raises(SystemExit) as done:
        without_reader("compare", "--help")
    assert done.value.code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_an_output_that_cannot_be_written_is_an_error(files, monkeypatch, capsys):
    # At the end, the rest of the buffer is written without an error.
    with open("/dev/full", "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["report", "a.csv", "--no-figure"]) == 2
    assert "No space left on device: '/dev/full'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_gate_in_a_pipe_of_the_shell(files):
    command = f"{sys.executable} -m skcalib compare a.csv b.csv --fail-if worse"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} | head -1"], capture_output=True
    )
    assert done.returncode == 1
    assert done.stderr == b"skcalib compare: worse: b\n"
    done = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True)
    assert done.returncode == 1


def test_an_interrupt_ends_with_130_and_one_line(run, files, monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("skcalib.cli._report.read_systems", interrupted)
    code, _, err = run("report", "a.csv")
    assert (code, err) == (130, "skcalib: interrupted\n")


@pytest.mark.parametrize("other", [None, RuntimeError, ImportError])
def test_an_interrupt_of_the_imports_ends_with_130_and_one_line(
    run, monkeypatch, other
):
    class Loading:
        def __getattr__(self, name):
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise (other or KeyboardInterrupt) from error

    monkeypatch.setitem(sys.modules, "skcalib.cli._options", Loading())
    assert run("report", "a.csv") == (130, "", "skcalib: interrupted\n")


def test_what_is_imported_before_interrupts_are_caught_is_quick():
    code = "import sys, skcalib.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# The code of an exec, which dataclasses run, makes Python end by the signal itself.
INTERRUPTED = """
import sys
class Loading:
    def __getattr__(self, name):
        exec("raise KeyboardInterrupt")
sys.modules["skcalib.cli._options"] = Loading()
from skcalib.cli import main
sys.exit(main(["demo"]))
"""


def test_an_interrupted_exec_ends_with_130(folder):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True)
    assert (done.returncode, done.stderr) == (130, b"skcalib: interrupted\n")


@pytest.mark.slow
@needs_pipes
def test_a_signal_ends_a_command_that_waits_for_a_reader(files):
    os.mkfifo("page.html")
    command = [sys.executable, "-m", "skcalib", "compare", "a.csv", "b.csv"]
    process = subprocess.Popen(
        [*command, "--html", "page.html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a process in the background of a shell script ignores interrupts
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    process.stdout.readline()  # is printed before the page is written
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "skcalib: interrupted\n")


# Texts in files, pages and messages


def test_formulas_and_control_characters_in_cells(run, folder):
    cells = {
        "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
        "+1+1": "'+1+1",
        "-2+3": "'-2+3",
        "@SUM(1)": "'@SUM(1)",
        "\t=1": "'\t=1",
        "\r=1": "'\\r=1",
        "-0.5": "-0.5",
        "+3": "+3",
        "-1e-05": "-1e-05",
        "-1,5": "-1,5",
        "-5%": "-5%",
        "a=b": "a=b",
        "-": "'-",
        "red \x1b[31m": "red \\x1b[31m",
        "a\u202eb\u200fc": "a\\u202eb\\u200fc",
        "two\r\nlines\tand a tab": "two\nlines\tand a tab",
        "old\rmac": "old\\rmac",
    }
    texts = [*cells, "", "x"]
    rows = [{"id": k, "p": 0.1 + k / 30, "text": t} for k, t in enumerate(texts)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    Path("docs.jsonl").write_text(lines, "utf-8")
    code, _, err = run("sample", "docs.jsonl", "--n", len(texts), "--id", "id")
    assert (code, err) == (0, "")
    with open("docs.sample.csv", encoding="utf-8-sig", newline="") as file:
        found = {int(row["id"]): row["text"] for row in csv.DictReader(file)}
    assert [found[k] for k in range(len(texts))] == [*cells.values(), "", "x"]


EVIL = "=1+1 \x1b[31m\u202e"
SHOWN = "=1+1 \\x1b[31m\\u202e"


def write(name, rows):
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def test_exported_tables_of_compare_have_no_formulas(run, folder):
    rows = [[f"q{k}", k % 2, int(k % 3 > 0), k % 7] for k in range(30)]
    write("wide.csv", [["question", EVIL, "plain", EVIL + "by"], *rows])
    options = ("wide.csv", "--systems", f"{EVIL},plain", "--by", EVIL + "by")
    code, out, _ = run("compare", *options, "--csv", "--html", "page.html")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["a"], row["b"]) == (f"'{SHOWN}", "plain")
    assert float(row["gain"]) == pytest.approx(20 / 30 - 15 / 30)
    code, out, _ = run("compare", *options, "--html", "page.html")
    page = Path("page.html").read_text("utf-8")
    for text in (out, page):
        assert SHOWN in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_exported_tables_of_count_have_no_formulas(run, folder):
    rows = [[k, k % 10 / 10, k % 2, EVIL if k % 3 else "-1"] for k in range(30)]
    write("docs.csv", [["id", "p", "label", "paper"], *rows])
    code, out, _ = run(
        *("count", "docs.csv", "--by", "paper", "--csv", "t.csv", "--html", "p.html")
    )
    assert code == 0
    with open("t.csv", encoding="utf-8", newline="") as file:
        assert {row["by"] for row in csv.DictReader(file)} == {f"'{SHOWN}", "-1"}
    for text in (out, Path("p.html").read_text("utf-8")):
        assert "\x1b" not in text
        assert "\u202e" not in text


IDS = ("=1+1", "-7", "-a", "@x", "'y", "+1 2", "a\u202eb", "plain", "  =blank")


def test_ids_that_are_written_with_an_apostrophe_are_found_again(run, folder):
    ids = [f"{name}{k}" for k in range(4) for name in IDS]
    rows = [[k, 0.1 + k % 8 / 10, "=A1 text\nwith lines"] for k in range(len(ids))]
    rows = [[name, *rest[1:]] for name, rest in zip(ids, rows, strict=True)]
    write("docs.csv", [["=id", "p", "text"], *rows])
    code, out, err = run("sample", "docs.csv", "--n", len(ids) // 2, "--id", "=id")
    assert (code, err) == (0, "")
    with open("docs.sample.csv", encoding="utf-8-sig", newline="") as file:
        sample = list(csv.DictReader(file))
    assert {row["text"] for row in sample} == {"'=A1 text\nwith lines"}
    assert not any(row["'=id"].startswith(("=", "@", "-a", "+1 ")) for row in sample)
    for row in sample:
        row["label"] = 1
    write("docs.sample.csv", [list(sample[0]), *(row.values() for row in sample)])
    found = json.loads(
        run(
            *("count", "docs.csv", "--labels", "docs.sample.csv", "--id", "=id"),
            *("--design", "docs.design.csv", "--json"),
        )[1]
    )
    assert found["n_labelled"] == len(ids) // 2
    # All labels are 1, so that the count is the number of documents.
    assert found["labels_only"]["estimate"] == pytest.approx(len(ids))


@pytest.mark.parametrize("ids", [("=1", "'=1"), ("a\x1b", "a\\x1b")])
def test_ids_that_would_be_the_same_in_the_sample_are_an_error(run, folder, ids):
    names = [*ids, "c", "d"]
    lines = [json.dumps({"id": name, "p": 0.1 * k}) for k, name in enumerate(names)]
    Path("docs.jsonl").write_text("\n".join(lines))
    code, _, err = run("sample", "docs.jsonl", "--n", 2)
    assert code == 2
    assert "are both written as" in err
    assert not Path("docs.sample.csv").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("default")
def test_characters_without_a_glyph_are_named_once(run, folder):
    lines = [f"{k},{k % 2},0.{5 + k % 4},\u6a21\u578b" for k in range(8)]
    Path("a.csv").write_text("id,correct,confidence,m\n" + "\n".join(lines), "utf-8")
    code, _, err = run("report", "a.csv", "--by", "m", "--html", "p.html")
    assert code == 0
    assert err == (
        "skcalib report: warning: the font of the figures does not have 2 of the "
        "characters, which are drawn as boxes: \u6a21, \u578b\n"
    )


# Options that would have no effect

IGNORED = [
    ("report a.csv --no-figure --output f.png", "--output and --no-figure exclude"),
    ("report a.csv --skip-missing --unanswered wrong", "--skip-missing and --unans"),
    ("report a.csv --y-true correct --score confidence", "--y-true and --score exc"),
    ("report plain.csv --percent", "--percent needs probabilities"),
    ("report hle.json --skip-missing", "--skip-missing applies to plain tables"),
    ("compare hle.json hle2.json --gold x", "--gold applies to plain tables"),
    ("compare hle.json hle2.json --systems x,y", "--systems applies to plain"),
    ("compare hle.json hle2.json --question x", "--question applies to plain"),
    ("compare a.csv b.csv --margin 1", "--margin must be above 0 and below 1"),
    ("compare a.csv b.csv --power 1", "--power must be above 0 and below 1"),
    ("compare a.csv b.csv --power 0", "--power must be above 0 and below 1"),
    ("compare --power a.csv b.csv", "must be followed by a gain D, such as 0.02, or"),
    ("compare a.csv b.csv --metric f1 --question x", "--question does not apply to"),
    ("compare a.csv b.csv --metric f1 --fail-if worse-calibrated", "--metric does not"),
    ("compare a.csv b.csv --metric f1 --missing drop", "--missing does not apply to"),
    ("compare a.csv b.csv --metric f1 --mismatch drop", "--mismatch drop does not"),
    ("compare a.csv b.csv --metric bleu --mismatch keep", "--mismatch keep does not"),
    ("compare a.csv b.csv --metric bleu --systems a,b", "--systems does not apply"),
    ("compare a.csv b.csv --metric bleu --pass-at 2", "--pass-at does not apply to"),
    ("count plain-docs.csv --by paper", "--by needs labels, and no document has one"),
    ("count plain-docs.csv --date date --trend", "--date needs labels"),
    ("count plain-docs.csv --size size", "--size needs labels"),
    ("count plain-docs.csv --pos-label x", "--pos-label needs labels"),
    ("count plain-docs.csv --groups paper", "--groups needs labels"),
    ("sample plain-docs.csv --n 2 --equal --sd size", "--sd and --equal exclude"),
    ("compare a.csv b.csv --csv --by question", "--csv and --by exclude each other"),
    ("compare a.csv b.csv --csv --power", "--csv and --power exclude each other"),
    ("compare a.csv b.csv --colour\x1b[31m", "arguments: --colour\\x1b[31m. See"),
]


@pytest.mark.parametrize(("command", "message"), IGNORED)
def test_options_without_an_effect_are_errors(run, files, command, message):
    Path("plain.csv").write_text("question,correct\na,1\nb,0\nc,1\n")
    Path("plain-docs.csv").write_text(
        "id,p,date,paper,size\n1,.5,2020-01-01,a,3\n2,.2,2021-01-01,b,4\n"
    )
    Path("expected.csv").write_text("id,expected,label\n1,5,4\n2,2,\n3,1,1\n")
    for name in ("hle", "hle2"):
        judged = {
            f"q{k}": {
                "model": name,
                "response": "x, confidence 70%",
                "judge_response": {
                    "correct_answer": "x",
                    "model_answer": "x",
                    "reasoning": "",
                    "correct": "yes" if k % 2 else "no",
                    "confidence": 70 + k,
                },
            }
            for k in range(6)
        }
        Path(f"{name}.json").write_text(json.dumps(judged))
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert message in err
