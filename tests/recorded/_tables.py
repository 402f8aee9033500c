"""Input files of the recorded runs, made the same in every version of Python."""

import csv
import datetime
import json
import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from harness_files import write_files

Columns = Mapping[str, Sequence[object]]


def write_inputs(folder: Path) -> None:
    """Write the files that the commands in ``runs/*.txt`` name."""
    write_files(folder)
    write_runs(folder)
    write_answers(folder)
    write_systems(folder)
    write_texts(folder)
    write_corpora(folder)
    write_odd_files(folder)


def write_runs(folder: Path) -> None:
    """Write the runs of two systems: folders with two tasks each, without a third."""
    for system in ("tern", "heron"):
        skip = shutil.ignore_patterns("*sums*")
        shutil.copytree(
            folder / "lm_eval" / system, folder / f"{system}_run", ignore=skip
        )


def write_csv(path: Path, columns: Columns, delimiter: str = ",") -> None:
    rows = zip(*columns.values(), strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows([list(columns), *rows])


def write_everywhere(path: Path, columns: Columns) -> None:
    """Write a table in all formats: path.csv, path.tsv, path.jsonl, ..."""
    write_csv(path.with_suffix(".csv"), columns)
    write_csv(path.with_suffix(".tsv"), columns, "\t")
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path.with_suffix(".jsonl").write_text(lines, "utf-8", newline="\n")
    path.with_suffix(".json").write_text(json.dumps(rows), "utf-8")
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    pq.write_table(pa.Table.from_pylist(rows), path.with_suffix(".parquet"))


def write_answers(folder: Path) -> None:
    """Write answers with probabilities that are too high, and variants."""
    draw = random.Random(1)
    n = 160
    stated = [round(draw.random(), 2) for _ in range(n)]
    right = [int(draw.random() < 0.1 + 0.7 * p) for p in stated]
    columns = {
        "question": [f"q{k}" for k in range(n)],
        "correct": right,
        "confidence": stated,
        "subject": [("law", "medicine", "physics", "art")[k % 4] for k in range(n)],
        "passage": [f"p{k // 4}" for k in range(n)],
    }
    write_everywhere(folder / "answers.csv", columns)
    percent = {
        "right": ["yes" if r else "no" for r in right],
        "percent": [100 * p for p in stated],
    }
    write_csv(folder / "percent.csv", percent)
    mails = {
        "class": ["spam" if r else "ham" for r in right],
        "p": stated,
        "user": columns["passage"],
    }
    write_csv(folder / "mails.tsv", mails, "\t")
    write_csv(
        folder / "countries.csv",
        {**columns, "subject": [("NA", "ZA")[k % 2] for k in range(n)]},
    )
    gaps = {
        **columns,
        "confidence": ["" if k % 9 == 0 else p for k, p in enumerate(stated)],
    }
    write_csv(folder / "gaps.csv", gaps)
    words = {**columns, "confidence": [round(5 * p) / 5 for p in stated]}
    write_csv(folder / "words.csv", words)
    write_csv(
        folder / "three.csv", {name: column[:3] for name, column in columns.items()}
    )
    write_csv(folder / "right.csv", {"question": columns["question"], "correct": right})
    people = range(0, n, 3)
    judged = [right[k] if draw.random() < 0.85 else 1 - right[k] for k in people]
    write_csv(
        folder / "people.csv", {"question": [f"q{k}" for k in people], "score": judged}
    )


def write_systems(folder: Path) -> None:
    """Write scores of systems on the same questions, in one file or in several."""
    draw = random.Random(2)
    n = 120
    ease = [draw.random() for _ in range(n)]
    systems = {
        name: [int(draw.random() < e**power) for e in ease]
        for name, power in (("base", 1.0), ("tuned", 0.4), ("worse", 2.0))
    }
    names = [f"q{k}" for k in range(n)]
    more = {
        "subject": [f"s{k % 3}" for k in range(n)],
        "source": [f"src{k // 6}" for k in range(n)],
    }
    for name, scores in systems.items():
        proba = [round(0.2 + 0.5 * s + 0.3 * draw.random(), 3) for s in scores]
        columns = {"id": names, "correct": scores, **more}
        write_everywhere(folder / f"{name}.csv", columns)
        write_csv(folder / f"{name}_sure.csv", {**columns, "confidence": proba})
    write_csv(folder / "wide.csv", {"question": names, **systems, **more})
    write_csv(folder / "part.csv", {"id": names[:-5], "correct": systems["tuned"][:-5]})
    long = {
        "model": [name for name in systems for _ in names],
        "id": names * 3,
        "correct": [score for scores in systems.values() for score in scores],
        "subject": more["subject"] * 3,
    }
    write_everywhere(folder / "long.csv", long)
    letters = {
        "question_id": names[:40],
        "category": [("law", "art")[k % 2] for k in range(40)],
        "answer": [draw.choice("ABCD") for _ in range(40)],
    }
    for name, share in (("one", 0.6), ("two", 0.8)):
        letters[name] = [a if draw.random() < share else "E" for a in letters["answer"]]
    write_csv(folder / "letters.csv", letters)
    for name, power in (("once", 1.0), ("again", 0.5)):
        chance = [e**power for e in ease[:30] for _ in range(4)]
        write_csv(
            folder / f"{name}.csv",
            {
                "id": [name for name in names[:30] for _ in range(4)],
                "correct": [int(draw.random() < c) for c in chance],
            },
        )
    grades = {"question": names[:50]}
    for k, name in enumerate("abcdefg"):
        grades[name] = [
            round(0.6 * e + 0.4 * draw.random() ** (1 - k / 9), 2) for e in ease[:50]
        ]
    write_csv(folder / "grades.csv", grades)
    threshold = {
        "kind": "threshold of skcalib report",
        "threshold": 0.8,
        "accuracy": 0.95,
        "confidence_level": 0.95,
        "n": 160,
        "probability": "confidence",
    }
    (folder / "threshold.json").write_text(json.dumps(threshold), "utf-8")
    scores = {"question": names[:50], "score": systems["base"][:50]}
    write_csv(folder / "scores.csv", scores)
    scores["score"] = [y / 2 for y in scores["score"]]
    write_csv(folder / "halves.csv", scores)
    labels = {
        "question": names[::3],
        "base": systems["base"][::3],
        "tuned": systems["base"][::3],
    }
    write_csv(folder / "labels.csv", labels)
    for k, name in enumerate(("base", "tuned")):  # each question has one label
        labels[name] = [y if j % 2 == k else "" for j, y in enumerate(labels[name])]
    write_csv(folder / "separate_labels.csv", labels)


def write_texts(folder: Path) -> None:
    """Write tagged sentences and translations of three systems."""
    draw = random.Random(3)
    for name, share in (("crf", 0.9), ("hmm", 0.7)):
        lines = []
        for k in range(60):
            gold = ("B-PER", "B-LOC")[k % 2]
            tag = gold if draw.random() < share else "O"
            start = ["-DOCSTART- -X- O\n"] if k % 12 == 0 else []
            lines += [*start, f"Name{k} {gold} {tag}\nsat O O\n"]
        (folder / f"{name}.conll").write_text("\n".join(lines), "utf-8", newline="\n")
    nouns = ["cat", "dog", "bird", "horse", "child"]
    said = [f"the {draw.choice(nouns)} saw a {draw.choice(nouns)} ." for _ in range(40)]
    texts = {"ref": said}
    for name, share in (("mt1", 0.5), ("mt2", 0.9)):
        texts[name] = [
            " ".join(
                w if draw.random() < share or w == "." else "thing"
                for w in line.split()
            )
            for line in said
        ]
    texts["genre"] = [("news", "talk")[k % 2] for k in range(40)]
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text(
            "\n".join(lines) + "\n", "utf-8", newline="\n"
        )


def write_corpora(folder: Path) -> None:
    """Write a corpus with a model's probabilities, and labels of a part of it."""
    draw = random.Random(4)
    n = 240
    proba = [round(draw.random() ** 2, 3) for _ in range(n)]
    truth = [int(draw.random() < 0.05 + 0.8 * p) for p in proba]
    drawn = [draw.random() < 0.3 for _ in range(n)]
    days = [datetime.date(2019, 1, 5) + datetime.timedelta(4 * k) for k in range(n)]
    columns = {
        "id": [f"d{k}" for k in range(n)],
        "date": [str(day) for day in days],
        "paper": [("Post", "Star", "Echo")[k % 3] for k in range(n)],
        "p": proba,
        "text": [f"text {k}" for k in range(n)],
    }
    labels = [t if is_drawn else "" for t, is_drawn in zip(truth, drawn, strict=True)]
    write_everywhere(folder / "docs.csv", columns)
    few = {name: column[:30] for name, column in columns.items()}
    write_everywhere(
        folder / "few.csv", {**few, "n": [round(5 * p, 1) for p in proba[:30]]}
    )
    write_csv(folder / "labelled.csv", {**columns, "label": labels})
    given = [{"id": f"d{k}", "label": truth[k]} for k in range(n) if drawn[k]]
    write_csv(
        folder / "given.csv",
        {name: [row[name] for row in given] for name in ("id", "label")},
    )
    victims = [round(5 * p * draw.random(), 2) for p in proba]
    killed = [
        int(3 * v) if is_drawn else ""
        for v, is_drawn in zip(victims, drawn, strict=True)
    ]
    counts = {
        **columns,
        "expected": victims,
        "victims": killed,
        "words": [50 + k % 70 for k in range(n)],
    }
    del counts["p"]
    write_csv(folder / "victims.csv", counts)
    countries = [("NA", "ZA")[k % 2] for k in range(n)]
    write_csv(folder / "codes.csv", {**columns, "paper": countries, "label": labels})
    german = [f"{day:%d.%m.%Y}" for day in days]
    write_csv(folder / "german.csv", {**columns, "date": german, "label": labels})
    election = [str(2000 + 4 * (k % 5)) for k in range(n)]
    write_csv(folder / "elections.csv", {**columns, "date": election, "label": labels})
    gap = [("2000", "2001", "2005")[k % 3] for k in range(n)]
    write_csv(folder / "missing_years.csv", {**columns, "date": gap, "label": labels})


def write_odd_files(folder: Path) -> None:
    """Write files that cannot be read, or that ask for care."""
    texts = {
        "empty.csv": "",
        "header.csv": "question,correct,confidence\n",
        "high.csv": "question,correct,confidence\na,1,0.9\nb,0,1.7\n",
        "words_only.csv": "question,correct,confidence\na,1,high\nb,0,low\n",
        "no_truth.csv": "question,confidence\na,0.9\nb,0.2\n",
        "ragged.csv": "question,correct,confidence\na,1,0.9,7\nb,0,0.1\n",
        "classes.csv": "y_true,p\nred,0.9\nblue,0.4\ngreen,0.5\n",
        "broken.json": '[{"question": "a", "correct": 1, ',
        "broken.jsonl": '{"question": "a", "correct": 1, "confidence": 0.5}\n{"quest\n',
        "notes.txt": "nothing here is a table\n",
        "formula.csv": "question,correct,confidence,subject\n"
        + "".join(
            f"q{k},{k % 2},0.{k % 9 + 1},{'=1+1' if k % 2 else '<b>x</b>'}\n"
            for k in range(40)
        ),
        "constant.csv": "question,small,large,temperature\n"
        + "".join(f"q{k},{k % 2},{int(k % 3 > 0)},0.7\n" for k in range(40)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8", newline="\n")
    (folder / "latin.csv").write_bytes(
        "question,correct\nwährend,1\n".encode("latin-1")
    )
    (folder / "binary.csv").write_bytes(bytes(range(256)))
