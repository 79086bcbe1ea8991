//! How many questions are under way at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A number of permits, each of which one holder has at a time.
#[derive(Debug)]
pub struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
    count: usize,
}

/// A permit that goes back when it is dropped.
#[derive(Debug)]
pub struct Permit<'a>(&'a Permits);

impl Permits {
    /// So many, at least one.
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        Self {
            free: Mutex::new(count),
            returned: Condvar::new(),
            count,
        }
    }

    /// Waits for one.
    pub fn take(&self) -> Permit<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            let waited = self.returned.wait(free);
            free = waited.unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }

    /// Does jobs on as many threads as there are permits; answers in the order of the jobs. After an
    /// error no other job begins.
    ///
    /// # Errors
    /// The error of the first of the jobs that failed.
    pub fn all<J: Sync, A: Send, E: Send>(
        &self,
        jobs: &[J],
        work: impl Fn(&J) -> Result<A, E> + Sync,
    ) -> Result<Vec<A>, E> {
        if let [job] = jobs {
            return Ok(vec![work(job)?]);
        }
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let done = Mutex::new(Vec::with_capacity(jobs.len()));
        std::thread::scope(|scope| {
            for _ in 0..self.count.min(jobs.len()) {
                scope.spawn(|| {
                    while !failed.load(Ordering::Relaxed) {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(at) else { break };
                        let answer = work(job);
                        failed.fetch_or(answer.is_err(), Ordering::Relaxed);
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        done.push((at, answer));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, answer)| answer).collect()
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn no_more_work_at_a_time_than_there_are_permits() {
        let permits = Permits::new(3);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let jobs: Vec<usize> = (0..20).collect();
        let answers = permits.all(&jobs, |&job| {
            let _permit = permits.take();
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(3));
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ()>(job * 2)
        });
        assert_eq!(answers, Ok(jobs.iter().map(|job| job * 2).collect()));
        assert!((2..=3).contains(&most.into_inner()));
    }

    #[test]
    fn nothing_begins_after_an_error() {
        let permits = Permits::new(2);
        let begun = AtomicUsize::new(0);
        let jobs: Vec<usize> = (0..100).collect();
        let answer = permits.all(&jobs, |&job| {
            begun.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            if job == 1 { Err(job) } else { Ok(()) }
        });
        assert_eq!(answer, Err(1));
        assert!(begun.into_inner() < 10);
    }
}
