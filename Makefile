# Each target works alone on a fresh Debian or Ubuntu with Python: it makes .venv and installs what it needs.
# Another interpreter: make test PYTHON=python3.12
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Three processes per two cores, at most eight: the tests start servers and crawls of their own, and wait for them. The
# tests of one file stay in one process, so that the servers and finished crawls that they share are made once. The files
# with slow tests begin: tests/slow.py orders them.
PROCESSES := $(shell cores=$$(nproc); echo $$(((3 * cores + 1) / 2)))
PYTEST := $(BIN)/python -m pytest -q -n $(PROCESSES) --maxprocesses 8 --dist loadfile --no-loadscope-reorder --durations 15
# The tests that reach a C kernel; two large files in their folders do not.
KERNEL_TESTS := tests/archive tests/extraction tests/judge tests/dedup tests/test_refine.py \
  --ignore tests/extraction/readers/test_encode.py --ignore tests/extraction/main/lines/test_source.py

# The tests start hundreds of Python processes: without bytecode files each of them would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs reference check test quick coverage test-reference test-sanitize test-long slow wheel sdist lock kernels bench format clean

demo: $(VENV)/installed
	$(BIN)/windrow demo

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src

test: check $(VENV)/system
	$(PYTEST)
	$(MAKE) test-reference

quick: $(VENV)/installed-dev $(VENV)/system
	$(PYTEST) -m 'not long and not slow'

test-long: $(VENV)/installed-dev $(VENV)/installed-spark $(VENV)/system $(VENV)/servers
	$(BIN)/python -m pytest -q -m long -o faulthandler_timeout=1200
	$(MAKE) test-sanitize

# The share of lines and branches that the tests run, those in other processes included; the report is in build/coverage.
coverage: $(VENV)/installed-dev $(VENV)/system
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST:$(BIN)/python -m %=%)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report --format total

# The kernels' tests on a copy of the tree without kernels: the reference implementations must give the same.
test-reference: $(VENV)/installed-dev
	$(call copy-tree,build/reference)
	cd build/reference && PYTHONPATH=.:src ../../$(PYTEST) --expect-kernels none -m 'not long and not slow' $(KERNEL_TESTS)

# The same tests and the hostile pages on a copy whose kernels are built with AddressSanitizer and UBSan. Both stop at
# the first error. CPython itself leaks at exit, so leaks are not checked. PYTHONMALLOC shows them every block.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -UNDEBUG -g -O1
SANITIZED = PYTHONPATH=.:src PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:log_path=$$PWD/sanitizer \
  UBSAN_OPTIONS=print_stacktrace=1:log_path=$$PWD/sanitizer \
  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
  ../../$(PYTEST) --expect-kernels all -o faulthandler_timeout=1200
test-sanitize: $(VENV)/installed-dev
	$(call copy-tree,build/sanitize)
	CC=gcc CFLAGS='$(SANITIZE)' $(BIN)/python hatch_build.py build/sanitize
	cd build/sanitize && { $(SANITIZED) $(KERNEL_TESTS) || { cat sanitizer.*; exit 1; }; }
	cd build/sanitize && { $(SANITIZED) -m long -k 'not without and not reference' tests/extraction/test_hostile.py \
	  || { cat sanitizer.*; exit 1; }; }

# The documentation as a site, in build/site: open index.html, no server is needed. A broken link fails.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "the documentation is in build/site/index.html"

# The pages of docs/ that are made from the program: commands and options; `python -m windrow.rules` prints the reasons.
reference: $(VENV)/installed
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python -m windrow.config > docs/configuration.md.new && mv docs/configuration.md.new docs/configuration.md
	$(BIN)/python -m windrow.rules > docs/reasons.md.new && mv docs/reasons.md.new docs/reasons.md
	$(BIN)/python tools/dashboard.py

# Measure every test and rewrite tests/slow.txt, the list of those that `make quick` leaves out.
slow: $(VENV)/installed-dev $(VENV)/system
	$(PYTEST) --write-slow

