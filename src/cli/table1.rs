use pgmbench::experiment::{Plan, PlannedData};
use pgmbench::factor::Projectable;

use super::failure::Failure;
use super::output::print;

/// The paper's Table 1: records, attributes, size of the domain, queries.
pub(crate) fn print_table(plan: &Plan) -> Result<(), Failure> {
    print(|output| {
        writeln!(
            output,
            "{:<12} {:>9} {:>11} {:>9} {:>9}",
            "Data set", "Records", "Attributes", "Domain", "Queries"
        )?;
        for data in plan.asked_datasets() {
            let PlannedData { name, data, cases, standin, .. } = data;
            let queries: usize = cases.iter().map(|case| case.workload.queries()).sum();
            let domain = data.domain();
            let digits: f64 = domain.ids().map(|id| (domain.size(id) as f64).log10()).sum();
            let (power, lead) = (digits.floor(), 10f64.powf(digits - digits.floor()));
            let name = format!("{name}{}", if *standin { " *" } else { "" });
            writeln!(
                output,
                "{name:<12} {:>9} {:>11} {:>9} {:>9}",
                data.len(),
                domain.len(),
                format!("{lead:.0}e{power}"),
                queries
            )?;
        }
        if plan.asked_datasets().any(|data| data.standin) {
            writeln!(output, "* synthetic records stand in for data that does not ship")?;
        }
        Ok(())
    })
}
