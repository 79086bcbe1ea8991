//! The endpoint: prompts are read, and answers drawn token by token.

use std::fs;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_providers::{Endpoint, Failure, Finish, Progress, Reply, Request, Usage};
use ndbg_simulator::model::{Chat, Draw, ModelError};

use super::json::{Grammar, Place};
use super::template::{self, Unread};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Tokens of a prompt that are read before it is asked again whether to stop.
const CHUNK: usize = 64;
/// What every message about such a model begins with.
const PROVIDER: &str = "gguf";

/// A model that runs here.
#[derive(Debug)]
pub struct LocalModel {
    path: Utf8PathBuf,
    chat: Chat,
}

impl LocalModel {
    /// The file that a name of a model means, if it means one: `PATH.gguf` or `gguf:PATH`.
    pub fn named(name: &str) -> Option<Utf8PathBuf> {
        let name = name.trim();
        let (marked, path) = match name.strip_prefix("gguf:") {
            Some(path) => (true, path),
            None => (false, name),
        };
        let path = Utf8Path::new(path);
        let is_gguf = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("gguf"));
        (marked || (is_gguf && !name.contains("://"))).then(|| path.to_owned())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// There is none, it is no GGUF file, its network is not supported, or it has no template.
    pub fn open(path: &Utf8Path) -> Result<Self, Stop> {
        let usage = |message: String| Stop::new(Outcome::Usage, message);
        let bytes = fs::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => usage(format!("there is no file `{path}`"))
                .hint("`--model FILE.gguf` names a model of llama.cpp on this machine"),
            _ => usage(format!("`{path}`: {error}")).hint("name a file that can be read"),
        })?;
        if !bytes.starts_with(b"GGUF") {
            return Err(usage(format!("`{path}` is not a GGUF file")).hint(
                "models in this format begin with the letters GGUF; an interrupted download may hold a web page",
            ));
        }
        let chat = Chat::from_gguf(bytes.into()).map_err(|error| {
            usage(format!("`{path}`: {error}")).hint(match error {
                ModelError::Architecture(_) => {
                    "serve it with llama.cpp and name the server: `--model http://127.0.0.1:8080/v1`"
                }
                ModelError::Tokenizer(_) => {
                    "byte-level vocabularies are read (Qwen2.5, Llama 3); serve others with llama.cpp"
                }
                _ => "check that the file is whole",
            })
        })?;
        if chat.template().is_none() {
            return Err(usage(format!("`{path}`: {}", Unread::NoTemplate)).hint(
                "name a model that was trained to follow instructions: `…-Instruct`, `…-chat`",
            ));
        }
        Ok(Self {
            path: path.to_owned(),
            chat,
        })
    }

    /// Tokens of a conversation and an answer, together at most.
    pub fn context(&self) -> u64 {
        self.chat.context() as u64
    }

    /// Reads a prompt. The logits after it, and how much of it was there already.
    fn read(
        &mut self,
        prompt: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Result<(Vec<f32>, usize), Failure> {
        let kept = self.chat.keep(prompt);
        let mut logits = Vec::new();
        for chunk in prompt[kept..].chunks(CHUNK) {
            if stop() {
                return Err(Failure::Cancelled);
            }
            logits = self.chat.read(chunk).map_err(|error| failed(&error))?;
        }
        Ok((logits, kept))
    }
}

impl Endpoint for LocalModel {
    fn model(&self) -> String {
        format!("{PROVIDER}:{}", self.path.file_name().unwrap_or_default())
    }

    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: ndbg_providers::Stop<'_>,
    ) -> Result<Reply, Failure> {
        let begun = Instant::now();
        if stop() {
            return Err(Failure::Cancelled);
        }
        let rejected = |message: String| Failure::BadRequest {
            provider: PROVIDER.to_owned(),
            status: 0,
            message,
        };
        if !request.tools.is_empty() {
            return Err(rejected("a model in a file calls no functions".into()));
        }
        let prompt = template::tokens(&self.chat, &request.system, &request.messages)
            .map_err(|error| rejected(error.to_string()))?;
        let most = request.max_tokens as usize;
        if prompt.len() + most > self.chat.context() {
            return Err(Failure::ContextOverflow {
                limit: Some(self.context()),
                message: format!(
                    "{} tokens of the prompt and {most} of the answer",
                    prompt.len()
                ),
            });
        }
        let schema = request.schema.as_ref();
        let grammar = schema.and_then(|schema| Grammar::new(&schema.schema));
        let (mut logits, cached) = self.read(&prompt, stop)?;
        let mut draw = Draw::new(
            request.temperature.unwrap_or(0.0),
            request.seed.unwrap_or(0),
        );
        let mut said = Said::new(most, grammar.as_ref(), begun);
        loop {
            if stop() {
                return Err(Failure::Cancelled);
            }
            let chosen = match said.forced(&self.chat)? {
                Some(tokens) => tokens,
                None => match draw.token(&logits, &mut |token| said.allows(&self.chat, token)) {
                    Some(token) if self.chat.is_end(token) => {
                        // It was generated all the same.
                        said.count += 1;
                        break;
                    }
                    Some(token) => vec![token],
                    None => break,
                },
            };
            for &token in &chosen {
                said.say(self.chat.bytes(token).unwrap_or_default(), progress);
            }
            if said.is_over() {
                break;
            }
            logits = self.chat.read(&chosen).map_err(|error| failed(&error))?;
        }
        let finish = said.finish();
        Ok(Reply {
            usage: Usage {
                prompt: prompt.len() as u64,
                completion: said.count as u64,
                cached: cached as u64,
                ..Usage::default()
            },
            text: said.ended(progress),
            tool_calls: Vec::new(),
            finish,
            without: Vec::new(),
            time_to_first_token: said.first.unwrap_or_default(),
            elapsed: begun.elapsed(),
        })
    }
}

