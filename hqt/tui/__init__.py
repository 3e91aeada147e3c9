"""The screens inside tmux, by textual: they ask and show; services decide."""
