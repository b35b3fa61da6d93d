#!/usr/bin/env bash
# The demo: a model in, a running program out. usage: demo.sh path/to/neap
set -euo pipefail
neap=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
step() { printf '\n$ neap %s\n' "$*"; (cd "$folder" && "$neap" "$@"); }

step zoo mobilenet-v2 -o model.onnx
step inspect model.onnx
step compile model.onnx -o model.neap
step run model.neap --random 1
step bench model.neap --threads 1
