#!/usr/bin/env bash
# usage: plan.sh NEAP SHARED -- prints the planner's figures: the zoo's networks as memory problems, then all tables.
set -euo pipefail
neap=$1 shared=$2
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/problems"
for model in $("$neap" zoo list | cut -d' ' -f1); do
    "$neap" zoo "$model" -o "$work/model.onnx" >&2
    "$neap" plan "$work/model.onnx" --heuristic --problem "$work/problems/$model.json" > "$work/table"
done
cargo run --quiet --release -p neap-plan --example figures -- "$shared" "$work/problems"
