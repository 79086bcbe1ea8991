//! Logits are those of `transformers`, however tokens are read.

use ndbg_simulator::model::{Config, Fused, Logits, ModelError, Network, Transformer, Weights};

use crate::fixture::{ALL, Fixture, LLAMA, difference};

const TOLERANCE: f32 = 1e-4;

type New<N> = fn(Config, &Weights) -> Result<N, ModelError>;

fn close(what: &str, found: &[f32], wanted: &[f32]) {
    let far = difference(found, wanted);
    assert!(far < TOLERANCE, "{what}: {far}");
}

fn check<N: Network>(new: New<N>) {
    for fixture in &ALL {
        let network = new(fixture.config(), &fixture.weights()).unwrap();
        reads_one_by_one(fixture, &network);
        reads_together(fixture, &network);
        goes_on_from_a_batch(fixture, &network);
        extends_a_prefix(fixture, &network);
        forks_and_drops_rows(fixture, &network);
    }
}

/// Without a cache, every beginning of a row; with one, token by token.
fn reads_one_by_one<N: Network>(fixture: &Fixture, network: &N) {
    let expected = fixture.expected();
    for (ids, logits) in expected.rows.iter().zip(&expected.logits) {
        let (_, found) = network.read(&[ids]).unwrap();
        close(fixture.name, found.place(0), logits.last().unwrap());
    }
    let (ids, wanted) = (&expected.rows[0], &expected.logits[0]);
    let (mut cache, mut found) = network.read(&[&ids[..1]]).unwrap();
    for (place, wanted) in wanted.iter().enumerate() {
        close(fixture.name, found.place(0), wanted);
        let (_, whole) = network.read(&[&ids[..=place]]).unwrap();
        close(fixture.name, whole.place(0), wanted);
        if let Some(&next) = ids.get(place + 1) {
            found = network.step(&mut cache, &[next]).unwrap();
        }
    }
}

fn reads_together<N: Network>(fixture: &Fixture, network: &N) {
    let expected = fixture.expected();
    let rows: Vec<&[u32]> = expected.rows.iter().map(Vec::as_slice).collect();
    let (_, found) = network.read(&rows).unwrap();
    for (place, logits) in found.places().zip(&expected.logits) {
        close(fixture.name, place, logits.last().unwrap());
    }
}

/// Rows of different lengths, all but their last tokens read together, then the last ones.
fn goes_on_from_a_batch<N: Network>(fixture: &Fixture, network: &N) {
    let expected = fixture.expected();
    let long = |row: &&usize| expected.rows[**row].len() > 1;
    let numbers: Vec<usize> = (0..expected.rows.len()).collect();
    let numbers: Vec<usize> = numbers.iter().filter(long).copied().collect();
    let begun = |&row: &usize| expected.rows[row].split_last().unwrap().1;
    let rows: Vec<&[u32]> = numbers.iter().map(begun).collect();
    let last: Vec<u32> = numbers
        .iter()
        .map(|&row| *expected.rows[row].last().unwrap())
        .collect();
    let (mut cache, _) = network.read(&rows).unwrap();
    let found = network.step(&mut cache, &last).unwrap();
    for (place, &row) in found.places().zip(&numbers) {
        close(fixture.name, place, expected.logits[row].last().unwrap());
    }
}

/// A prefix is read once, suffixes of different lengths together, twice.
fn extends_a_prefix<N: Network>(fixture: &Fixture, network: &N) {
    let expected = fixture.expected();
    let (ids, wanted) = (&expected.rows[0], &expected.logits[0]);
    let (mut cache, _) = network.read(&[&ids[..2]]).unwrap();
    for _ in 0..2 {
        let suffixes = [&ids[2..3], &ids[2..], &[7, 3][..]];
        let found = network.extend(&mut cache, &suffixes).unwrap();
        let places: Vec<&[f32]> = found.places().collect();
        assert_eq!(places.len(), ids.len() + 1);
        close(fixture.name, places[0], &wanted[2]);
        for (place, wanted) in places[1..].iter().zip(&wanted[2..]) {
            close(fixture.name, place, wanted);
        }
    }
    let found = network.step(&mut cache, &[ids[2]]).unwrap();
    close(fixture.name, found.place(0), &wanted[2]);
}

fn forks_and_drops_rows<N: Network>(fixture: &Fixture, network: &N) {
    let expected = fixture.expected();
    let (ids, wanted) = (&expected.rows[0], &expected.logits[0]);
    let (mut cache, _) = network.read(&[&ids[..2]]).unwrap();
    network.fork(&mut cache, 3).unwrap();
    let found = network.step(&mut cache, &[9, ids[2], 11]).unwrap();
    close(fixture.name, found.place(1), &wanted[2]);
    network.retain(&mut cache, &[1, 2]).unwrap();
    let found = network.step(&mut cache, &[ids[3], 5]).unwrap();
    close(fixture.name, found.place(0), &wanted[3]);
}