# A manylinux wheel with kernels, in dist/. It installs without a compiler. auditwheel chooses the platform tag.
wheel: $(VENV)/installed-dev
	rm -rf build/wheel
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir build/wheel .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl
	@ls dist/*.whl

# The sources as one file, in dist/.
sdist: $(VENV)/installed
	$(BIN)/python -m hatchling build --target sdist

# Write requirements/ again, with the versions of constraints.txt. This is the only use of uv.
lock: $(BIN)/python
	$(PIP) install --constraint constraints.txt uv
	$(BIN)/python tools/lock.py

# Build the C kernels in place, after a change of a C file.
kernels: $(BIN)/python
	$(BIN)/python hatch_build.py

bench:
	@sed -n '/^## Commands/,/^## /p' benchmarks/README.md | sed '/^## /d'

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build

# copy-tree DIRECTORY: a copy of the tree without kernels, beside a link to the shared data. -p keeps the times of the
# files, so that the bytecode files that are copied with them are valid.
define copy-tree
	rm -rf $(1) && mkdir -p $(1) && ln -sfn ../../shared build/shared
	cp -Rp src tests tools docs benchmarks deploy *.md *.toml *.yml *.cff *.txt *.py Makefile $(1)
	find $(1) -name '*.so' -delete
endef

# A half-made environment (Debian's python3 without python3-venv leaves one) is removed, so that the next run can succeed.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Windrow needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || sh .ci/system $(notdir $(PYTHON))-venv
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 2; }

# install FILES: what these files of requirements/ name, as they were when they were locked, and Windrow itself.
define install
	$(PIP) install --require-hashes $(1:%=--requirement requirements/%.txt)
	$(PIP) install --no-deps --no-build-isolation --editable .
endef

$(VENV)/installed: $(BIN)/python pyproject.toml $(wildcard requirements/*.txt)
	$(call install,base)
	@touch $@

$(VENV)/installed-dev: $(BIN)/python pyproject.toml $(wildcard requirements/*.txt)
	$(call install,base docs dev)
	@touch $@ $(VENV)/installed $(VENV)/installed-docs

$(VENV)/installed-docs: $(BIN)/python pyproject.toml $(wildcard requirements/*.txt)
	$(call install,base docs)
	@touch $@ $(VENV)/installed

# pyspark is 480 MB, so `make test` does without it and skips the tests of the engine on Spark.
$(VENV)/installed-spark: $(VENV)/installed-dev
	$(call install,base docs dev extras)
	@command -v java >/dev/null || sh .ci/system openjdk-17-jre-headless || echo "no Java: the tests on Spark are skipped"
	@touch $@

# Database servers and HDFS for the tests of `windrow store`, a network disk for those of nodes, and what builds and runs
# the container image; 540 MB, so `make test` does without those that are missing. An old pyspark has the NameNode and the
# DataNode, which newer ones leave out; Debian has what they need besides.
HADOOP := hadoop-common hadoop-hdfs hadoop-auth hadoop-annotations jetty javax.servlet-api commons-cli commons-codec \
  commons-collections commons-configuration commons-io commons-lang commons-logging guava protobuf-java netty-all \
  jackson-core-asl jackson-mapper-asl log4j slf4j-api slf4j-log4j12 htrace-core xmlenc leveldbjni-all httpclient httpcore \
  jakarta.xml.bind-api jakarta.activation-api
$(VENV)/servers: $(BIN)/python
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || sh .ci/system postgresql || echo "no PostgreSQL: its tests are skipped"
	@{ command -v mariadbd && command -v my_print_defaults; } >/dev/null || sh .ci/system mariadb-server-core mariadb-client-core || echo "no MariaDB: its tests are skipped"
	@command -v glusterfsd >/dev/null || sh .ci/system glusterfs-server || echo "no GlusterFS: the tests with a network disk are skipped"
	@{ command -v buildah && command -v debootstrap; } >/dev/null || sh .ci/system buildah debootstrap || echo "no buildah: the tests of the image are skipped"
	@ls /usr/share/java/jersey1-servlet.jar /usr/share/java/commons-daemon.jar /usr/share/java/asm.jar >/dev/null 2>&1 \
	  || sh .ci/system libjersey1-servlet-java libcommons-daemon-java libasm-java || echo "no Jersey: the tests on HDFS are skipped"
	@ls build/hadoop/hadoop-hdfs-*.jar >/dev/null 2>&1 || { rm -rf build/hadoop && mkdir -p build/hadoop/new \
	  && $(PIP) download --no-deps --dest build/hadoop/new pyspark==3.0.1 \
	  && tar xzf build/hadoop/new/pyspark-3.0.1.tar.gz -C build/hadoop --strip-components 3 --wildcards $(HADOOP:%='*/jars/%-*') \
	  && rm -r build/hadoop/new; } || { rm -rf build/hadoop; echo "no Hadoop: the tests on HDFS are skipped"; }
	@touch $@

# nginx serves the shared webs, Redis carries links between shards; without them (and without root) the tests that need
# them are skipped.
$(VENV)/system: $(BIN)/python
	@command -v nginx >/dev/null || sh .ci/system nginx-light || echo "no nginx: the tests on the shared webs are skipped"
	@command -v redis-server >/dev/null || sh .ci/system redis-server || echo "no Redis: the tests on it are skipped"
	@touch $@
