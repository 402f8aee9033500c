"""Many cases in one test, where a failure names its case."""

import contextlib


@contextlib.contextmanager
def case(name):
    """Add the name of a case to an error that is raised in the block."""
    try:
        yield
    except BaseException as error:  # failures of pytest are not of type Exception
        error.add_note(f"Case: {name}")
        raise
