#!/usr/bin/env bash
# Opens the page of `pgmbench report` in a real browser: Debian's Chromium, installed if it is
# missing.
#   scripts/test_report.sh [RESULTS [PICTURES]]
# RESULTS is a folder of results (default: the kept ones), PICTURES where screenshots go.
set -euo pipefail
cd "$(dirname "$0")/.."

results=${1:-results/reference}
program=${PGMBENCH:-cargo run --release --quiet --}

if ! command -v chromium > /dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
$program report --results "$results" --out "$folder/report.html"
python3 scripts/test_report.py "$folder/report.html" ${2:+--pictures "$2"}

# A checker that never complains is none: a page with a broken link and an error in its script must
# not pass.
sed -e 's/href="#main"/href="#nowhere"/' -e 's/"use strict";/"use strict"; missing();/' \
    "$folder/report.html" > "$folder/broken.html"
if python3 scripts/test_report.py "$folder/broken.html" > "$folder/said" 2>&1; then
    echo "a broken page has passed" >&2
    exit 1
fi
for complaint in "leads nowhere" "console:"; do
    grep -q "$complaint" "$folder/said" || { cat "$folder/said" >&2; exit 1; }
done
