"""`python -m hqt` is `hqt`."""

from hqt.cli import main

main()
