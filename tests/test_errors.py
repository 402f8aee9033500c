"""Messages about arguments: control characters, and messages that are too long."""

import json
import re

import pytest

from skcalib import read_evaluation
from skcalib._errors import ParameterError, ParameterTypeError


def test_messages_of_the_api_have_no_control_characters():
    error = ParameterError("path", "must be a table. Got \x1b[31m\u202e\x00.", "read")
    assert str(error) == (
        "The 'path' parameter of read must be a table. Got \\x1b[31m\\u202e\\x00."
    )
    assert str(ParameterTypeError(None, "takes one\nline")) == (
        "The function takes one\\nline"
    )


def test_long_messages_of_the_api_keep_their_start_and_their_end():
    problem = f"must be small. Got {'x' * 10_000}. Use another."
    message = str(ParameterError("y", problem, "f"))
    assert len(message) < 2100
    assert message.startswith("The 'y' parameter of f must be small. Got xxx")
    assert message.endswith("xxx. Use another.")
    left_out = re.search(r"\(([\d,]+) characters left out\)", message)[1]
    assert int(left_out.replace(",", "")) == len(problem) - 2000
    assert ParameterError("y", problem).problem == problem


NAMES = ["a\x1b[31m", "b\u202e", "c"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_names_of_columns_in_a_message_are_printable(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        path.write_text(",".join(NAMES) + "\n1,2,3\n", "utf-8")
    elif suffix == "jsonl":
        path.write_text((json.dumps(dict.fromkeys(NAMES, 1)) + "\n") * 2)
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pytest.importorskip("pyarrow").table({name: [1] for name in NAMES})
        parquet.write_table(table, path)
    with pytest.raises(ValueError, match="columns") as error:
        read_evaluation(path)
    assert "a\\x1b[31m, b\\u202e, c" in str(error.value)
    assert str(error.value).isprintable()
