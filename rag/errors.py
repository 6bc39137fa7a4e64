"""What can go wrong between a question and its answer.

FootnoteError             what every error of this package is
├── UsageError            a wrong argument, spec, setting or file name: the caller can mend it
│   └── UnknownSpec       an embedder, LLM, reranker or verifier spec that no table knows
├── MissingPackage        an optional package is not installed
├── MissingKey            an environment variable that a provider needs is not set
├── LoadError             a papers file cannot be read at all (single bad records are rejects, not errors)
├── ModelError            a model's files are damaged, or it cannot be loaded
└── BackendError          an LLM or embedding service failed
"""

from __future__ import annotations


class FootnoteError(Exception):
    """Base of every error of `rag`; its message is one line: what, where, what to do."""


class UsageError(FootnoteError):
    """The call itself is wrong; its message says how to mend it."""


class UnknownSpec(UsageError):
    """No embedder, LLM, reranker or verifier is known by that spec."""


class MissingPackage(FootnoteError):
    """An optional package is not installed; the message holds the exact pip line."""


class MissingKey(FootnoteError):
    """A provider's key is not set; the message names the variable."""


class LoadError(FootnoteError):
    """A papers file cannot be read at all."""


class ModelError(FootnoteError):
    """A model cannot be loaded, or its files are not the published ones."""


class BackendError(FootnoteError):
    """An LLM or embedding service failed."""
