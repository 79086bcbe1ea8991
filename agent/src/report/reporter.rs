//! Takes events from any thread and hands them to the renderers.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_providers::Secret;

use crate::report::event::{Event, Level, Stamped};
use crate::report::jsonl::{self, Sink};
use crate::report::live::Live;
use crate::report::look::{ColorChoice, Look};
use crate::report::story::Story;
use crate::report::terminal::{self, Verbosity};
use crate::report::{ReportError, artefacts, next};

/// What goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdoutMode {
    /// Nothing.
    Silent,
    /// The diff, at the end.
    #[default]
    Diff,
    /// Every event, as it happens.
    Jsonl,
}

/// Whether progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgressChoice {
    /// A line that redraws itself on terminals, elsewhere a plain line every ten seconds.
    #[default]
    Auto,
    /// Not at all.
    Never,
}

/// How to report.
#[derive(Debug, Clone, Default)]
pub struct ReporterOptions {
    /// Where artefacts go; none are written without it.
    pub run_dir: Option<Utf8PathBuf>,
    /// What goes to stdout.
    pub stdout: StdoutMode,
    /// Only warnings, errors and how it ended on stderr.
    pub quiet: bool,
    /// Each candidate on stderr too.
    pub verbose: bool,
    /// When to use colour.
    pub color: ColorChoice,
    /// Whether progress is shown.
    pub progress: ProgressChoice,
}

/// Takes events and reports them.
pub struct Reporter {
    started: Instant,
    run_dir: Option<Utf8PathBuf>,
    stdout: StdoutMode,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Texts that no event may hold.
    secrets: Vec<Secret>,
    story: Story,
    recording: Option<Sink>,
    /// Whether a failure to record was reported.
    lost: bool,
    /// Stdout; taken away once its reader has gone.
    out: Option<Sink>,
    screen: Screen,
}

/// The streams of the process, or their stand-ins in tests.
pub(super) struct Streams {
    pub out: Box<dyn Write + Send>,
    pub err: Box<dyn Write + Send>,
    pub look: Look,
    pub live: Live,
    /// Whether a person sees both on one screen.
    pub together: bool,
}

impl Streams {
    fn of_process(options: &ReporterOptions) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let terminal = io::stderr().is_terminal();
        let columns = terminal.then(|| {
            console::Term::stderr()
                .size_checked()
                .map_or(Look::PLAIN.width, |(_, columns)| usize::from(columns))
        });
        let look = Look::settle(options.color, columns, variable);
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let live = if options.quiet || options.progress == ProgressChoice::Never {
            Live::Off
        } else if terminal && !dumb {
            Live::bar(&look)
        } else {
            Live::plain()
        };
        Self {
            out: Box::new(io::stdout()),
            err: Box::new(io::stderr()),
            look,
            live,
            together: terminal && io::stdout().is_terminal(),
        }
    }
}

impl ReporterOptions {
    /// Nothing but warnings and errors: for verbs whose result is not a report.
    pub fn silent(color: ColorChoice) -> Self {
        Self {
            run_dir: None,
            stdout: StdoutMode::Silent,
            quiet: true,
            verbose: false,
            color,
            progress: ProgressChoice::Never,
        }
    }
}

impl Reporter {
    /// Opens the recording; fails where the run directory cannot be written.
    pub fn start(options: ReporterOptions) -> Result<Self, ReportError> {
        let streams = Streams::of_process(&options);
        Self::on(streams, options)
    }

