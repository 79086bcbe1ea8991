//! The conversation with a model, round by round.

use std::cell::Cell;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use minijinja::context;
use ndbg_providers::{
    Endpoint, Failure, Finish, Message, Meter, Progress, Reply, Request, Secret, redact,
};
use ndbg_tools::Cancel;

use super::answer::{self, Answer, Hypothesis};
use super::brief::{self, Told, cut, steady};
use super::exchange::{Exchange, Watch};
use super::prediction::{self, Verdict};
use super::prompt::Prompts;
use super::proposal::{self, Dropped, FIRST_ID};
use super::queries::{self, Lookup};
use super::repeats::Repeats;
use crate::plan::{Candidate, Facts, Feedback, PlanError, Planner};
use crate::report::wording::plural;

/// Tokens of the facts.
const FACTS: u64 = 3_500;
/// Questions of one round.
const QUERIES: usize = 8;
/// Requests of one round: questions, and what is asked again in other words.
const REQUESTS: usize = QUERIES + 6;
/// How often progress is told.
const TOLD: Duration = Duration::from_millis(250);
/// Temperature, and the one after a round of repetitions.
const TEMPERATURE: f64 = 0.2;
const RESTLESS: f64 = 0.9;
/// Rounds of nothing but repetitions after which it is over.
const CIRCLES: usize = 2;
/// Characters that are kept of an answer that cannot be used.
const RECOGNISED: usize = 300;
/// Candidates of the search planner that are kept to be told.
const TRIED: usize = 2_000;

/// What a conversation may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Rounds: answers with hypotheses.
    pub rounds: usize,
    /// Tokens of one reply.
    pub reply: u32,
    /// Tokens that the model takes in all, where it is known.
    pub context: Option<u64>,
}

/// What a planner asks with.
pub struct Means<'w> {
    /// The model.
    pub endpoint: Box<dyn Endpoint>,
    /// What may be spent.
    pub meter: Meter,
    /// What a conversation may take.
    pub limits: Limits,
    /// Templates in place of the built-in ones.
    pub prompts_folder: Option<Utf8PathBuf>,
    /// Where the model's questions are answered.
    pub lookup: Box<dyn Lookup + 'w>,
    /// Is told what happens.
    pub watch: Box<Watch<'w>>,
    /// Ends it early.
    pub cancel: Cancel,
    /// When the run ends, asked or not.
    pub deadline: Instant,
    /// Texts that no request may hold.
    pub secrets: Vec<Secret>,
}

/// A planner that asks a model.
pub struct LlmPlanner<'w> {
    means: Means<'w>,
    prompts: Option<Prompts>,
    system: String,
    messages: Vec<Message>,
    /// How much of the facts is left out.
    level: usize,
    round: usize,
    /// Rounds of nothing but repetitions, one after the other.
    circles: usize,
    repeats: Repeats,
    /// What is to be said of the last round besides the results of its candidates.
    notes: Vec<(String, String)>,
    /// What opened the round.
    told: Option<minijinja::Value>,
    /// What another planner tried before, to tell of what came near.
    tried: Vec<Feedback>,
    /// Candidates so far.
    proposed: u64,
    /// Whether the model takes questions.
    offers_queries: bool,
    over: Option<String>,
}

impl<'w> LlmPlanner<'w> {
    /// A planner that has not asked anything yet.
    pub fn new(means: Means<'w>) -> Self {
        Self {
            means,
            prompts: None,
            system: String::new(),
            messages: Vec::new(),
            level: 0,
            round: 0,
            circles: 0,
            repeats: Repeats::default(),
            notes: Vec::new(),
            told: None,
            tried: Vec::new(),
            proposed: 0,
            offers_queries: true,
            over: None,
        }
    }

    /// The first request, or the one after a round.
    fn speak(&mut self, facts: &Facts, results: &[Feedback]) -> Result<(), PlanError> {
        if self.prompts.is_none() {
            // The marks follow from all that may be shown.
            let mut shown = steady(&serde_json::to_string(&facts.failures).unwrap_or_default());
            for syntax in facts.files.values() {
                shown.push_str(syntax.file().text());
            }
            let prompts =
                Prompts::new(self.means.prompts_folder.as_deref(), &shown).map_err(failed)?;
            let example = facts.functions.first();
            let example = example.map_or("module.py", |function| function.file.as_str());
            self.system = prompts.system(example).map_err(failed)?;
            self.prompts = Some(prompts);
        }
        if self.messages.is_empty() {
            return self.open(facts);
        }
        // In the order of proposal: they end in any.
        let mut results: Vec<&Feedback> = results.iter().collect();
        results.sort_by_key(|feedback| feedback.candidate.id);
        let mut told: Vec<minijinja::Value> = results
            .iter()
            .map(|feedback| {
                context! {
                    claim => feedback.candidate.claim,
                    what => brief::outcome(&feedback.screened),
                }
            })
            .collect();
        let notes = std::mem::take(&mut self.notes);
        told.extend(
            notes
                .iter()
                .map(|(claim, what)| context! { claim => claim, what => what }),
        );
        let elsewhere: Vec<String> = facts
            .functions
            .iter()
            .skip(3)
            .take(6)
            .map(|function| {
                format!(
                    "`{}` ({}:{})",
                    function.qualname, function.file, function.first_line
                )
            })
            .collect();
        self.told = Some(context! {
            results => told,
            repeated => self.circles > 0,
            elsewhere => elsewhere.join(", "),
        });
        self.messages.push(Message::user(""));
        self.say_round(self.queries_now())
    }

