"""What does not fit is a MemoryError with its size, before the work."""

from __future__ import annotations

import itertools
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from pgmbench import (
    CliqueVector,
    Constraint,
    Dataset,
    Domain,
    Factor,
    LinearMeasurement,
    MarkovRandomField,
    marginal_oracles,
)

NAMES = [f"x{index}" for index in range(40)]
DOMAIN = Domain(NAMES, [20] * 40)
CHAIN = CliqueVector.zeros(DOMAIN, list(zip(NAMES, NAMES[1:])))
MODEL = MarkovRandomField(CHAIN, CHAIN, 100.0)
DATA = Dataset.synthetic(DOMAIN, 10, seed=1)
MEASURED = [LinearMeasurement(np.ones(20), ("x0",))]
TRIANGLES = [(a, b) for a in NAMES[:12] for b in NAMES[:12] if a < b]
LARGE = {
    "a marginal": lambda: MODEL.project(NAMES[:7]),
    "the joint table": lambda: MODEL.project(NAMES),
    "many marginals": lambda: MODEL.project_many(
        list(
            # Each is below the limit, with 64 million cells; all have 6e9 of them.
            itertools.islice(itertools.combinations(NAMES, 6), 100)
        )
    ),
    "a conditional": lambda: MODEL.conditional(NAMES[:7], {"x9": 1}),
    "answers": lambda: MODEL.answer({name: "prefix" for name in NAMES[:7]}),
    "records": lambda: MODEL.synthetic_data(10**12),
    "absurdly many records": lambda: MODEL.synthetic_data(10**400),
    "variances": lambda: MODEL.variance(NAMES[:7], measurements=MEASURED, known_total=100),
    "residuals": lambda: MODEL.variance(
        NAMES[:7], method="residuals", measurements=MEASURED, known_total=100
    ),
    "a larger clique": lambda: CHAIN.expand([tuple(NAMES[:8])]),
    "zeros": lambda: Factor.zeros(DOMAIN),
    "a product": lambda: (
        Factor.abstract(DOMAIN.project(NAMES[:6])) * Factor.abstract(DOMAIN.project(NAMES[6:12]))
    ),
    "a joint table of data": lambda: DATA.datavector(),
    "a marginal of data": lambda: DATA.project(NAMES[:8]),
    "records of data": lambda: DATA.synthetic_data(10**12),
    "uniform records": lambda: Dataset.synthetic(DOMAIN, 10**12),
    "a constraint": lambda: (
        Constraint(DOMAIN.project(NAMES[:8]), invalid=np.zeros((1, 8), dtype=int)).potential
    ),
    "a junction tree": lambda: marginal_oracles.exact_marginals(
        CliqueVector.zeros(DOMAIN, TRIANGLES)
    ),
    "brute force": lambda: marginal_oracles.brute_force_marginals(CHAIN),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_does_not_fit_is_refused_before_the_work(name):
    began = time.monotonic()
    with pytest.raises(MemoryError, match=r"\d"):
        LARGE[name]()
    assert time.monotonic() - began < 10


def test_a_table_of_many_attributes_with_one_value_fits():
    domain = Domain(NAMES, [1] * 39 + [3])
    potentials = CliqueVector.zeros(domain, [("x0", "x39")])
    model = MarkovRandomField(potentials, potentials, 6.0)
    # NumPy 1 has no arrays with more than 32 axes.
    if int(np.__version__.split(".")[0]) > 1:
        np.testing.assert_allclose(model.project(NAMES).values.ravel(), 2.0)
    np.testing.assert_allclose(model.project(NAMES[8:]).values.ravel(), 2.0)


def test_no_memory_left_is_a_memory_error():
    """In a process that may have little: all of it would fit into the machine."""
    pytest.importorskip("resource")
    program = """
        import resource
        import numpy as np
        from pgmbench import CliqueVector, Domain, MarkovRandomField

        names = [f"x{index}" for index in range(8)]
        domain = Domain(names, [20] * 8)
        chain = CliqueVector.zeros(domain, list(zip(names, names[1:])))
        model = MarkovRandomField(chain, chain, 100.0)
        model.project(("x0", "x7"))
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 400_000_000,) * 2)
        for call in (
            lambda: model.project(names[:6]),
            lambda: model.project(names[2:8]),
            lambda: model.synthetic_data(20_000_000),
            lambda: CliqueVector.zeros(domain, [tuple(names[:6])]),
        ):
            try:
                call()
            except MemoryError as error:
                print("MemoryError", error)
        print(float(model.project(("x0", "x3")).sum()))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "/proc/self/statm" in done.stderr:
        pytest.skip("no /proc here")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["MemoryError"] * 4 + ["100.0"], done
