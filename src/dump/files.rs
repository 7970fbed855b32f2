//! From paths to bytes.

use std::{
    borrow::Cow,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{MAX_FILE_BYTES, MAX_FOLDERS, Problem};
use crate::model::text;

/// How a path is shown.
pub(super) fn shown(path: &Path) -> String {
    text::message(&path.to_string_lossy())
}

/// The names' endings of the files that are read of a folder.
const ENDINGS: [&str; 5] = ["yaml", "yml", "json", "jsonl", "ndjson"];

/// The files to read at `path`, in order of name: itself, or what a folder holds of YAML and JSON.
/// Links to folders inside aren't followed: they may lead in a circle.
pub(super) fn find(path: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let before = problems.len();
            folder(path, 0, &mut found, problems);
            if found.is_empty() && problems.len() == before {
                problems.push(Problem::NothingToRead { path: shown(path) });
            }
        }
        Ok(_) => found.push(path.to_owned()),
        Err(cause) => problems.push(Problem::Unreadable { path: shown(path), cause }),
    }
    found
}

fn folder(path: &Path, depth: usize, found: &mut Vec<PathBuf>, problems: &mut Vec<Problem>) {
    if depth > MAX_FOLDERS {
        problems.push(Problem::TooDeep { path: shown(path) });
        return;
    }
    let entries = match fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(cause) => {
            problems.push(Problem::Unreadable { path: shown(path), cause });
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            folder(&path, depth + 1, found, problems);
        } else if is_dump(&path) && fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            found.push(path);
        }
    }
}

fn is_dump(path: &Path) -> bool {
    has_ending(path, &ENDINGS)
}

/// Whether every line of the file is a document.
pub(super) fn is_lines(path: &Path) -> bool {
    has_ending(path, &["jsonl", "ndjson"])
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default();
    endings.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Reads to the end of `input`, called `path` in problems.
pub(super) fn read(path: &str, input: impl Read) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    match input.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() > MAX_FILE_BYTES => Err(Problem::TooLarge { path: path.to_owned() }),
        Ok(_) => Ok(bytes),
        Err(cause) => Err(Problem::Unreadable { path: path.to_owned(), cause }),
    }
}

/// UTF-16 as UTF-8: a dump that was redirected into a file on Windows. Told by its byte order mark.
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let (order, rest): (fn([u8; 2]) -> u16, _) = match bytes {
        [0xff, 0xfe, rest @ ..] => (u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => (u16::from_be_bytes, rest),
        _ => return bytes.into(),
    };
    let units = rest.chunks_exact(2).map(|unit| order([unit[0], unit[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.into_bytes().into()
}
