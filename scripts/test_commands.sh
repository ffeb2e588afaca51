#!/usr/bin/env bash
# The mechanism and the estimator in Python of examples/commands, from an empty folder.
# Usage: scripts/test_commands.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root"/examples/commands/* "$folder"
cd "$folder"

fail() { echo "$*"; exit 1; }

"$program" run experiment.toml > said.txt 2> notes.txt || { cat said.txt notes.txt; exit 1; }
grep -q "holds" said.txt || { cat said.txt; fail "the claim does not hold"; }
grep -q "not verified" results/commands/ledger.jsonl || fail "the ledger does not say that it is a claim"
"$program" verify commands --trials 1000 --config-dir . || fail "the same seed gave other numbers"

# A sound mechanism passes; one with a hundredth of the noise does not.
"$program" audit experiment.toml --epsilon 1 --trials 300
sed 's/^command = \["python3", "mechanism.py"\]/&\nparameters = { noise = 0.01 }/' \
    experiment.toml > broken.toml
code=0
"$program" audit broken.toml --epsilon 1 --trials 300 || code=$?
[ "$code" -eq 1 ] || fail "the audit has not refuted a mechanism with too little noise"

# Measurements that the estimator cannot use.
sed 's/^prefix = .*/prefix = ["Pclass"]/' experiment.toml > prefix.toml
"$program" run prefix.toml --results other > said.txt 2> notes.txt || { cat said.txt notes.txt; exit 1; }
echo "commands in Python: all is well"
