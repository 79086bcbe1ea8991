//! How many transitions a second are sampled, written and encoded on one core.
//!
//! `cargo bench -p ndbg-simulator`. The recording is made here: calls nest, loops repeat lines, a
//! handful of locals change one at a time.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ndbg_simulator::grammar::{cwm, nd, plain_text};
use ndbg_simulator::recording::{
    ActivationId, Change, CodeFlags, CodeId, Entry, FileId, FrameId, Leave, Record, Recording,
    RecordingBuilder, TaskId, TextId,
};
use ndbg_simulator::{CallForest, Direction, Entries, Level, Sampler, Statistics};

const EVENTS: usize = 1_000_000;
const NAMES: u32 = 8;
const CODES: u32 = 40;
const LINES: u32 = 25;

struct Making {
    builder: RecordingBuilder,
    activations: u32,
    random: u64,
}

impl Making {
    fn random(&mut self, below: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as u32 % below
    }

    fn change(&mut self) -> Change {
        Change {
            name: TextId(self.random(NAMES)),
            value: Some(TextId(NAMES + self.random(500))),
            serial: 0,
        }
    }

    fn call(&mut self, parent: Option<ActivationId>, depth: u32) {
        let code = self.random(CODES);
        let id = self.activations;
        self.activations += 1;
        let arguments = (0..3).map(|name| Change {
            name: TextId(name),
            ..self.change()
        });
        let changes = arguments.collect();
        let activation = ActivationId(id);
        let first = code * LINES + 1;
        self.push(Record::Call {
            frame: FrameId(id),
            parent,
            task: TaskId(0),
            code: CodeId(code),
            line: first,
            entry: Entry::Call,
            changes,
        });
        for _ in 0..self.random(40) + 5 {
            let changes = vec![self.change()];
            let line = first + 1 + self.random(LINES - 1);
            self.push(Record::Line {
                activation,
                line,
                changes,
            });
            if depth < 6 && self.random(8) == 0 {
                self.call(Some(activation), depth + 1);
            }
        }
        self.push(Record::Return {
            activation,
            line: first + LINES - 1,
            value: TextId(NAMES + 3),
            leave: Leave::Return,
            changes: Vec::new(),
        });
    }

    fn push(&mut self, record: Record) {
        self.builder.push(record).unwrap();
    }
}

fn recording() -> Recording {
    let mut making = Making {
        builder: RecordingBuilder::new(),
        activations: 0,
        random: 88_172_645_463_325_252,
    };
    let mut text = |text: String| {
        let record = Record::Text { text, lossy: false };
        making.builder.push(record).unwrap();
    };
    for name in 0..NAMES {
        text(format!("name_{name}"));
    }
    for value in 0..500 {
        text(match value % 4 {
            0 => value.to_string(),
            1 => format!("'some text with \"quotes\" and \\n number {value}'"),
            2 => format!("[{value}, {value}, {value}, 'a', 'b']"),
            _ => format!("{{'key': {value}, 'other': 'é'}}"),
        });
    }
    let mut source = String::new();
    for code in 0..CODES {
        writeln!(source, "def function_{code}(name_0, name_1, name_2):").unwrap();
        for line in 1..LINES {
            writeln!(
                source,
                "    name_{} = helper_{line}(name_1, {code})",
                line % NAMES
            )
            .unwrap();
        }
    }
    let file = Record::File {
        name: "m.py".to_owned(),
        text: Some(source),
    };
    making.push(file);
    making.push(Record::Task("main".to_owned()));
    for code in 0..CODES {
        making.push(Record::Code {
            file: FileId(0),
            qualname: TextId(0),
            first_line: code * LINES + 1,
            flags: CodeFlags::default(),
        });
    }
    while making.builder.len() < EVENTS {
        making.call(None, 0);
    }
    making.builder.finish()
}

/// Time on the processor where the system says it, so that a busy machine does not count; else time.
struct Clock {
    wall: Instant,
    busy: Option<u64>,
}

impl Clock {
    fn start() -> Self {
        Self {
            wall: Instant::now(),
            busy: Self::busy(),
        }
    }

    /// Nanoseconds that this process ran.
    fn busy() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        match (self.busy, Self::busy()) {
            (Some(before), Some(now)) if now > before => Duration::from_nanos(now - before),
            _ => self.wall.elapsed(),
        }
    }
}

fn main() {
    let recording = recording();
    println!(
        "{} events, {} calls",
        recording.len(),
        recording.activations().len()
    );
    let start = Clock::start();
    let forest = CallForest::new(&recording);
    println!("forest   {:>8.1?}", start.elapsed());
    let start = Clock::start();
    forest.history();
    println!("history  {:>8.1?}", start.elapsed());
    let start = Clock::start();
    forest.lines();
    println!("lines    {:>8.1?}", start.elapsed());
    for level in [Level::Function, Level::Repository] {
        let entries = Entries::new(&forest, level);
        for direction in [Direction::Forward, Direction::Inverse] {
            measure(&forest, &entries, direction);
        }
    }
    let tree = forest.tree(forest.roots().next().unwrap());
    let start = Clock::start();
    let trace = cwm::trace(&tree, "", usize::MAX);
    let text = plain_text(&cwm::encode(&trace));
    report("cwm", trace.frames.len(), text.len(), &start);
    let start = Clock::start();
    cwm::decode(&text).unwrap();
    report("cwm decode", trace.frames.len(), text.len(), &start);
}

fn measure(forest: &CallForest<'_>, entries: &Entries, direction: Direction) {
    let sampler = Sampler::new(1, 512);
    let mut statistics = Statistics::default();
    let start = Clock::start();
    let mut walks = Vec::new();
    for number in 0..10_000 {
        let walk = sampler.sample(forest, entries, direction, number).unwrap();
        statistics.add(&walk);
        walks.push(walk);
    }
    let transitions = statistics.transitions() as usize;
    let name = format!("{:?} {direction:?}", entries.level());
    report(&format!("{name} sample"), transitions, 0, &start);
    let start = Clock::start();
    let mut texts = Vec::new();
    for walk in &walks {
        let tree = forest.tree(walk.root);
        let trace = nd::trace(&tree, walk, "");
        texts.push(plain_text(&nd::encode(&trace)));
    }
    let bytes = texts.iter().map(String::len).sum();
    report(&format!("{name} encode"), transitions, bytes, &start);
    let start = Clock::start();
    for text in &texts {
        nd::decode(text).unwrap();
    }
    report(&format!("{name} decode"), transitions, bytes, &start);
}

fn report(name: &str, transitions: usize, bytes: usize, start: &Clock) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:<28} {transitions:>9} transitions {:>9.0} /s {:>6.0} MB/s",
        transitions as f64 / seconds,
        bytes as f64 / seconds / 1e6
    );
}
