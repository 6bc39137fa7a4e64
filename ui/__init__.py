"""The two faces of Footnote for people: the command line and the chat page."""
