"""What hqt does, as functions that decide; the edges (tmux, database, bwrap) act for them."""
