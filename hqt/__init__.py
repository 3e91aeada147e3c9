"""hqt: coding agents as tmux windows, each, when asked, in a bubblewrap jail."""

__version__ = "0.1.0"
