#!/usr/bin/env bash
# What takes too long for every change: each reader of files is fuzzed, ten minutes in total, with
# another seed each night. Seeds and corpus (fuzz/corpus) come first. An input that is found is in
# fuzz/findings; once repaired it belongs to the corpus. SECONDS_PER_TARGET and SEED override.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_PER_TARGET:-86}
seed=${SEED:-$(date +%Y%m%d)}
echo "fuzzing with --seed $seed"
cargo run --release --quiet --manifest-path fuzz/Cargo.toml -- all --seconds "$seconds" --seed "$seed"
