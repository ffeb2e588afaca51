#!/usr/bin/env bash
# The Python package as a user gets it: builds the wheel, installs it into fresh environments in a
# folder, and runs its tests, those with mbi and OpenDP, the type checker and the notebooks.
#
#     scripts/test_python.sh FOLDER
#
# Needs Python 3.10 or newer, a Rust toolchain and the package index.
set -euo pipefail
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$PWD
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PYTHONDONTWRITEBYTECODE=1

started=$SECONDS
part() { printf -- '-- %s (%d s)\n' "$*" $((SECONDS - started)); }

# environment NAME REQUIREMENT...: a virtual environment with the wheel and these packages.
environment() {
    python3 -m venv "$folder/$1"
    "$folder/$1/bin/pip" install "$wheel" pytest "${@:2}"
}

# From the folder of the tests: in python/ there is the package without its extension module.
tests() {
    local name=$1
    shift
    (cd python/tests && "$folder/$name/bin/python" -m pytest -q -p no:cacheprovider "$@")
}

notebook() {
    local bin=$folder/$1/bin
    PATH=$bin:$PATH "$bin/jupyter" nbconvert --to notebook --execute --log-level=ERROR \
        --ExecutePreprocessor.timeout=600 --output-dir "$folder/notebooks" "docs/notebooks/$2.ipynb"
}

part "the wheel"
python3 -m venv "$folder/build"
"$folder/build/bin/pip" wheel --no-deps --wheel-dir "$folder/wheels" ./python
wheel=$(ls "$folder"/wheels/pgmbench-*.whl)
size=$(wc -c < "$wheel")
printf '%s: %d bytes\n' "$(basename "$wheel")" "$size"
[ "$size" -lt 10000000 ] || { echo "expected a wheel below 10 MB"; exit 1; }

part "its own tests, types and notebook"
environment own pandas polars pyarrow matplotlib nbconvert ipykernel 'pyright[nodejs]'
tests own --ignore=peers .
# The sources are checked, with the stub of the extension module.
(cd python && "$folder/own/bin/pyright" --pythonpath "$folder/own/bin/python")
notebook own figure1

part "in programs on mbi 2.0"
environment mbi mbi==2.0.0 parameterized
tests mbi -s peers
MBI_UNDER_TEST=mbi tests mbi test_mbi_interface_values.py
mkdir -p "$folder/suite"
"$folder/mbi/bin/python" python/tests/peers/mbi_suite.py "$folder/suite"

part "in OpenDP's mechanisms"
environment opendp 'opendp[mbi]==0.16.0' pandas nbconvert ipykernel
tests opendp -s peers
notebook opendp opendp_aim

cd "$root"
part "done"
