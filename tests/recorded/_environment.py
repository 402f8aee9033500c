"""The environment in which records are compared to the last digit."""

import importlib.metadata
import platform
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
    # The last digits of exp and log depend on the instructions that NumPy finds.
    simd = np.show_config(mode="dicts")["SIMD Extensions"].get("found", ["none"])[-1]
    lines = [f"{name}=={importlib.metadata.version(name)}" for name in _PACKAGES]
    system = f"{platform.system()} {platform.machine()} {simd}"
    return "\n".join([f"# Python {python}, {system}", *lines, ""])


def is_pinned() -> bool:
    return PATH.exists() and PATH.read_text("utf-8") == current()
