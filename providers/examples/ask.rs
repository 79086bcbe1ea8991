//! Asks a model one thing: `cargo run -p ndbg-providers --example ask -- MODEL [TEXT] [FOLDER]`.
//!
//! With a folder, the exchange is kept there and replayed the next time. Without arguments it lists
//! what can be reached.

use ndbg_providers::{Config, Endpoint, Journal, Model, Progress, Request, list, open};
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let config = Config::new(|name| std::env::var(name).ok());
    let outcome = match arguments.next() {
        None => list(&config, None).map(|entries| {
            for entry in entries {
                let state = entry.why_not.unwrap_or_else(|| entry.models.join(" "));
                println!("{:12} {}", entry.provider, state);
            }
        }),
        Some(model) => {
            let text = arguments.next().unwrap_or_else(|| "Say hello.".to_owned());
            ask(&config, &model, &text, arguments.next().as_deref())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}\nhint: {}", failure.hint());
            ExitCode::FAILURE
        }
    }
}

fn ask(
    config: &Config,
    model: &str,
    text: &str,
    folder: Option<&str>,
) -> Result<(), ndbg_providers::Failure> {
    let live = open(&Model::parse(model, None)?, config)?;
    let secrets = live.secrets().to_vec();
    let mut endpoint: Box<dyn Endpoint> = match folder {
        Some(folder) => Box::new(Journal::open(live, folder.as_ref(), &secrets)?),
        None => Box::new(live),
    };
    let mut show = |progress: Progress<'_>| match progress {
        Progress::Text(text) => {
            print!("{text}");
            let _ = std::io::stdout().flush();
        }
        Progress::Thinking(_) => {}
        Progress::Again { why, wait } => eprintln!("{why}; again in {wait:?}"),
    };
    let reply = endpoint.complete(&Request::new("", text, 256), &mut show, &|| false)?;
    println!("\n{:?} {:?}", reply.finish, reply.usage);
    println!(
        "first piece after {:?}, all after {:?}",
        reply.time_to_first_token, reply.elapsed
    );
    Ok(())
}