    /// Writes what is said of the last round into the last message, where that is what opens this one.
    fn say_round(&mut self, queries: bool) -> Result<(), PlanError> {
        if let (Some(told), Some(Message::User { .. })) = (&self.told, self.messages.last()) {
            let values = context! { queries => queries, ..told.clone() };
            let text = self.render("round.txt", values)?;
            self.messages.pop();
            self.messages.push(Message::user(text));
        }
        Ok(())
    }

    /// The facts, as the only message.
    fn open(&mut self, facts: &Facts) -> Result<(), PlanError> {
        let told = Told {
            facts,
            recording: self.means.lookup.recording(),
            tried: &self.tried,
        };
        let room = self.means.limits.context.map_or(FACTS, |context| {
            let spoken_for = u64::from(self.means.limits.reply) + 1_200;
            FACTS.min(context.saturating_sub(spoken_for).max(500))
        });
        let Some(prompts) = &self.prompts else {
            return Ok(());
        };
        let (text, level) = brief::render(prompts, &told, room, self.level).map_err(failed)?;
        self.level = level;
        self.messages = vec![Message::user(redact(&text, &self.means.secrets))];
        self.told = None;
        Ok(())
    }

    /// Tells the facts anew in fewer words; what was said since goes, too.
    fn shorten(&mut self, facts: &Facts) -> Result<(), PlanError> {
        let length = |messages: &[Message]| messages.first().map_or(0, |first| first.text().len());
        let before = length(&self.messages);
        // A level may leave out what was not there anyway.
        while self.level + 1 < brief::LEVELS {
            self.level += 1;
            self.open(facts)?;
            if length(&self.messages) < before {
                break;
            }
        }
        Ok(())
    }

    fn render(&self, name: &str, values: minijinja::Value) -> Result<String, PlanError> {
        match &self.prompts {
            Some(prompts) => prompts.render(name, values).map_err(failed),
            None => Ok(String::new()),
        }
    }

    /// Whether questions are offered: after a round without success, to models that take them.
    fn queries_now(&self) -> bool {
        self.offers_queries && self.round > 1
    }

