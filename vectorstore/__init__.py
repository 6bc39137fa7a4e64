"""An index of passages: Chroma for their meaning, a lexical index for their words."""
