"""The environment in which records are compared to the last digit."""

import importlib.metadata
import platform
import re
import sys
from pathlib import Path

import numpy as np

PATH = Path(__file__).parent / "environment.txt"

_PACKAGES = [
    *("matplotlib", "numpy", "pandas", "pyarrow", "python-crfsuite", "sacrebleu"),
    *("scikit-learn", "scipy", "sklearn-crfsuite"),
]


def current() -> str:
    """Describe the running environment as a file of constraints for pip."""
    python = ".".join(map(str, sys.version_info[:2]))
    # The last digits of exp, log and sums depend on the instructions that NumPy finds,
    # and on the processor for which OpenBLAS and the C library choose their code.
    simd = np.show_config(mode="dicts")["SIMD Extensions"].get("found", ["none"])[-1]
    lines = [f"{name}=={importlib.metadata.version(name)}" for name in _PACKAGES]
    system = f"{platform.system()} {platform.machine()} {simd} {_processor()}"
    return "\n".join([f"# Python {python}, {system}", *lines, ""])


def _processor() -> str:
    """Return vendor, family and model of the processor, where Linux tells them."""
    path = Path("/proc/cpuinfo")
    text = path.read_text("utf-8") if path.exists() else ""
    found = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (.+)$", text, re.M))
    return " ".join(found.values()) or "unknown"


def is_pinned() -> bool:
    return PATH.exists() and PATH.read_text("utf-8") == current()
