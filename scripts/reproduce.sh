#!/usr/bin/env bash
# Runs every experiment of the papers, draws its figures and makes a page of them, report.html. A
# run that was stopped goes on where it was. With --keep, what may be passed on of the results is
# copied to results/reference, and docs/reproduction.md is made from it.
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
program run configs/fig1-workloads.toml
# One at a time, because one arm may need all of 16 GB.
program run configs/fig1-limits.toml --timing
program run configs/fig1-lbfgs.toml
program run configs/fig2a.toml
# One at a time, for honest clocks.
program run configs/fig2b.toml --timing
program run configs/fig3.toml
program run configs/rates.toml
for config in configs/smoke.toml configs/kdd-*.toml configs/pmw-*.toml; do
    program run "$config"
done
for name in residual-planner error-bars estimators aim-fig aim-target aim-skewed; do
    program run "configs/$name.toml"
done
# One at a time, for honest clocks.
program run configs/aim-scale.toml --timing
program report --out report.html

if $keep; then
    for config in configs/*.toml; do
        name=$(basename "$config" .toml)
        mkdir -p "results/reference/$name"
        # No rows of trials: those of imported data are not ours to pass on.
        for file in figure.svg figure.png figure-column.svg figure-column.png summary.csv claims.csv \
            manifest.json; do
            # A table has no figure.
            [ ! -e "results/$name/$file" ] || cp "results/$name/$file" "results/reference/$name/"
        done
    done
    program report --results results/reference --markdown docs/reproduction.md
fi
