//! Threads that work off what is put in line for them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// A line of jobs, begun in the order in which they were put there, and at most so many threads that
/// work it off. They are started when they are first needed.
pub struct Lane {
    line: Mutex<Line>,
    more: Condvar,
    most: usize,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Lane {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { line: Mutex::default(), more: Condvar::new(), most })
    }

    pub fn put(self: &Arc<Self>, job: impl FnOnce() + Send + 'static) {
        let mut line = self.line();
        line.jobs.push_back(Box::new(job));
        if line.idle < line.jobs.len() && line.threads < self.most {
            line.threads += 1;
            let lane = Arc::clone(self);
            thread::spawn(move || lane.work());
        }
        self.more.notify_one();
    }

    fn work(&self) {
        let mut line = self.line();
        loop {
            match line.jobs.pop_front() {
                Some(job) => {
                    drop(line);
                    job();
                    line = self.line();
                }
                None => {
                    line.idle += 1;
                    line = self.more.wait(line).unwrap_or_else(PoisonError::into_inner);
                    line.idle -= 1;
                }
            }
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