    /// Sends what is there; answers questions until there is something else.
    fn ask(&mut self, facts: &Facts) -> Result<Option<Reply>, PlanError> {
        let (mut queries, mut shrunk) = (0, 0);
        for _ in 0..REQUESTS {
            let request = Request {
                system: self.system.clone(),
                messages: self
                    .messages
                    .iter()
                    .map(|said| freed(said, &self.means.secrets))
                    .collect(),
                schema: Some(answer::schema()),
                tools: if self.queries_now() && queries < QUERIES {
                    queries::tools()
                } else {
                    Vec::new()
                },
                max_tokens: self.means.limits.reply,
                temperature: Some(if self.circles > 0 {
                    RESTLESS
                } else {
                    TEMPERATURE
                }),
                // A model that says the same again should not have to.
                seed: Some(self.round as u64),
            };
            let tokens = request.prompt_estimate();
            self.means
                .meter
                .admit(tokens, u64::from(self.means.limits.reply))
                .map_err(|cap| PlanError::Budget {
                    message: cap.to_string(),
                    hint: cap.hint().to_owned(),
                })?;
            (self.means.watch)(Exchange::Asked {
                round: self.round,
                model: self.means.endpoint.model(),
                tokens,
            });
            let reply = match self.send(&request) {
                Ok(reply) => reply,
                Err(Failure::ContextOverflow { limit, message }) if shrunk < 3 => {
                    shrunk += 1;
                    self.means.limits.context = limit.or(self.means.limits.context);
                    (self.means.watch)(Exchange::Unusable {
                        round: self.round,
                        why: format!("the context is too small ({message}); fewer facts are told"),
                    });
                    self.shorten(facts)?;
                    continue;
                }
                Err(Failure::BadRequest { message, .. })
                    if !request.tools.is_empty() && self.offers_queries =>
                {
                    self.offers_queries = false;
                    self.say_round(false)?;
                    (self.means.watch)(Exchange::Unusable {
                        round: self.round,
                        why: format!("the model takes no questions: {message}"),
                    });
                    continue;
                }
                Err(Failure::Cancelled) if self.means.cancel.is_set() => {
                    return Err(PlanError::Cancelled);
                }
                Err(Failure::Cancelled) if Instant::now() >= self.means.deadline => {
                    return Err(PlanError::Budget {
                        message: "time limit reached while the model answered".into(),
                        hint: "`--max-time` allows more".into(),
                    });
                }
                Err(Failure::Cancelled) => {
                    (self.means.watch)(Exchange::Unusable {
                        round: self.round,
                        why: "the answer is far longer than was asked for; it was ended".into(),
                    });
                    return Ok(None);
                }
                Err(failure) => {
                    return Err(PlanError::Unreachable {
                        message: failure.to_string(),
                        hint: failure.hint(),
                    });
                }
            };
            self.count(&reply);
            if reply.tool_calls.is_empty() {
                return Ok(Some(reply));
            }
            self.messages.push(Message::Assistant {
                text: reply.text,
                calls: reply.tool_calls.clone(),
            });
            for call in reply.tool_calls {
                queries += 1;
                let text = if queries > QUERIES {
                    "no more questions in this round".to_owned()
                } else {
                    queries::answer(self.means.lookup.as_ref(), &call)
                };
                (self.means.watch)(Exchange::Query {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                    characters: text.chars().count(),
                });
                // What is looked up is the repository's, too.
                let text = match &self.prompts {
                    Some(prompts) => prompts.data(&redact(&text, &self.means.secrets)),
                    None => text,
                };
                self.messages.push(Message::Tool {
                    id: call.id,
                    name: call.name,
                    text,
                });
            }
        }
        (self.means.watch)(Exchange::Unusable {
            round: self.round,
            why: "the model asks and asks, and does not answer".into(),
        });
        Ok(None)
    }

    fn send(&mut self, request: &Request) -> Result<Reply, Failure> {
        let begun = Instant::now();
        let (round, watch, cancel) = (self.round, &self.means.watch, &self.means.cancel);
        let (mut bytes, mut first, mut told) = (0, None, None::<Instant>);
        let deadline = self.means.deadline;
        // Thinking may take several times what an answer takes; beyond that nobody reads it.
        let (received, most) = (Cell::new(0), 64 * request.max_tokens as usize + 100_000);
        self.means.endpoint.complete(
            request,
            &mut |progress| match progress {
                Progress::Text(text) | Progress::Thinking(text) => {
                    bytes += text.len();
                    received.set(bytes);
                    let first = *first.get_or_insert_with(|| begun.elapsed().as_secs_f64());
                    if told.is_none_or(|at| at.elapsed() >= TOLD) {
                        told = Some(Instant::now());
                        watch(Exchange::Receiving {
                            round,
                            tokens: ndbg_providers::estimate_tokens(bytes),
                            first,
                        });
                    }
                }
                Progress::Again { why, wait } => {
                    (bytes, first) = (0, None);
                    received.set(0);
                    watch(Exchange::Again {
                        why: why.to_string(),
                        wait: wait.as_secs_f64(),
                    });
                }
            },
            &|| cancel.is_set() || Instant::now() >= deadline || received.get() > most,
        )
    }

    fn count(&mut self, reply: &Reply) {
        self.means.meter.record(&reply.usage);
        let spent = self.means.meter.spent();
        (self.means.watch)(Exchange::Answered {
            round: self.round,
            prompt: reply.usage.prompt,
            cached: reply.usage.cached,
            completion: reply.usage.completion,
            estimated: spent.estimated,
            cost: spent.cost,
            total: spent.prompt + spent.completion,
            first: reply.time_to_first_token.as_secs_f64(),
            seconds: reply.elapsed.as_secs_f64(),
        });
    }

    /// An answer that can be read, after one more try; none where there is none.
    fn answered(&mut self, facts: &Facts) -> Result<Option<Answer>, PlanError> {
        for repair in [true, false] {
            let Some(reply) = self.ask(facts)? else {
                self.notes.push((
                    "your answer".into(),
                    "there was none that could be used".into(),
                ));
                return Ok(None);
            };
            if reply.finish == Finish::Refusal {
                let text: String = reply.text.chars().take(200).collect();
                let why = format!("the model declines: {text}");
                (self.means.watch)(Exchange::Unusable {
                    round: self.round,
                    why: why.clone(),
                });
                self.over = Some(why);
                return Ok(None);
            }
            let read = answer::read(&reply.text);
            // What cannot be used is only there to be recognised: whole, it is paid for again and again, and small
            // models copy it.
            let said = match &read {
                Ok(_) => reply.text,
                Err(_) => cut(&reply.text, RECOGNISED),
            };
            self.messages.push(Message::assistant(said));
            let problem = match read {
                Ok(answer) => return Ok(Some(answer)),
                Err(_) if reply.finish == Finish::Length => {
                    format!(
                        "it was cut off at {} tokens; be shorter",
                        self.means.limits.reply
                    )
                }
                Err(problem) => problem,
            };
            (self.means.watch)(Exchange::Unusable {
                round: self.round,
                why: problem.clone(),
            });
            if repair {
                let text = self.render("repair.txt", context! { problem => problem })?;
                self.messages.push(Message::user(text));
            } else {
                self.notes.push(("your answer".into(), problem));
            }
        }
        Ok(None)
    }

