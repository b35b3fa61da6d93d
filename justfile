# `just --list` shows what there is to do; `./setup.sh` installs what it needs.

set shell := ["bash", "-euo", "pipefail", "-c"]

# Any LLVM/MLIR 22; the default is where Debian's packages put it.
llvm := env("LLVM_PREFIX", "/usr/lib/llvm-22")
export MLIR_SYS_220_PREFIX := llvm
export TABLEGEN_220_PREFIX := llvm
export LLVM_SYS_221_PREFIX := llvm
export LIBCLANG_PATH := llvm / "lib"
export PATH := llvm / "bin" + ":" + env("PATH")

target := env("CARGO_TARGET_DIR", justfile_directory() / "target")
shared := env("NEAP_SHARED", justfile_directory() / ".." / "shared")
python := justfile_directory() / ".venv/bin/python"

# List the recipes.
default:
    @just --list --unsorted

# Build release, compile a model, run it, and print outputs, latency and peak memory.
demo: (_build "release")
    testsuite/demo.sh {{ target }}/release/neap

# All tests that need no download; some of them run the built `neap`.
test: (_build "dev")
    cargo test --workspace

# Both back ends on real models: against the stored outputs, against onnxruntime, and against each other bit by bit.
test-models *args: models (_build "dev")
    {{ python }} testsuite/models/check.py --neap {{ target }}/debug/neap --shared {{ shared }} {{ args }}
    {{ python }} testsuite/models/tutorial.py --neap {{ target }}/debug/neap docs/tutorial.md README.md

# Make .venv with onnxruntime and fetch the trained models into models/.
models: _venv
    if [ -f {{ shared }}/models/fetch.py ]; then {{ python }} {{ shared }}/models/fetch.py models; \
    else echo "no {{ shared }}/models/fetch.py: the trained models are left out (NEAP_SHARED says where it is)"; fi

# Time neap, onnxruntime and OpenVINO side by side, interleaved, on 1 and 2 threads.
bench-peers *args: _venv (_build "release")
    cargo build --release -p neap-runtime
    {{ python }} testsuite/benches/peers.py --neap {{ target }}/release/neap --library {{ target }}/release/libneap_runtime.so {{ args }}

# Peak memory of neap and onnxruntime, to the byte, on seven networks.
bench-memory *args: _venv (_build "release")
    cargo build --release -p neap-runtime
    cc -O2 -shared -fPIC -Wall -Wextra -o {{ target }}/release/libmemory_shim.so testsuite/benches/memory_shim.c -ldl -lpthread
    {{ python }} testsuite/benches/memory.py --neap {{ target }}/release/neap --library {{ target }}/release/libneap_runtime.so \
        --shim {{ target }}/release/libmemory_shim.so {{ args }}

# Write docs/generated/plan.md: the memory planner on tables of buffers and on the zoo's networks, against simple orders.
bench-plan: (_build "release")
    if [ -d {{ shared }}/data ]; then testsuite/benches/plan.sh {{ target }}/release/neap {{ shared }} > {{ target }}/plan.md \
    && cp {{ target }}/plan.md docs/generated/plan.md && cat docs/generated/plan.md; \
    else echo "no {{ shared }}/data: there are no tables to place (NEAP_SHARED says where the folder shared is)"; exit 1; fi

# Criterion benchmarks of compile phases and kernels.
bench-criterion *args:
    cargo bench --workspace --benches -- {{ args }}

# Build the documentation's site into target/site, with mdBook (installed into the build folder if it is not there).
site:
    command -v mdbook >/dev/null || [ -x {{ target }}/tools/bin/mdbook ] || cargo install --quiet mdbook --root {{ target }}/tools
    PATH="$PATH:{{ target }}/tools/bin" mdbook build docs --dest-dir {{ target }}/site

# Fuzz the planner: TARGET is problem, table or plan. Needs no nightly Rust; what it finds lies in target/fuzz/found.
fuzz TARGET SECONDS="60":
    mkdir -p {{ target }}/fuzz/corpus/{{ TARGET }} {{ target }}/fuzz/found
    RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
      -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
      -Cllvm-args=-sanitizer-coverage-trace-compares" \
    cargo run --release --manifest-path testsuite/fuzz/Cargo.toml --target-dir {{ target }}/fuzz/build \
      --target "$(rustc -vV | sed -n 's/^host: //p')" --bin {{ TARGET }} -- \
      -max_total_time={{ SECONDS }} -timeout=20 -max_len=4096 -dict=testsuite/fuzz/{{ TARGET }}.dict \
      -artifact_prefix={{ target }}/fuzz/found/{{ TARGET }}- \
      {{ target }}/fuzz/corpus/{{ TARGET }} testsuite/fuzz/seeds/{{ TARGET }}

# Write the op table and the pages of ops and passes anew from their sources.
generate: (_build "dev")
    cargo run --quiet -p neap-optable --example neap-gen
    {{ target }}/debug/neap-opt --pass-docs > docs/generated/passes.md

# Rewrite the sources in the project's format.
fmt:
    cargo fmt --all

# Check the format without changing anything.
fmt-check:
    cargo fmt --all -- --check

# Lints, all of them errors.
clippy:
    cargo clippy --workspace --all-targets -- -D warnings

# The rules about files, crates and names that no compiler checks.
tidy:
    cargo test --quiet -p neap-testsuite --test tidy

# The Rust documentation of every crate.
doc:
    cargo doc --workspace --no-deps

[private]
_build profile:
    cargo build --profile {{ profile }} -p neap-driver

[private]
_venv:
    [ -x {{ python }} ] || python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check -r testsuite/models/requirements.txt
