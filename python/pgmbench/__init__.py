"""Graphical-model estimation for differential privacy: noisy marginals in, a certified model out.

Five lines from a frame to synthetic records:

    data = pgmbench.Dataset(frame)
    cliques = [("age", "sex"), ("age", "income")]
    noisy = [pgmbench.privacy.measure(data, clique, rho=0.05) for clique in cliques]
    model = pgmbench.estimation.MirrorDescent().estimate(data.domain, noisy)
    synthetic = model.synthetic_data()

The vocabulary is that of mbi 2.0. What goes beyond it: `model.gap` proves how far the fit is from
the best one at most; `model.variance` and `model.interval` say how far counts are from the truth
because of the noise; `memory_limit` and `time_limit`; `model.conditional` and `model.answer`;
`pgmbench.privacy` for noise, budgets and ledgers; `pgmbench.run` for experiments.
"""

from . import (
    approximate_oracles,
    callbacks,
    clique_utils,
    estimation,
    experiments,
    extensions,
    junction_tree,
    marginal_loss,
    marginal_oracles,
    privacy,
    queries,
    uncertainty,
)
from ._api import Model, Projectable
from ._core import __version__
from ._model_summary import ModelSummary, summarize
from ._serialization import load, save
from .callbacks import set_log_fn
from .clique_vector import CliqueVector
from .constraint import Constraint
from .dataset import Dataset
from .domain import Clique, Domain
from .errors import UnknownAttributeError
from .estimation import Estimator
from .experiments import Results, run
from .factor import Factor
from .marginal_loss import LinearMeasurement, MarginalLossFn
from .marginal_oracles import MarginalOracle
from .markov_random_field import FitReport, MarkovRandomField
from .queries import (
    DatavectorQuery,
    KroneckerQuery,
    MatrixQuery,
    SlicedQuery,
    WeightedQuery,
)

__all__ = [
    "Clique",
    "CliqueVector",
    "Constraint",
    "Dataset",
    "DatavectorQuery",
    "Domain",
    "Estimator",
    "Factor",
    "FitReport",
    "KroneckerQuery",
    "LinearMeasurement",
    "MarginalLossFn",
    "MarginalOracle",
    "MarkovRandomField",
    "MatrixQuery",
    "Model",
    "ModelSummary",
    "Projectable",
    "Results",
    "SlicedQuery",
    "UnknownAttributeError",
    "WeightedQuery",
    "__version__",
    "approximate_oracles",
    "callbacks",
    "clique_utils",
    "estimation",
    "experiments",
    "extensions",
    "junction_tree",
    "load",
    "marginal_loss",
    "marginal_oracles",
    "privacy",
    "queries",
    "run",
    "save",
    "set_log_fn",
    "summarize",
    "uncertainty",
]
