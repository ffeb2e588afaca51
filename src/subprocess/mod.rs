//! Commands of the user, for mechanisms and estimators in any language: one JSON document on
//! standard input, one on standard output.
//!
//! A command runs in a process group of its own, in the folder of the experiment file. At the
//! deadline, and when the command has ended, the whole group is killed. The address space of the
//! command and of its children is limited on Linux, from before it has its input; elsewhere it is
//! told the limit and may ignore it.

mod answer;
mod error;
mod group;
mod private_file;
#[cfg(test)]
mod tests;

pub(crate) use answer::{Refusal, refusal};
pub use error::CommandError;
pub(crate) use private_file::PrivateFile;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use error::Reason;
use group::Group;

/// The most bytes of an answer. Our choice: above every sensible problem, below the memory of a
/// small machine.
const MAX_ANSWER: u64 = 1 << 30;
/// The bytes of standard error that a message keeps.
const KEPT_STDERR: usize = 1000;
/// How long the output of a killed group may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// How often an ended output is followed by a look at the process.
const POLL: Duration = Duration::from_millis(2);

/// Kills all running commands and removes the files that they read. For a program that is about to
/// end: the terminal sends its signal to the group of the program alone.
pub fn end_all() {
    group::kill_all();
    private_file::remove_all();
}

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// At least one.
    words: Vec<String>,
    /// Where it runs, and what its relative paths are relative to.
    folder: PathBuf,
}

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// In bytes.
    pub(crate) memory: u64,
    pub(crate) deadline: Option<Instant>,
}

impl Limits {
    /// The seconds until the deadline.
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.deadline.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64())
    }
}

impl Program {
    pub(crate) fn new(words: &[String], folder: &Path) -> Self {
        Self { words: words.to_vec(), folder: folder.to_path_buf() }
    }

    /// As in a shell, without quotes.
    pub(crate) fn shown(&self) -> String {
        self.words.join(" ")
    }

    /// A hash of the words, and of the contents of the files that they and `more` name, so that
    /// results of an edited script are stale.
    pub(crate) fn fingerprint(&self, more: &[PathBuf]) -> Result<String, (PathBuf, io::Error)> {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        self.words.iter().for_each(|word| add(word.as_bytes()));
        let named = self.words.iter().map(|word| self.folder.join(word));
        let named = named.filter(|path| path.is_file());
        for path in named.chain(more.iter().map(|file| self.folder.join(file))) {
            add(&std::fs::read(&path).map_err(|error| (path, error))?);
        }
        Ok(hasher.finalize().to_hex()[..16].to_string())
    }

    /// Writes `input` to the command and returns what it answers.
    pub(crate) fn run(&self, input: Vec<u8>, limits: Limits) -> Result<Vec<u8>, CommandError> {
        let failed = |reason| CommandError { command: self.shown(), reason };
        let mut child = self.spawn().map_err(|error| failed(Reason::NotStarted(error)))?;
        let group = Group::of(&child);
        let limited = group.limit_memory(limits.memory);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let answer = in_thread(move || stdout.map_or(Ok(Vec::new()), read_answer));
        let complaints = in_thread(move || stderr.map_or_else(String::new, read_tail));
        // A command that does not read its input closes the pipe, which is its own business.
        let _input = in_thread(move || stdin.map(|mut stdin| stdin.write_all(&input)));
        let wait = || -> Result<(ExitStatus, io::Result<Vec<u8>>), Reason> {
            limited.map_err(Reason::Io)?;
            let answer = receive(&answer, limits.deadline)?;
            Ok((wait_until(&mut child, limits.deadline)?, answer))
        };
        let ended = wait();
        group.kill();
        // Reaps a command that was killed. One that had ended keeps its status.
        let _ = child.wait();
        drop(group);
        let complaints = complaints.recv_timeout(GRACE).unwrap_or_default();
        let (status, answer) = match ended {
            Ok(ended) => ended,
            Err(reason) => return Err(failed(reason)),
        };
        if !status.success() {
            return Err(failed(Reason::Status { status, complaints }));
        }
        let answer = answer.map_err(|error| failed(Reason::Io(error)))?;
        match answer.len() as u64 > MAX_ANSWER {
            true => Err(failed(Reason::TooLong)),
            false => Ok(answer),
        }
    }

    /// An error about the content of an answer.
    pub(crate) fn wrong_answer(&self, what: impl ToString) -> CommandError {
        CommandError { command: self.shown(), reason: Reason::Answer(what.to_string()) }
    }

    fn spawn(&self) -> io::Result<Child> {
        let [program, arguments @ ..] = &self.words[..] else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
        };
        // Where a relative path to a program starts is not the same on all systems.
        let program = match program.contains('/') {
            true => std::path::absolute(self.folder.join(program))?,
            false => PathBuf::from(program),
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::lead(&mut command);
        command.spawn()
    }
}

/// The result of `work`, which may never end.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(work()));
    receiver
}

fn read_answer(from: impl Read) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    from.take(MAX_ANSWER + 1).read_to_end(&mut answer)?;
    Ok(answer)
}

/// The last bytes, with its lines separated by slashes.
fn read_tail(mut from: impl Read) -> String {
    let mut kept: VecDeque<u8> = VecDeque::new();
    let mut block = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut block) {
        kept.extend(&block[..read]);
        kept.drain(..kept.len().saturating_sub(KEPT_STDERR));
    }
    let bytes: Vec<u8> = kept.into();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" / ")
}

fn receive<T>(from: &Receiver<T>, deadline: Option<Instant>) -> Result<T, Reason> {
    let Some(deadline) = deadline else {
        return from.recv().map_err(|_| Reason::Io(io::ErrorKind::BrokenPipe.into()));
    };
    let left = deadline.saturating_duration_since(Instant::now());
    from.recv_timeout(left).map_err(|error| match error {
        RecvTimeoutError::Timeout => Reason::Timeout,
        RecvTimeoutError::Disconnected => Reason::Io(io::ErrorKind::BrokenPipe.into()),
    })
}

/// The status of a child whose output has ended.
fn wait_until(child: &mut Child, deadline: Option<Instant>) -> Result<ExitStatus, Reason> {
    loop {
        if let Some(status) = child.try_wait().map_err(Reason::Io)? {
            return Ok(status);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Reason::Timeout);
        }
        thread::sleep(POLL);
    }
}
