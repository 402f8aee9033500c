"""Put the train file of GUM together from the documents of the release.

    python benchmarks/build_gum_train.py UD_English-GUM gum DATA_HOME

UD_English-GUM is a checkout of https://github.com/UniversalDependencies/UD_English-GUM
at the tag r2.16, gum one of https://github.com/amir-zeldes/gum at the tag V11.1.0. The
file goes to DATA_HOME/gum, where `fetch_corpus('gum')` finds it. It differs from
the released file in `Discourse=` and in the order of comments. Documents from Reddit,
whose words are withheld, are left out as in the release.
"""

import re
from pathlib import Path

import _study

from skcalib.datasets._files import checksum, registry

NAME = "en_gum-ud-train.rebuilt.conllu"


def train_documents(splits):
    """Return the names of the train documents in the text of splits.md, sorted."""
    (part,) = re.findall(r"^## train\n(.*?)(?=^## |\Z)", splits, re.DOTALL | re.M)
    names = re.findall(r"^ *\* *(\w+)", part, re.MULTILINE)
    return sorted(name for name in names if not name.startswith("GUM_reddit_"))


def build(release, source, data_home):
    """Write the file and check it against the registry of data sets."""
    path = data_home / "gum" / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    names = train_documents((source / "splits.md").read_text("utf-8"))
    with path.open("wb") as out:
        for name in names:
            document = release / "not-to-release" / "sources" / f"{name}.conllu"
            out.write(document.read_bytes())
    expected = registry()["gum"]["files"][NAME]["sha256"]
    if checksum(path, "sha256") != expected:
        raise SystemExit(f"{path} does not have the checksum {expected}")
    print(f"{len(names)} documents: {path}")


def main():
    parser = _study.parser_of(__doc__)
    for name in ("release", "source", "data_home"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    build(options.release, options.source, options.data_home)


if __name__ == "__main__":
    main()