    pub(super) fn on(streams: Streams, options: ReporterOptions) -> Result<Self, ReportError> {
        let recording = match &options.run_dir {
            Some(run_dir) => Some(open(run_dir)?),
            None => None,
        };
        let verbosity = match (options.quiet, options.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        Ok(Self {
            started: Instant::now(),
            run_dir: options.run_dir,
            stdout: options.stdout,
            inner: Mutex::new(Inner {
                secrets: Vec::new(),
                story: Story::default(),
                recording: recording.map(|file| Sink::new(Box::new(file))),
                lost: false,
                out: (options.stdout != StdoutMode::Silent).then(|| Sink::new(streams.out)),
                screen: Screen {
                    err: streams.err,
                    look: streams.look,
                    live: streams.live,
                    verbosity,
                    together: streams.together,
                },
            }),
        })
    }

    /// Keeps texts out of all events from now on, and so out of every artefact.
    pub fn hide(&self, secrets: &[Secret]) {
        self.lock().secrets.extend_from_slice(secrets);
    }

    /// Reports an event. Never fails: a full disk or a closed pipe must not end a run.
    pub fn emit(&self, event: Event) {
        // The lock comes before the time, so that times never run backwards in the recording.
        let mut inner = self.lock();
        let at = (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        let event = without(&inner.secrets, event);
        inner.emit(&Stamped { at, event }, self.stdout);
    }

    /// Writes the artefacts and the diff; `patch` is empty when nothing was found. All of them are
    /// tried; the answer is the first error.
    pub fn finish(&self, patch: &[u8]) -> Result<(), ReportError> {
        let mut inner = self.lock();
        inner.screen.live = Live::Off;
        if let Some(end) = &mut inner.story.end {
            end.diff = String::from_utf8_lossy(patch).into_owned();
        }
        let written = self.run_dir.as_deref().map_or(Ok(()), |run_dir| {
            artefacts::write(run_dir, &inner.story, patch)
        });
        let printed = match self.stdout {
            StdoutMode::Diff => inner.print(patch),
            StdoutMode::Silent | StdoutMode::Jsonl => Ok(()),
        };
        if let Some(run_dir) = &self.run_dir
            && written.is_ok()
        {
            inner.point(run_dir);
        }
        written.and(printed)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere must not take the report with it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event without secrets.
fn without(secrets: &[Secret], event: Event) -> Event {
    if secrets.is_empty() {
        return event;
    }
    let Ok(text) = serde_json::to_string(&event) else {
        return event;
    };
    let mut hidden = text.clone();
    for secret in secrets.iter().filter(|secret| secret.expose().len() >= 6) {
        hidden = hidden.replace(secret.expose(), "***");
    }
    if hidden == text {
        return event;
    }
    serde_json::from_str(&hidden).unwrap_or(event)
}

fn open(run_dir: &Utf8Path) -> Result<File, ReportError> {
    let path = run_dir.join(artefacts::EVENTS);
    let refused = |path: &Utf8Path, source| ReportError::RunDir {
        path: path.to_owned(),
        source,
    };
    std::fs::create_dir_all(run_dir).map_err(|source| refused(run_dir, source))?;
    File::create(&path).map_err(|source| refused(&path, source))
}

impl Inner {
    fn emit(&mut self, stamped: &Stamped, stdout: StdoutMode) {
        let line = jsonl::line(stamped).map_err(io::Error::from);
        if let Some(recording) = &mut self.recording {
            let recorded = line.as_ref().map_or_else(
                |error| Err(io::Error::new(error.kind(), error.to_string())),
                |line| recording.write(line),
            );
            if let Err(error) = recorded
                && !std::mem::replace(&mut self.lost, true)
            {
                self.warn(&format!(
                    "cannot record events: {error}; the run goes on, `{}` will have gaps",
                    artefacts::EVENTS
                ));
            }
        }
        if stdout == StdoutMode::Jsonl
            && let Ok(line) = &line
            && let Err(error) = self.write_out(line)
        {
            self.warn(&format!("cannot write events to stdout: {error}"));
        }
        self.story.absorb(stamped);
        self.screen.show(stamped, &self.story);
    }

    /// Writes to stdout, until that fails. A reader that has gone has seen what it wanted.
    fn write_out(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let written = out.write(bytes);
        if written.is_err() {
            self.out = None;
        }
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    fn print(&mut self, patch: &[u8]) -> Result<(), ReportError> {
        if patch.is_empty() {
            return Ok(());
        }
        self.screen.set_apart();
        let written = self.write_out(patch).map_err(ReportError::Stdout);
        self.screen.set_apart();
        written
    }

    /// Says something that is no event of the run.
    fn warn(&mut self, text: &str) {
        let note = Event::Note {
            level: Level::Warning,
            text: text.to_owned(),
            hint: None,
        };
        let at = self.story.clock.last;
        self.screen.show(&Stamped { at, event: note }, &self.story);
    }

    fn point(&mut self, run_dir: &Utf8Path) {
        let cwd = std::env::current_dir()
            .ok()
            .and_then(|cwd| Utf8PathBuf::from_path_buf(cwd).ok())
            .unwrap_or_default();
        let report = next::shown(&run_dir.join(artefacts::REPORT), &cwd);
        let command = next::command(&self.story, &cwd);
        self.screen.point(&report, command.as_deref());
    }
}

/// What people see on stderr.
struct Screen {
    err: Box<dyn Write + Send>,
    look: Look,
    live: Live,
    verbosity: Verbosity,
    /// Whether stdout is the same screen.
    together: bool,
}

impl Screen {
    fn show(&mut self, stamped: &Stamped, story: &Story) {
        let mut text = String::new();
        if let Some(line) = self.live.follow(stamped, &self.look) {
            text = terminal::progress(&line, &self.look);
        }
        text.push_str(&terminal::render(
            stamped,
            story,
            &self.look,
            self.verbosity,
        ));
        self.print(&text);
    }

    fn point(&mut self, report: &Utf8Path, next: Option<&str>) {
        if self.verbosity != Verbosity::Quiet {
            let text = terminal::pointers(report, next, &self.look);
            self.print(&text);
        }
    }

    /// An empty line around the diff, where it would run into what stands around it.
    fn set_apart(&mut self) {
        if self.together {
            self.print("\n");
        }
    }

    fn print(&mut self, text: &str) {
        if !text.is_empty() {
            // There is nowhere left to say that stderr is closed.
            let _ = self.live.print(&mut *self.err, text);
        }
    }
}
