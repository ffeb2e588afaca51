use pgmbench::experiment::Plan;
use private_pgm::model::Projectable;

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
            let name = format!("{}{}", data.name, if data.standin { " *" } else { "" });
            writeln!(
                output,
                "{name:<12} {:>9} {:>11} {:>9} {:>9}",
                data.data.len(),
                data.data.domain().len(),
                data.domain_size(),
                data.queries()
            )?;
        }
        if plan.asked_datasets().any(|data| data.standin) {
            writeln!(
                output,
                "* stand-in: synthetic records in place of data that is not distributed"
            )?;
        }
        Ok(())
    })
}
