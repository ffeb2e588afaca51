// A problem file in; the certified loss, a marginal and synthetic records out.
//
//     cargo run --release -p private-pgm --example estimate

use std::fs::File;

use private_pgm::Problem;
use rand::SeedableRng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::read(File::open("docs/example.json")?)?;
    let fitted = private_pgm::estimate(&problem)?;
    println!("loss {:.3}, certified within {:.1e}", fitted.loss, fitted.gap.unwrap_or(f64::NAN));

    let table = fitted.model.marginal(&["sex", "education"])?;
    println!("sex by education:\n{table:.1}");

    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
    let records = fitted.model.sample(1000, &mut rng)?;
    println!("{} columns of {} values", records.len(), records[0].len());
    Ok(())
}
