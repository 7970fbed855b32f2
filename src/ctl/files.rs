//! What `-f` reads.

use std::{
    io::{self, Read, Write},
    mem,
    path::{Path, PathBuf},
};

use super::Exit;
use crate::{
    api::LabelPrefix,
    dump::{Dump, Keep, Problem, Reader},
    explain::Files,
    health::Rules,
    model::{Object, Timestamp},
    summary::{Census, Observation},
};

/// What was found in files.
pub(super) struct FromFiles {
    pub census: Census,
    /// When the files were made: the clock that their verdicts are taken by.
    pub taken: Timestamp,
    pub report: Report,
}

/// How well the reading went.
pub(super) struct Report {
    problems: Vec<Problem>,
    seen: usize,
    skipped: usize,
}

/// Reads everything at `paths`, judged by `rules`, and gives with it all objects that are there,
/// labelled or not. `now` is the latest that the files can have been made.
pub(super) fn read(
    paths: &[PathBuf],
    prefix: &LabelPrefix,
    rules: &Rules,
    stdin: &mut (dyn Read + Send),
    now: Timestamp,
) -> (FromFiles, Files) {
    let is_labelled =
        |labels: &[(String, String)]| labels.iter().any(|(key, _)| prefix.identifier(key).is_some());
    let mut dump = finish(Reader::new(is_labelled).with_events(), paths, stdin);
    // What carries no label may still stand between an owner and what it made.
    let link = |object: &Object| {
        let (uid, controller) = (&object.reference.uid, &object.controller.as_ref()?.uid);
        (!uid.is_empty() && !controller.is_empty()).then(|| (uid.clone(), controller.clone()))
    };
    let observations =
        dump.objects.iter().filter_map(|object| Observation::of(object, prefix, rules)).collect();
    let links = dump.objects.iter().filter_map(link).collect();
    let found = FromFiles {
        census: Census { observations, links, ..Census::default() },
        taken: taken(&dump, now),
        report: Report::of(&mut dump),
    };
    (found, Files::new(dump.objects, dump.events))
}

/// Lets `reader` read everything at `paths`.
pub(super) fn finish<K: Keep>(
    mut reader: Reader<K>,
    paths: &[PathBuf],
    stdin: &mut (dyn Read + Send),
) -> Dump {
    for path in paths {
        if path == Path::new("-") {
            reader.stream("standard input", &mut *stdin);
        } else {
            reader.path(path);
        }
    }
    reader.finish()
}

/// When what was read was made. Where no object tells any time, no verdict depends on it: then the
/// answer must not change from one run to the next either.
pub(super) fn taken(dump: &Dump, now: Timestamp) -> Timestamp {
    dump.taken.map_or(Timestamp::UNIX_EPOCH, |taken| taken.min(now))
}

impl Report {
    /// Takes out of `dump` what there is to say of the reading.
    pub fn of(dump: &mut Dump) -> Self {
        Self { problems: mem::take(&mut dump.problems), seen: dump.seen, skipped: dump.skipped }
    }

    /// Says what could not be read.
    pub fn problems(&self, stderr: &mut dyn Write) -> io::Result<()> {
        self.problems.iter().try_for_each(|problem| writeln!(stderr, "error: {problem}"))
    }

    /// Says how much was read, for where nothing came of it.
    pub fn extent(&self, stderr: &mut dyn Write) -> io::Result<()> {
        let Self { seen, skipped, .. } = self;
        writeln!(stderr, "note: Kubernetes objects read: {seen}; other documents passed over: {skipped}")
    }

    /// Whether everything was read.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    /// [`Exit::Success`] where everything was read.
    pub fn exit(&self) -> Exit {
        if self.is_whole() { Exit::Success } else { Exit::Failure }
    }
}
