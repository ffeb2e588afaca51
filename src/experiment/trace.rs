use std::sync::Arc;

use crate::evaluation::{answers, workload_error};
use crate::mechanism::Published;
use crate::results::{TraceRecord, TrialRecord};
use crate::workload::Workload;
use private_pgm::factor::{CliqueLayout, Marginals};
use private_pgm::fit::Progress;
use private_pgm::loss::{LinearLoss, Loss, Norm};

/// Traces losses and workload error every `every` iterations.
///
/// The error is that of the estimator's current marginals. If these do not cover the workload, no
/// trace is produced.
pub(super) struct Tracer<'a> {
    every: usize,
    workload: &'a Workload,
    truth: &'a [Vec<f64>],
    published: &'a Published,
    record: &'a TrialRecord,
    loss: Option<LinearLoss>,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(
        every: usize,
        workload: &'a Workload,
        truth: &'a [Vec<f64>],
        published: &'a Published,
        record: &'a TrialRecord,
    ) -> Self {
        Self { every, workload, truth, published, record, loss: None }
    }

    /// A trace at each multiple of `every`, and at the powers of two before the first.
    pub(super) fn trace_if_due(&mut self, update: &Progress<'_>) -> Option<TraceRecord> {
        // The first iterations change the most.
        let early = update.iteration < self.every && update.iteration.is_power_of_two();
        if !early && !update.iteration.is_multiple_of(self.every) {
            return None;
        }
        let Published::Answers(measurements) = self.published else { return None };
        let layout = update.marginals.layout();
        if self.loss.as_ref().is_none_or(|loss| !Arc::ptr_eq(loss.layout(), layout)) {
            self.loss = LinearLoss::new(Arc::clone(layout), measurements.clone(), Norm::L2).ok();
        }
        let (l1_loss, l2_loss) = self.loss.as_mut()?.l1_and_l2(update.marginals);
        let marginals = self.marginals(layout, update.marginals)?;
        let found = answers(self.workload.parts(), marginals.iter().map(Vec::as_slice));
        Some(TraceRecord {
            key: self.record.key.clone(),
            dataset: self.record.dataset.clone(),
            mechanism: self.record.mechanism.clone(),
            arm: self.record.arm.clone(),
            epsilon: self.record.epsilon,
            trial: self.record.trial,
            iteration: update.iteration,
            seconds: update.seconds,
            l1_loss,
            l2_loss,
            workload_error: workload_error(self.truth, &found),
        })
    }

    /// The marginals of the workload's cliques, if the layout covers them all.
    fn marginals(&self, layout: &CliqueLayout, all: &Marginals) -> Option<Vec<Vec<f64>>> {
        let marginal = |part: &crate::workload::SubWorkload| {
            let table = all.factor(layout.covering(&part.clique)?);
            Some(table.sum_onto(&part.clique).into_values())
        };
        self.workload.parts().iter().map(marginal).collect()
    }
}
