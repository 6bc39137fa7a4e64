"""What can go wrong with an evaluation.

EvalError                 what every error of this package is
└── SuiteError            a suite's file cannot be read, or a row of it is wrong
"""

from __future__ import annotations


class EvalError(Exception):
    """Base of every error of `eval`; its message is one line: what, where, what to do."""


class SuiteError(EvalError):
    """A suite's file cannot be read, or a row of it is wrong."""
