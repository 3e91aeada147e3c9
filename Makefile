# `make` prints what there is. PYTHON chooses the interpreter (3.11 or newer) of the virtual environment.
PYTHON ?= $(shell for p in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
export PYTHON
NEEDED = tmux=tmux bwrap=bubblewrap

.PHONY: help
help: ## Print the targets.
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: demo
demo: .venv/installed ## Install what is missing, and start a sandboxed session that shows what a jail can see.
	@scripts/demo

.PHONY: test
test: .venv/dev ## Install what the tests need, and run them all.
	@scripts/require $(NEEDED) git=git runuser=util-linux systemd-run=systemd zsh=zsh fish=fish less=less \
		busybox=busybox-static gpg=gnupg ssh-keygen=openssh-client script=bsdutils /usr/include/asm-generic/unistd.h=linux-libc-dev
	@scripts/install-harnesses
	.venv/bin/pytest -n 5 --dist loadgroup $(ARGS)

.PHONY: lowest
lowest: .venv/dev ## Test with the lowest versions of the dependencies.
	@scripts/lowest

.PHONY: lint
lint: .venv/dev ## Check the format, the style, the types and the shell scripts.
	@scripts/require shellcheck=shellcheck
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache --no-logo
	.venv/bin/codespell
	shellcheck .ci/run bench/install-peers scripts/demo scripts/install-harnesses scripts/lowest scripts/require tmux/hqt.tmux tmux/status.sh
	shellcheck --shell bash completions/hqt.bash

.PHONY: bench
bench: .venv/dev ## Measure hqt against its floors and its peers, in one run.
	@bench/install-peers
	PYTHONPATH=. .venv/bin/python bench/bench.py

.PHONY: soak
soak: .venv/dev ## Make, stop, attach and remove a thousand sessions, and count what is left.
	.venv/bin/python bench/soak.py

.PHONY: lock
lock: .venv/dev ## Choose the versions of the development environment anew.
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --group dev --no-emit-index-url \
		--no-header --generate-hashes --no-annotate pyproject.toml -o requirements-dev.txt

.PHONY: completions
completions: .venv/dev ## Write the shells' completions anew from the command line.
	.venv/bin/python scripts/completions.py

.PHONY: harnesses
harnesses: .venv/dev ## Write the facts of docs/harnesses.md anew from the code.
	PYTHONPATH=. .venv/bin/python scripts/harnesses.py

.PHONY: reference
reference: .venv/dev ## Write docs/reference.md anew from the command line.
	PYTHONPATH=. .venv/bin/python scripts/reference.py

.PHONY: man
man: .venv/dev ## Write the manual page anew from the command line.
	.venv/bin/python scripts/man.py

.PHONY: site
site: .venv/dev ## Build the pages of docs/ as a site, in site/; a link that leads nowhere is an error.
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet

.PHONY: pictures
pictures: .venv/dev ## Take the pictures of docs/ anew.
	.venv/bin/python scripts/pictures.py

.PHONY: clean
clean: ## Remove what the other targets made.
	rm -rf .venv .venv-lowest .harnesses .peers dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache

.venv/installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is missing" >&2; exit 1; }
	@scripts/require $(NEEDED)
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/dev: requirements-dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is missing" >&2; exit 1; }
	@scripts/require $(NEEDED)
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
