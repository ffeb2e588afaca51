// Measurements in rounds: each fit starts from the model of the previous round.
//
//     cargo run --release -p private-pgm --example warm_start

use std::time::Duration;

use private_pgm::{Domain, Fit, Measurement, Problem, Settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let domain = Domain::new([("age", 3), ("sex", 2), ("income", 2)])?;
    let rounds = [
        Measurement::marginal(&domain, &["age", "sex"], &[11., 21., 14., 26., 18., 13.], 2.0)?,
        Measurement::marginal(&domain, &["age", "income"], &[28., 2., 27., 12., 14., 19.], 2.0)?,
        Measurement::marginal(&domain, &["sex", "income"], &[31.0, 12.0, 38.0, 21.0], 2.0)?,
    ];
    let settings = Settings { gap: Some(1e-6), ..Settings::default() };
    let mut model = None;
    for round in 1..=rounds.len() {
        let measured = rounds[..round].iter().cloned();
        let problem =
            Problem::builder(domain.clone()).total(100.0).measure_all(measured).build()?;
        let mut gaps = Vec::new();
        let fitted = Fit::new(&problem)
            .settings(settings.clone())
            .warm_start(model.as_ref())
            .memory_limit(1 << 30)
            .time_limit(Duration::from_secs(60))
            .observer(|progress| gaps.extend(progress.gap))
            .run()?;
        println!("round {round}: loss {:.4}, gaps on the way {gaps:.1?}", fitted.loss);
        model = Some(fitted.model);
    }
    Ok(())
}
