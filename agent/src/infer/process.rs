//! The processes of one inference: they end with the budget, whatever a call or an import does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ndbg_tools::Cancel;
use ndbg_tools::python::executions::{
    Call, Description, Execution, Executor, Goal, Place, Subject,
};

use super::search::Executes;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// How often a watch looks.
const LOOK: Duration = Duration::from_millis(20);
/// What a process may take beyond the end of the budget.
const GRACE: Duration = Duration::from_millis(400);

/// Sets a flag at a moment, or when the user ends the run; until it is dropped.
#[derive(Debug)]
struct Watch {
    flag: Cancel,
    until: Arc<Mutex<Option<Instant>>>,
    done: Arc<AtomicBool>,
}

impl Watch {
    fn start(user: &Cancel, until: Option<Instant>) -> Self {
        let watch = Self {
            flag: Cancel::default(),
            until: Arc::new(Mutex::new(until)),
            done: Arc::new(AtomicBool::new(false)),
        };
        let (flag, user) = (watch.flag.clone(), user.clone());
        let (until, done) = (Arc::clone(&watch.until), Arc::clone(&watch.done));
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                let is_late = match until.lock() {
                    Ok(until) => until.is_some_and(|until| Instant::now() > until),
                    Err(_) => false,
                };
                if is_late || user.is_set() {
                    flag.set();
                    return;
                }
                std::thread::sleep(LOOK);
            }
        });
        watch
    }

    fn set_until(&self, moment: Option<Instant>) {
        if let Ok(mut until) = self.until.lock() {
            *until = moment;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

/// A process that executes calls of a function, replaced when it has to be.
#[derive(Debug)]
pub struct Process {
    place: Place,
    subject: Subject,
    goal: Goal,
    /// The user's.
    cancel: Cancel,
    end: Instant,
    /// None after the budget ended in the middle of a call.
    held: Option<(Executor, Watch)>,
}

impl Process {
    /// Starts a process, which imports the file.
    ///
    /// # Errors
    /// No such function or line, a module that cannot be imported or takes longer than there is, no
    /// interpreter, or an interruption.
    pub fn start(
        place: Place,
        subject: &Subject,
        goal: &Goal,
        end: Instant,
    ) -> Result<(Self, Description), Stop> {
        let cancel = place.cancel.clone();
        let mut process = Self {
            place,
            subject: subject.clone(),
            goal: goal.clone(),
            cancel,
            end,
            held: None,
        };
        let Some(executor) = process.open(Some(end + GRACE))? else {
            return Err(late(subject));
        };
        let description = executor.description().clone();
        Ok((process, description))
    }

    /// The executor, which ends at the moment; none where its import takes longer.
    fn open(&mut self, until: Option<Instant>) -> Result<Option<&mut Executor>, Stop> {
        let is_over = |(_, watch): &(Executor, Watch)| watch.flag.is_set();
        if self.held.as_ref().is_some_and(is_over) {
            self.held = None;
        }
        let held = match self.held.take() {
            Some(held) => {
                held.1.set_until(until);
                held
            }
            None => {
                let watch = Watch::start(&self.cancel, until);
                let mut place = self.place.clone();
                place.cancel = watch.flag.clone();
                match Executor::start(&place, &self.subject, &self.goal) {
                    Ok(executor) => (executor, watch),
                    Err(error) if error.is_cancelled() && !self.cancel.is_set() => {
                        return Ok(None);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        Ok(Some(&mut self.held.insert(held).0))
    }

    /// Executes a call in new processes, as often as there is time for until a moment.
    ///
    /// # Errors
    /// No process, or an interruption.
    pub fn verify(
        &mut self,
        call: &Call,
        times: usize,
        until: Option<Instant>,
    ) -> Result<Option<Vec<Execution>>, Stop> {
        if self.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        // A watch may have gone off while it was told to wait for longer.
        for _ in 0..2 {
            let Some(executor) = self.open(until)? else {
                break;
            };
            match executor.verify(call, times) {
                Ok(runs) => return Ok(Some(runs)),
                Err(error) if error.is_cancelled() && !self.cancel.is_set() => self.held = None,
                Err(error) => return Err(error.into()),
            }
            if until.is_some_and(|until| Instant::now() > until) {
                break;
            }
        }
        Ok(None)
    }
}

fn late(subject: &Subject) -> Stop {
    Stop::new(
        Outcome::Usage,
        format!(
            "the import of `{}` takes longer than there is time",
            subject.file
        ),
    )
    .hint("--seconds S gives it more")
}

impl Executes for Process {
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Execution>, Stop> {
        let until = self.end + GRACE;
        if Instant::now() > until {
            return Ok(Vec::new());
        }
        let Some(executor) = self.open(Some(until))? else {
            return Ok(Vec::new());
        };
        match executor.run(calls) {
            Ok(executions) => Ok(executions),
            Err(error) if error.is_cancelled() && !self.cancel.is_set() => {
                // Whatever takes so long is given up with its process.
                self.held = None;
                Ok(Vec::new())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn confirm(&mut self, call: &Call) -> Result<Option<Execution>, Stop> {
        let until = self.end + GRACE;
        let runs = self.verify(call, 1, Some(until))?;
        Ok(runs.and_then(|runs| runs.into_iter().next()))
    }

    fn reload(&mut self) -> Result<(), Stop> {
        self.held = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_sets_its_flag_in_time_or_with_the_users() {
        let user = Cancel::default();
        let watch = Watch::start(&user, Some(Instant::now() + Duration::from_millis(30)));
        let other = Watch::start(&user, None);
        std::thread::sleep(Duration::from_millis(300));
        assert!(watch.flag.is_set() && !other.flag.is_set() && !user.is_set());
        user.set();
        std::thread::sleep(Duration::from_millis(300));
        assert!(other.flag.is_set());
    }
}