#[test]
fn the_fused_network_says_what_transformers_says() {
    check(Fused::new);
}

#[test]
fn the_network_in_candle_says_what_transformers_says() {
    check(Transformer::new);
}

#[test]
fn both_networks_keep_to_a_sliding_window() {
    let mut config = LLAMA.config();
    config.windows = vec![Some(3), None];
    let ids = &LLAMA.expected().rows[1];
    let fused = Fused::new(config.clone(), &LLAMA.weights()).unwrap();
    let candle = Transformer::new(config, &LLAMA.weights()).unwrap();
    let by_step = |logits: Vec<Logits>| -> Vec<f32> {
        logits
            .into_iter()
            .flat_map(|logits| logits.values)
            .collect()
    };
    let (mut cache, first) = fused.read(&[&ids[..4]]).unwrap();
    let mut found = vec![first];
    found.extend(
        ids[4..]
            .iter()
            .map(|&id| fused.step(&mut cache, &[id]).unwrap()),
    );
    let (mut cache, first) = candle.read(&[&ids[..4]]).unwrap();
    let mut wanted = vec![first];
    wanted.extend(
        ids[4..]
            .iter()
            .map(|&id| candle.step(&mut cache, &[id]).unwrap()),
    );
    close("window", &by_step(found.clone()), &by_step(wanted));
    let (_, whole) = fused.read(&[ids]).unwrap();
    close("window", whole.place(0), found.last().unwrap().place(0));
    let (_, open) = Fused::new(LLAMA.config(), &LLAMA.weights())
        .unwrap()
        .read(&[ids])
        .unwrap();
    assert!(difference(open.place(0), whole.place(0)) > TOLERANCE);
}

#[test]
fn a_prompt_that_is_read_in_pieces_says_the_same() {
    let config = Config {
        context: 512,
        ..LLAMA.config()
    };
    let ids: Vec<u32> = (0..300).map(|place| place * 37 % 265).collect();
    let fused = Fused::new(config.clone(), &LLAMA.weights()).unwrap();
    let candle = Transformer::new(config, &LLAMA.weights()).unwrap();
    let (mut cache, found) = fused.read(&[&ids[..250]]).unwrap();
    let (_, wanted) = candle.read(&[&ids[..250]]).unwrap();
    close("pieces", found.place(0), wanted.place(0));
    let found = fused
        .extend(&mut cache, &[&ids[250..], &ids[250..]])
        .unwrap();
    let (_, wanted) = candle.read(&[&ids]).unwrap();
    close("pieces", found.place(49), wanted.place(0));
    close("pieces", found.place(99), wanted.place(0));
}

#[test]
fn a_batch_says_exactly_what_its_rows_say_alone() {
    let fused = Fused::new(LLAMA.config(), &LLAMA.weights()).unwrap();
    let expected = LLAMA.expected();
    let rows: Vec<&[u32]> = expected.rows.iter().map(Vec::as_slice).collect();
    let (mut cache, together) = fused.read(&rows).unwrap();
    let stepped = fused.step(&mut cache, &[1, 2, 3, 4]).unwrap();
    for (row, ids) in rows.iter().enumerate() {
        let (mut cache, alone) = fused.read(&[ids]).unwrap();
        assert_eq!(alone.place(0), together.place(row));
        let alone = fused.step(&mut cache, &[row as u32 + 1]).unwrap();
        assert_eq!(alone.place(0), stepped.place(row));
    }
}

fn error<N: Network>(new: New<N>, config: Config) -> String {
    let made = new(config, &LLAMA.weights()).map(|_| ());
    made.unwrap_err().to_string()
}

#[test]
fn a_tensor_that_is_missing_or_misshapen_is_named() {
    let untied = Config {
        tied: false,
        ..LLAMA.config()
    };
    let deeper = Config {
        layers: 3,
        windows: vec![None; 3],
        ..LLAMA.config()
    };
    let wider = Config {
        feed_forward: 64,
        ..LLAMA.config()
    };
    let cases = [
        (untied, "`lm_head.weight` is missing"),
        (deeper, "model.layers.2."),
        (
            wider,
            "`model.layers.0.mlp.gate_proj.weight` has the shape [56, 32], not [64, 32]",
        ),
    ];
    for (config, part) in cases {
        for told in [
            error(Fused::new, config.clone()),
            error(Transformer::new, config),
        ] {
            assert!(told.contains(part), "{told}");
        }
    }
}
