// The time per iteration along a fit of a problem file: whether a long run becomes slower.
//
//     cargo run --release -p private-pgm --example iteration_times -- adult.json 20000

use std::fs::File;
use std::time::Instant;

use private_pgm::{Fit, Problem, Settings};

/// Parts of the run whose times are printed.
const PARTS: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "docs/example.json".into());
    let iterations: usize = arguments.next().map_or(Ok(2000), |count| count.parse())?;
    let problem = Problem::read(File::open(path)?)?;
    let settings = Settings { iterations: Some(iterations), gap: Some(0.0), ..Settings::default() };
    let part = iterations.div_ceil(PARTS);
    let mut began = Instant::now();
    let mut times = Vec::new();
    let fitted = Fit::new(&problem)
        .settings(settings)
        .parallel(false)
        .observer(|progress| {
            if progress.iteration == 1 {
                // What came before is preparation.
                began = Instant::now();
            }
            if progress.iteration % part == 0 {
                times.push(began.elapsed().as_secs_f64() / part as f64);
                let ratio = times[times.len() - 1] / times[0];
                let milliseconds = 1e3 * times[times.len() - 1];
                println!("{:>7}  {milliseconds:8.3} ms  {ratio:5.2}", progress.iteration);
                began = Instant::now();
            }
        })
        .run()?;
    println!("loss {:.6}, certified within {:.1e}", fitted.loss, fitted.gap.unwrap_or(f64::NAN));
    Ok(())
}
