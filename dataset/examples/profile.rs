//! Measures a profile of Python sources, fits the generator to it, compares the two, writes programs.
//!
//! ```text
//! cargo run --release -p ndbg-dataset --example profile -- measure ABOUT all|self-contained FOLDER > profile.toml
//! cargo run --release -p ndbg-dataset --example profile -- fit profile.toml > fitted.toml
//! cargo run --release -p ndbg-dataset --example profile -- compare profile.toml [PROGRAMS]
//! cargo run --release -p ndbg-dataset --example profile -- generate profile.toml SEED COUNT > programs.jsonl
//! ```

use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, io};

use ndbg_dataset::generate::program_at;
use ndbg_dataset::profile::{FitOptions, Measurement, Profile, Selection, compare, distances, fit};

/// Folders of a Python installation that hold no code of the library itself.
const LEFT_OUT: &[&str] = &[
    "test",
    "tests",
    "site-packages",
    "lib2to3",
    "idlelib",
    "turtledemo",
    "__pycache__",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["measure", about, selection, folder] => {
            let selection = if *selection == "all" { Selection::All } else { Selection::SelfContained };
            measure(about, selection, Path::new(folder))
        }
        ["fit", file] => {
            let profile = Profile::from_toml(&fs::read_to_string(file)?)?;
            let fitted = fit(&profile, FitOptions::default(), |round, generated| {
                let all = distances(&profile, generated);
                let mean = all.iter().map(|one| one.shared).sum::<f64>() / all.len().max(1) as f64;
                eprintln!("round {round}: mean distance over shared values {mean:.3}");
            })?;
            print!("{}", fitted.to_toml()?);
            Ok(())
        }
        ["compare", file, rest @ ..] => {
            let profile = Profile::from_toml(&fs::read_to_string(file)?)?;
            let programs = rest.first().map_or(Ok(10_000), |count| count.parse())?;
            let mut measurement = Measurement::default();
            let start = Instant::now();
            let written: Vec<_> = (0..programs).map(|index| program_at(1, index, &profile)).collect();
            let seconds = start.elapsed().as_secs_f64();
            for program in &written {
                measurement.add(&program.source, Selection::All)?;
            }
            print!("{}", compare(&profile, &measurement.profile("generated")));
            eprintln!("{:.0} programs/s", programs as f64 / seconds);
            Ok(())
        }
        ["generate", file, seed, count] => {
            let profile = Profile::from_toml(&fs::read_to_string(file)?)?;
            let mut out = BufWriter::new(io::stdout().lock());
            for index in 0..count.parse()? {
                serde_json::to_writer(&mut out, &program_at(seed.parse()?, index, &profile))?;
                out.write_all(b"\n")?;
            }
            Ok(out.flush()?)
        }
        _ => Err("usage: measure ABOUT all|self-contained FOLDER | fit FILE | compare FILE [PROGRAMS] | generate FILE SEED COUNT".into()),
    }
}

fn measure(about: &str, selection: Selection, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut measurement = Measurement::default();
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    for file in &files {
        let Ok(source) = fs::read_to_string(file) else {
            continue;
        };
        if measurement.add(&source, selection).is_err() {
            eprintln!("not parsed: {}", file.display());
        }
    }
    print!("{}", measurement.profile(about).to_toml()?);
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if path.is_dir() && !LEFT_OUT.contains(&name) {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "py")
            && !name.starts_with("test")
        {
            files.push(path);
        }
    }
    Ok(())
}
