use std::io::{self, Write};

use proptest::prelude::*;

use super::*;
use crate::domain::{Clique, Domain, Labels};
use crate::factor::{CliqueLayout, Factor, Potentials};
use crate::model::{Model, Origin};

/// Models with nested, repeated and empty cliques and potentials over the whole range of `f64`.
fn models() -> impl Strategy<Value = Model> {
    let sizes = prop::collection::vec(1usize..5, 1..6);
    let cliques =
        prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..4), 0..5);
    let cell = prop_oneof![
        4 => any::<f64>().prop_filter("a potential", |x| !x.is_nan() && *x < f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(-0.0),
    ];
    let cells = prop::collection::vec(cell, 64);
    let total = any::<f64>().prop_filter("a total", |x| *x > 0.0 && x.is_finite());
    (sizes, cliques, cells, total, prop::option::of(origins())).prop_map(
        |(sizes, cliques, cells, total, origin)| {
            let domain =
                Domain::new(sizes.iter().enumerate().map(|(i, &n)| (format!("a,\"{i}\u{e4}"), n)))
                    .unwrap();
            let cliques = cliques
                .iter()
                .map(|places| places.iter().map(|place| *place.get(domain.declared())).collect())
                .collect();
            let mut potentials = Potentials::zeros(&CliqueLayout::new(domain, cliques));
            let drawn = cells.iter().cycle();
            potentials.values_mut().iter_mut().zip(drawn).for_each(|(to, &from)| *to = from);
            let model = Model::new(total, potentials);
            match origin {
                Some(origin) => model.with_origin(origin),
                None => model,
            }
        },
    )
}

fn origins() -> impl Strategy<Value = Origin> {
    let finite = || prop::option::of(any::<f64>().prop_filter("finite", |x| x.is_finite()));
    (".*", finite(), finite(), any::<u64>(), any::<bool>()).prop_map(
        |(algorithm, loss, gap, iterations, oracle_is_exact)| Origin {
            release: env!("CARGO_PKG_VERSION").into(),
            algorithm,
            loss,
            gap,
            iterations,
            oracle_is_exact,
            ..Origin::default()
        },
    )
}

