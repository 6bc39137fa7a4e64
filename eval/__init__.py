"""The evaluation harness: question sets in, scored answers out."""
