// Measurements from slices and arrays, without a file.
//
//     cargo run --release -p private-pgm --example measurements

use private_pgm::ndarray::array;
use private_pgm::{Domain, Measurement, Problem, QueryFactor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let domain = Domain::new([("age", 3), ("sex", 2), ("income", 2)])?;
    let age_sex = array![[11.0, 21.0], [14.0, 26.0], [18.0, 13.0]];
    let problem = Problem::builder(domain.clone())
        // The noisy count of each combination, and the standard deviation of the noise.
        .measure(Measurement::from_array(&domain, &["age", "sex"], age_sex.view(), 2.0)?)
        // The same from a slice, row-major in the attributes as listed.
        .measure(Measurement::marginal(&domain, &["income"], &[69.0, 33.0], 1.0)?)
        // Cumulative counts by age, for each income.
        .measure(Measurement::linear(
            &domain,
            &["age", "income"],
            vec![QueryFactor::Prefix, QueryFactor::Identity],
            &[28.0, 2.0, 55.0, 14.0, 69.0, 33.0],
            2.0,
        )?)
        // Any linear combinations of the cells: here the difference between the sexes.
        .measure(Measurement::dense(&domain, &["sex"], array![[1.0, -1.0]].view(), &[-17.0], 3.0)?)
        // No record has the lowest age and the higher income.
        .zeros(&["age", "income"], &[&[0, 1]])
        .build()?;
    println!("about {:.1} records", problem.total);

    let fitted = private_pgm::estimate(&problem)?;
    println!("sex by income:\n{:.1}", fitted.model.marginal(&["sex", "income"])?);
    for (names, potentials) in fitted.model.potentials().tables() {
        println!("potentials of {}:\n{potentials:.2}", names.join(" and "));
    }
    for (names, marginal) in fitted.marginals.tables() {
        println!("{} sum to {:.1}", names.join(" and "), marginal.sum());
    }
    Ok(())
}
