#!/usr/bin/env bash
# Runs every experiment of the papers, draws its figures and makes a page of them, report.html. A run
# that was stopped goes on where it was. With --keep, what may be passed on of the results is copied to
# results/reference.
set -euo pipefail
cd "$(dirname "$0")/.."

keep=false
case "${1:-}" in
    "") ;;
    --keep) keep=true ;;
    *) echo "usage: scripts/reproduce.sh [--keep]" >&2; exit 2 ;;
esac

program() { cargo run --release --quiet -- "$@"; }

program run configs/table1.toml
program run configs/fig1.toml
program run configs/fig2a.toml
# One at a time, for honest clocks.
program run configs/fig2b.toml --timing
program run configs/fig3.toml
for config in configs/kdd-*.toml; do
    program run "$config"
done
program report --out report.html

if $keep; then
    for name in fig1 fig2a fig2b fig3 kdd-fig511 kdd-fig521 kdd-fig522 kdd-fig531 kdd-fig532; do
        mkdir -p "results/reference/$name"
        # No rows of trials: those of imported data are not ours to pass on.
        for file in figure.svg figure.png figure-column.svg figure-column.png summary.csv claims.csv \
            manifest.json; do
            cp "results/$name/$file" "results/reference/$name/"
        done
    done
fi
