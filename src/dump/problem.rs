use std::{fmt, io};

use thiserror::Error;

use super::{MAX_BROKEN, MAX_FILE_BYTES, MAX_FOLDERS};

/// Something in a dump that could not be read. Everything else was.
#[derive(Debug, Error)]
pub enum Problem {
    /// A file or folder could not be opened or read.
    #[error("can't read {path}: {cause}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A file is larger than [`MAX_FILE_BYTES`].
    #[error("{path} is larger than {} MiB: split it into several files", MAX_FILE_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: String,
    },
    /// Folders lie deeper in each other than [`MAX_FOLDERS`].
    #[error("{path} lies more than {MAX_FOLDERS} folders deep and was not read")]
    TooDeep {
        /// The folder.
        path: String,
    },
    /// Nothing in a folder has the name of a file that is read.
    #[error("{path} holds no .yaml, .yml, .json, .jsonl or .ndjson file")]
    NothingToRead {
        /// The folder.
        path: String,
    },
    /// A document is neither YAML nor JSON.
    #[error("{place}: broken document: {message}")]
    Broken {
        /// Where the reader stopped.
        place: Place,
        /// What it said.
        message: String,
    },
    /// A file has more than [`MAX_BROKEN`] broken documents.
    #[error("{place}: more than {MAX_BROKEN} broken documents: the rest of the file was not read")]
    TooManyBroken {
        /// Where reading ended.
        place: Place,
    },
    /// What should be an object isn't one that can be used.
    #[error("{place}: {object} was passed over: {fault}")]
    Unusable {
        /// The document with the object.
        place: Place,
        /// What is known of it: its kind and name, or where it stands.
        object: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The value of a label is a number or a truth value, which an API server refuses. The object
    /// was read as if the value were text.
    #[error("{place}: label {key} of {object} isn't text: put its value into quotes")]
    LabelNotText {
        /// The document with the object.
        place: Place,
        /// Kind and name of the object.
        object: String,
        /// The label's key.
        key: String,
    },
}

/// Why an object can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// It is a number or a text.
    #[error("it is no object")]
    NoObject,
    /// There is no `kind` that is text.
    #[error("its kind is missing or no text")]
    NoKind,
    /// There is no `apiVersion` that is text.
    #[error("its apiVersion is missing or no text")]
    NoApiVersion,
    /// There is no name at all.
    #[error("it has no name")]
    NoName,
    /// The API server is to make the name.
    #[error("it has no name before an API server makes one from generateName")]
    GeneratedName,
    /// Which of two fields is meant can't be told.
    #[error("it has two fields {0:?} in one place")]
    Twice(String),
    /// The name is a number or a truth value, as `y`, `no` and `12` are.
    #[error("its name is read as {0}, which is not text: put the name into quotes")]
    NameNotText(String),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named; cleaned.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The document within the file, from 1. Empty documents aren't counted.
    pub document: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} (document {})", self.path, self.line, self.document)
    }
}