    /// What the recording says of a hypothesis, and its candidate, or why it is not tried.
    fn judged(
        &mut self,
        facts: &Facts,
        hypothesis: &Hypothesis,
    ) -> (Option<Verdict>, Result<Candidate, Dropped>) {
        let recording = self.means.lookup.recording();
        let verdict = (hypothesis.prediction.as_ref())
            .map(|prediction| prediction::check(recording, prediction));
        let made = match &verdict {
            _ if self.repeats.is_repeated(hypothesis) => Err(Dropped::Repeated),
            Some(refuted @ Verdict::Refuted { .. }) => Err(Dropped::Refuted(refuted.clone())),
            _ => proposal::candidate(facts, hypothesis, self.proposed),
        };
        self.proposed += u64::from(made.is_ok());
        (verdict, made)
    }

    /// One round: candidates, if there are any.
    fn one_round(
        &mut self,
        facts: &Facts,
        results: &[Feedback],
    ) -> Result<Vec<Candidate>, PlanError> {
        self.round += 1;
        self.speak(facts, results)?;
        let Some(answer) = self.answered(facts)? else {
            return Ok(Vec::new());
        };
        let mut candidates = Vec::new();
        let mut repeated = 0;
        for hypothesis in &answer.hypotheses {
            let (verdict, made) = self.judged(facts, hypothesis);
            let prediction = hypothesis.prediction.as_ref();
            (self.means.watch)(Exchange::Hypothesis {
                round: self.round,
                claim: hypothesis.claim.clone(),
                file: hypothesis.file.clone(),
                line: hypothesis.line,
                prediction: prediction.map(|prediction| {
                    format!(
                        "{} at {}:{}",
                        prediction.condition, prediction.file, prediction.line
                    )
                }),
                verdict,
                edits: hypothesis.edits.len(),
                dropped: made.as_ref().err().map(ToString::to_string),
            });
            match made {
                Ok(candidate) => candidates.push(candidate),
                Err(why) => {
                    repeated += usize::from(why == Dropped::Repeated);
                    self.notes.push((hypothesis.claim.clone(), why.to_string()));
                }
            }
        }
        self.circles = if repeated == answer.hypotheses.len() {
            self.circles + 1
        } else {
            0
        };
        if self.circles >= CIRCLES {
            self.over = Some("the model repeats itself".into());
        }
        Ok(candidates)
    }
}

/// A message without secrets. What the model said itself stays: it was never told any.
fn freed(message: &Message, secrets: &[Secret]) -> Message {
    match message {
        Message::User { text } => Message::user(redact(text, secrets)),
        other => other.clone(),
    }
}

fn failed(error: impl std::fmt::Display) -> PlanError {
    PlanError::Failed(error.to_string())
}

impl Planner for LlmPlanner<'_> {
    fn name(&self) -> &'static str {
        "model"
    }

    fn propose(
        &mut self,
        facts: &Facts,
        feedback: &[Feedback],
        _limit: usize,
    ) -> Result<Vec<Candidate>, PlanError> {
        let mut results: Vec<Feedback> = feedback
            .iter()
            .filter(|feedback| feedback.candidate.id >= FIRST_ID)
            .cloned()
            .collect();
        if self.messages.is_empty() {
            self.tried = feedback.iter().take(TRIED).cloned().collect();
            results.clear();
        }
        while self.over.is_none() {
            if self.round >= self.means.limits.rounds {
                return Err(PlanError::Budget {
                    message: format!(
                        "limit of {} with the model reached",
                        plural(self.means.limits.rounds, "round")
                    ),
                    hint: "`--max-rounds` allows more".into(),
                });
            }
            let candidates = self.one_round(facts, &results)?;
            if !candidates.is_empty() {
                return Ok(candidates);
            }
            results.clear();
        }
        Ok(Vec::new())
    }

    fn remaining(&self) -> Option<usize> {
        None
    }

    fn waits(&self) -> bool {
        true
    }

    fn ended(&self) -> Option<&str> {
        self.over.as_deref()
    }
}
