"""Answers about scientific papers from their abstracts, each sentence with a reference that can be checked."""