fn failed(error: &ModelError) -> Failure {
    Failure::Malformed {
        message: error.to_string(),
    }
}

/// An answer on its way.
struct Said<'g> {
    text: String,
    /// The beginning of a character.
    rest: Vec<u8>,
    /// Where in the grammar; none where anything may be said.
    place: Option<Place<'g>>,
    count: usize,
    most: usize,
    /// Whether a token was refused because too little was left.
    hurried: bool,
    begun: Instant,
    first: Option<Duration>,
}

impl<'g> Said<'g> {
    fn new(most: usize, grammar: Option<&'g Grammar>, begun: Instant) -> Self {
        // One that does not fit at all is not held to.
        let place = grammar
            .map(Grammar::begin)
            .filter(|place| place.least() <= most);
        Self {
            text: String::new(),
            rest: Vec::new(),
            place,
            count: 0,
            most,
            hurried: false,
            begun,
            first: None,
        }
    }

    /// Tokens of what must come next, whatever the model would say: it reads them at once.
    fn forced(&self, chat: &Chat) -> Result<Option<Vec<u32>>, Failure> {
        let forced = self.place.as_ref().map(Place::forced).unwrap_or_default();
        // A single byte often begins a token that says more.
        let Ok(text) = String::from_utf8(forced) else {
            return Ok(None);
        };
        if text.len() < 2 {
            return Ok(None);
        }
        let tokens = chat.encode(&text).map_err(|error| failed(&error))?;
        Ok((self.count + tokens.len() <= self.most).then_some(tokens))
    }

    /// Whether a token may come next. What is held to a grammar is always brought to its end: each of the bytes that
    /// it still needs is a token at most.
    fn allows(&mut self, chat: &Chat, token: u32) -> bool {
        let Some(place) = &self.place else {
            return chat.is_end(token) || chat.bytes(token).is_some();
        };
        let Some(after) = chat.bytes(token).filter(|bytes| !bytes.is_empty()) else {
            return false;
        };
        let Some(after) = place.after(after) else {
            return false;
        };
        let fits = after.least() < self.most - self.count;
        self.hurried |= !fits;
        fits
    }

    fn say(&mut self, bytes: &[u8], progress: &mut dyn FnMut(Progress<'_>)) {
        self.count += 1;
        self.first.get_or_insert_with(|| self.begun.elapsed());
        self.place = self.place.take().and_then(|place| place.after(bytes));
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            // What is wrong is not the beginning of anything.
            Err(error) if error.error_len().is_some() => self.rest.len(),
            Err(error) => error.valid_up_to(),
        };
        let piece = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        self.tell(&piece, progress);
    }

    fn tell(&mut self, piece: &str, progress: &mut dyn FnMut(Progress<'_>)) {
        if !piece.is_empty() {
            self.text += piece;
            progress(Progress::Text(piece));
        }
    }

    fn is_over(&self) -> bool {
        let is_complete = self.place.as_ref().is_some_and(Place::is_complete);
        is_complete || self.count >= self.most
    }

    fn finish(&self) -> Finish {
        let is_complete = self.place.as_ref().is_some_and(Place::is_complete);
        let is_cut = self.count >= self.most && !is_complete;
        if is_cut || self.hurried {
            Finish::Length
        } else {
            Finish::Stop
        }
    }

    /// The whole text.
    fn ended(&mut self, progress: &mut dyn FnMut(Progress<'_>)) -> String {
        let rest = std::mem::take(&mut self.rest);
        self.tell(&String::from_utf8_lossy(&rest), progress);
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests;
