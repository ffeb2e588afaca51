from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__version__: str

Array = npt.NDArray[np.float64]
Table = tuple[list[int], Array]
Factor = tuple[str, Any]
Parameters = tuple[float | None, float | None, float | None]

class Domain:
    def __new__(cls, attributes: Sequence[tuple[str, int]]) -> Domain: ...

class Measurement:
    @staticmethod
    def kronecker(
        domain: Domain,
        attributes: Sequence[int],
        queries: Sequence[Factor] | None,
        answers: Array,
        stddev: float,
    ) -> Measurement: ...
    @staticmethod
    def dense(
        domain: Domain, attributes: Sequence[int], queries: Array, answers: Array, stddev: float
    ) -> Measurement: ...
    @staticmethod
    def sparse(
        domain: Domain,
        attributes: Sequence[int],
        columns: int,
        starts: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int64],
        values: Array,
        answers: Array,
        stddev: float,
    ) -> Measurement: ...

def estimate_total(measurements: Sequence[Measurement]) -> float | None: ...

class Model:
    def __new__(cls, domain: Domain, tables: Sequence[Table], total: float) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    @property
    def attributes(self) -> list[tuple[str, int]]: ...
    @property
    def total(self) -> float: ...
    @property
    def potentials(self) -> list[Table]: ...
    def marginals(self, attributes: Sequence[Sequence[int]]) -> list[Array]: ...
    def approximate(self, oracle: str, sweeps: int, damping: float) -> tuple[list[Table], bool]: ...
    def conditional(self, attributes: Sequence[int], given: Sequence[tuple[int, int]]) -> Array: ...
    def answer(self, queries: Sequence[tuple[int, Factor]]) -> Array: ...
    def sample(self, records: int, rounded: bool, seed: int) -> list[npt.NDArray[np.uint32]]: ...

class Estimate:
    @property
    def model(self) -> Model: ...
    @property
    def marginals(self) -> list[Table]: ...
    @property
    def loss(self) -> float: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def iterations(self) -> int: ...
    @property
    def reason(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def bytes(self) -> float: ...

def estimate(
    domain: Domain,
    measurements: Sequence[Measurement],
    *,
    total: float,
    zeros: Sequence[tuple[list[int], npt.NDArray[np.bool_]]],
    algorithm: str,
    step: float | None,
    norm: str,
    oracle: str,
    iterations: int | None,
    gap: float | None,
    memory_limit: int | None,
    time_limit: float | None,
    warm_start: Model | None,
    observer: Callable[[int, float, float | None, list[Table]], object] | None,
    observe_every: int,
    loss: Callable[[list[Table]], tuple[float, list[Table]]] | None,
    loss_cliques: Sequence[Sequence[int]],
    smoothness: float | None,
) -> Estimate: ...
def default_memory_limit() -> int: ...
def check_memory(what: str, bytes: float) -> None: ...
def simulated_errors(
    model: Model,
    measurements: Sequence[Measurement],
    *,
    zeros: Sequence[tuple[list[int], npt.NDArray[np.bool_]]],
    total_is_estimated: bool,
    norm: str,
    oracle: str,
    attributes: Sequence[Sequence[int]],
    replicates: int,
    seed: int,
    memory_limit: int | None,
    time_limit: float | None,
) -> list[Array]: ...
def unbiased_marginal(
    domain: Domain,
    measurements: Sequence[Measurement],
    total: float | None,
    attributes: Sequence[int],
) -> tuple[Array, float]: ...
def z_score(confidence: float) -> float: ...

class JunctionTree:
    def __new__(cls, domain: Domain, cliques: Sequence[Sequence[int]]) -> JunctionTree: ...
    @property
    def cliques(self) -> list[list[int]]: ...
    @property
    def edges(self) -> list[tuple[int, int]]: ...
    @property
    def elimination_order(self) -> list[int]: ...
    @property
    def cells(self) -> float: ...

class NoiseSource:
    def __new__(cls, seed: str | None = None) -> NoiseSource: ...

class Budget:
    def __new__(cls, total: Parameters, relation: str) -> Budget: ...
    def spend(self, request: Parameters) -> Share: ...
    def rest(self) -> Share: ...
    @property
    def total(self) -> Parameters: ...
    @property
    def remaining(self) -> Parameters | None: ...
    def ledger(self) -> Ledger: ...

class Share:
    @property
    def guarantee(self) -> Parameters: ...
    def split(self, weights: Sequence[float]) -> list[Share]: ...
    def parallel(self, parts: int) -> list[Share]: ...
    def draw(
        self,
        gaussian: bool,
        label: str,
        answers: Array,
        sensitivity: float,
        line: str,
        source: NoiseSource,
    ) -> tuple[Array, float, float]: ...
    def select(
        self,
        label: str,
        scores: Array,
        sensitivity: float,
        monotone: bool,
        count: int,
        source: NoiseSource,
    ) -> list[int]: ...

class Ledger:
    def json_lines(self) -> str: ...
    @staticmethod
    def read(text: str, total: Parameters, relation: str) -> Ledger: ...
    def verify(self, total: Parameters) -> Parameters | None: ...

def rho_implying(epsilon: float, delta: float) -> float: ...
def epsilon_of_rho(rho: float, delta: float) -> float: ...
def run_experiment(
    file: str,
    results: str,
    *,
    quick: bool,
    trials: int | None,
    iterations: int | None,
    only: tuple[list[str], list[str], list[str], list[float]],
    jobs: int | None,
    timing: bool,
    fresh: bool,
    observer: Callable[[str, str, int], object],
) -> tuple[str, list[int]]: ...
def analyse_results(folder: str) -> None: ...
