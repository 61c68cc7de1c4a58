# Every target sets up the virtual environment it needs; nothing but Python 3.11, git and make is assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_ALL := $(VENV)/.ready-all

.PHONY: demo model test test-all lint docs examples bench claims clean

$(READY): pyproject.toml constraints.txt models/biomed/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt -e '.[all,docs,dev]' -e models/biomed
	touch $@

# Ray and Spark are large, and only slow tests need them.
$(READY_ALL): $(READY)
	$(BIN)/pip install --quiet -c constraints.txt -e '.[ray,spark]'
	touch $@

demo: $(READY)  ## tag with the model biomed; then train, evaluate and tag on the built-in sample
	rm -rf quickstart-run
	$(BIN)/spanwright quickstart

CORPORA ?= ../shared/corpora
model: $(READY)  ## the model biomed, from the corpora to its package
	$(BIN)/python models/biomed/make.py --corpora $(CORPORA)

lint: $(READY)  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# One torch thread per worker: two workers on two cores, and runs that repeat bit for bit.
# Bytecode is kept, also where the environment says otherwise: each worker would rewrite every module again.
TESTS = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/pytest -q -n 2 --dist worksteal

test: lint  ## lint, and every quick test
	$(TESTS) -m "not slow"

test-all: lint $(READY_ALL)  ## lint, and every test, with more examples of each property
	$(TESTS) --hypothesis-profile thorough

docs: $(READY)  ## the site, in the folder site; broken links and missing pages are errors
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=tools/site $(BIN)/mkdocs build --strict

examples: $(READY)  ## run the examples of the README and the tutorials, and write what they print into the pages
	OMP_NUM_THREADS=1 PYTHONPATH=src:tests $(BIN)/python -m documentation.running_pages

bench: $(READY)  ## time of the plain recipe divided by the bare encoder's
	$(BIN)/python benchmarks/speed.py plain

claims: $(READY)  ## the page of claims, from the lines of finished runs
	$(BIN)/python benchmarks/claims/page.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis quickstart-run site
