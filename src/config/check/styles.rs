use std::collections::BTreeMap;

use toml::Spanned;

use super::Checked;
use crate::config::closest;
use crate::config::experiment::{DEFAULT_ARMS, Mechanism};
use crate::config::figure::ArmStyle;
use crate::config::source::Source;

/// How arms are shown. Each has to take part in the experiment.
pub(super) fn arm_styles(
    source: &Source,
    styles: BTreeMap<Spanned<String>, ArmStyle>,
    mechanisms: &[Mechanism],
) -> Checked<BTreeMap<String, ArmStyle>> {
    let arms_of = |mechanism: &Mechanism| -> Vec<String> {
        let label = mechanism.label.as_ref();
        match mechanism.arms.is_empty() {
            true => DEFAULT_ARMS.map(|arm| format!("{label}/{arm}")).into(),
            false => {
                let arms = mechanism.arms.iter();
                arms.map(|arm| format!("{label}/{}", arm.name.as_ref())).collect()
            }
        }
    };
    let known: Vec<String> = mechanisms.iter().flat_map(arms_of).collect();
    let checked = |(key, style): (Spanned<String>, ArmStyle)| {
        if known.contains(key.as_ref()) {
            return Ok((key.into_inner(), style));
        }
        let message = format!("no arm \"{}\" takes part in the experiment", key.as_ref());
        let close = closest(key.as_ref(), known.iter().map(String::as_str));
        let help = match close {
            Some(close) => format!("did you mean \"{close}\"?"),
            None => "an arm is written as \"mechanism/arm\", such as \"hdmm/pgm\"".into(),
        };
        Err(source.error(key.span(), message, Some(&help)))
    };
    styles.into_iter().map(checked).collect()
}