fn written(model: &Model) -> Vec<u8> {
    let mut bytes = Vec::new();
    model.write(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Model, ModelFileError> {
    Model::read(bytes)
}

/// A file with this header, these potentials, and their checksum.
fn sealed(header: &[u8], potentials: &[f64]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend((potentials.len() as u64).to_le_bytes());
    bytes.extend(header);
    bytes.extend(potentials.iter().flat_map(|value| value.to_le_bytes()));
    let checksum = blake3::hash(&bytes);
    bytes.extend(checksum.as_bytes());
    bytes
}

fn message(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

proptest! {
    #[test]
    fn a_model_is_read_as_it_was_written_bit_for_bit(model in models()) {
        let again = read(&written(&model)).unwrap();
        prop_assert_eq!(again.domain().declared(), model.domain().declared());
        let bits = |model: &Model| -> Vec<u64> {
            model.potentials().values().iter().map(|value| value.to_bits()).collect()
        };
        prop_assert_eq!(bits(&again), bits(&model));
        prop_assert_eq!(again.total().to_bits(), model.total().to_bits());
        prop_assert_eq!(again, model);
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused(model in models(), place in any::<prop::sample::Index>()) {
        let bytes = written(&model);
        let error = read(&bytes[..place.index(bytes.len())]).unwrap_err();
        prop_assert!(matches!(error, ModelFileError::CutOff { .. }), "{}", error);
    }

    #[test]
    fn a_file_with_changed_bytes_is_refused(
        model in models(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        more in prop::collection::vec(any::<u8>(), 0..3),
    ) {
        let bytes = written(&model);
        let mut changed = bytes.clone();
        for (place, byte) in &changes {
            changed[place.index(bytes.len())] = *byte;
        }
        changed.extend(more);
        prop_assume!(changed != bytes);
        prop_assert!(read(&changed).is_err());
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
        // The same after a valid magic number and version.
        let mut prefixed = MAGIC.to_vec();
        prefixed.extend(VERSION.to_le_bytes());
        prefixed.extend(&bytes);
        prop_assert!(read(&prefixed).is_err());
    }

    #[test]
    fn a_changed_header_under_a_valid_checksum_gives_a_valid_model_or_an_error(
        model in models(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        potentials in prop::collection::vec(any::<f64>(), 0..10),
    ) {
        let mut header = serde_json::to_vec(&header::Header::new(&model)).unwrap();
        let place = place.index(header.len());
        header[place] = byte;
        // Refused, or a model that agrees with the potentials of the file.
        if let Ok(read) = read(&sealed(&header, &potentials)) {
            prop_assert_eq!(read.layout().len(), potentials.len());
            prop_assert!(invalid_potential(read.potentials().values()).is_none());
        }
    }
}

#[test]
fn the_order_of_axes_is_that_of_the_header() {
    let header = br#"{"domain":[["a",3],["b",2]],"total":6,"cliques":[["a","b"]],"later":[1]}"#;
    let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let model = read(&sealed(header, &values)).unwrap();
    let (a, b) = (model.domain().id("a").unwrap(), model.domain().id("b").unwrap());
    let expected = Factor::from_listed(model.domain(), &[a, b], &values);
    assert_eq!(model.potentials().factor(0), expected);
    assert_eq!(model.origin(), None);
}

#[test]
fn each_kind_of_damage_has_its_own_message() {
    let header = br#"{"domain":[["a",2]],"total":6,"cliques":[["a"]]}"#;
    let good = sealed(header, &[0.0, 1.0]);
    assert!(read(&good).is_ok());
    assert_eq!(message(b"{\"domain\": {}}"), "not a model file");
    assert_eq!(message(b""), "the model file is cut off: 0 bytes of at least 60");
    let short = &good[..good.len() - 40];
    let expected =
        format!("the model file is cut off: {} bytes of at least {}", short.len(), good.len());
    assert_eq!(message(short), expected);
    assert!(message(&[&good[..], b"more"].concat()).contains("damaged"));
    let mut newer = good.clone();
    newer[8] = 7;
    assert_eq!(message(&newer), "a model file of version 7; this release reads version 1");
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(message(&flipped).contains("checksum"));
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let cases: [(&str, &str); 8] = [
        ("", "EOF"),
        (r#"{"domain":[["a",2]],"total":6}"#, "cliques"),
        (r#"{"domain":[["a",2]],"total":0,"cliques":[["a"]]}"#, "the total is 0"),
        (r#"{"domain":[["a",2],["a",2]],"total":6,"cliques":[["a"]]}"#, "'a' is declared twice"),
        (r#"{"domain":[["a",0]],"total":6,"cliques":[["a"]]}"#, "'a' has size 0"),
        (
            r#"{"domain":[["a",2]],"total":6,"cliques":[["b"]]}"#,
            "clique 0 has an attribute that is",
        ),
        (r#"{"domain":[["a",2]],"total":6,"cliques":[["a","a"]]}"#, "an attribute twice"),
        (r#"{"domain":[["a",3]],"total":6,"cliques":[["a"]]}"#, "3 cells, the file has 2"),
    ];
    for (header, expected) in cases {
        let found = message(&sealed(header.as_bytes(), &[0.0, 1.0]));
        assert!(found.starts_with("the header of the model file is wrong"), "{found}");
        assert!(found.contains(expected), "{found}");
    }
    let huge = br#"{"domain":[["a",4294967296],["b",4294967296]],"total":6,"cliques":[["a","b"]]}"#;
    assert!(message(&sealed(huge, &[])).contains("more than"));
}

#[test]
fn impossible_lengths_are_refused_before_allocation() {
    for (header, potentials) in [(u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX), (1 << 40, 0)] {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(u64::to_le_bytes(header));
        bytes.extend(u64::to_le_bytes(potentials));
        bytes.extend([0; 64]);
        assert!(matches!(read(&bytes), Err(ModelFileError::CutOff { .. })));
    }
}

#[test]
fn an_input_that_delivers_a_byte_at_a_time_is_read_to_its_end() {
    struct Slow<'a>(&'a [u8]);
    impl io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            self.0 = rest;
            buffer[0] = *first;
            Ok(1)
        }
    }
    let header = br#"{"domain":[["a",2]],"total":6,"cliques":[["a"]]}"#;
    let good = sealed(header, &[0.0, 1.0]);
    assert_eq!(Model::read(Slow(&good)).unwrap(), read(&good).unwrap());
    let more = [&good[..], b"\n"].concat();
    assert!(matches!(Model::read(Slow(&more)), Err(ModelFileError::TooLong { .. })));
}

#[test]
fn an_endless_input_is_refused() {
    let header = br#"{"domain":[["a",2]],"total":6,"cliques":[["a"]]}"#;
    let good = sealed(header, &[0.0, 1.0]);
    let endless = io::Read::chain(&good[..], io::repeat(0));
    assert!(matches!(Model::read(endless), Err(ModelFileError::TooLong { .. })));
}

#[test]
fn invalid_potentials_and_totals_are_neither_written_nor_read() {
    let domain = Domain::new([("a", 2)]).unwrap();
    let layout = CliqueLayout::new(domain.clone(), vec![Clique::new(domain.ids())]);
    let header = br#"{"domain":[["a",2]],"total":6,"cliques":[["a"]]}"#;
    for value in [f64::NAN, f64::INFINITY] {
        let mut potentials = Potentials::zeros(&layout);
        potentials.values_mut()[1] = value;
        let model = Model::new(6.0, potentials);
        let refused = model.write(Vec::new()).unwrap_err().to_string();
        assert!(refused.starts_with("the potential of cell 1 of the clique (a) is"), "{refused}");
        assert_eq!(message(&sealed(header, &[0.0, value])), refused);
    }
    for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let model = Model::new(total, Potentials::zeros(&layout));
        assert!(matches!(model.write(Vec::new()), Err(ModelFileError::Total(_))));
    }
}

#[test]
fn an_error_of_the_writer_is_returned() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let layout = CliqueLayout::new(Domain::new([("a", 2)]).unwrap(), vec![Clique::empty()]);
    let model = Model::new(3.0, Potentials::zeros(&layout));
    for space in 0..written(&model).len() {
        let error = model.write(Full(space)).unwrap_err();
        assert!(matches!(error, ModelFileError::Io(_)));
    }
}

#[test]
fn labels_survive_and_models_without_them_have_none() {
    let labels = Labels::new(["child", "adult", "missing"]).unwrap();
    let labels = labels.with_edges(vec![0.0, 17.5, 99.0]).unwrap();
    let plain = Domain::new([("age", 3), ("sex", 2)]).unwrap();
    let domain = plain.clone().with_labels("age", labels.clone()).unwrap();
    let read = |domain: &Domain| {
        let layout = CliqueLayout::new(domain.clone(), vec![domain.everything()]);
        let model = Model::new(7.0, Potentials::zeros(&layout));
        let mut bytes = Vec::new();
        model.write(&mut bytes).unwrap();
        (Model::read(&bytes[..]).unwrap(), bytes)
    };
    let (age, sex) = (domain.id("age").unwrap(), domain.id("sex").unwrap());
    let (model, _) = read(&domain);
    assert_eq!((model.domain().labels(age), model.domain().labels(sex)), (Some(&labels), None));
    let (model, bytes) = read(&plain);
    assert_eq!(model.domain().labels(age), None);
    assert!(!String::from_utf8_lossy(&bytes).contains("labels"), "the file is as before");
}
