use std::{
    fs,
    io::{self, Read},
    path::Path,
    thread,
};

use super::{
    MAX_BROKEN, Place, Problem,
    document::{self, Parsed},
    files,
    kinds::Kinds,
    node::{Mapping, Node},
    split,
    unique::Unique,
};
use crate::model::{Object, Timestamp, text};

/// What was read.
#[derive(Debug, Default)]
pub struct Dump {
    /// The wanted objects, each once.
    pub objects: Vec<Object>,
    /// Of the others, those that another object controls: the `uid` of each and of its controller.
    pub links: Vec<(Box<str>, Box<str>)>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many objects there were, wanted or not, repeated ones included.
    pub seen: usize,
    /// How many documents and list items were no Kubernetes objects with a name.
    pub skipped: usize,
    /// The newest moment that any object tells of: when the dump was taken, or shortly before.
    pub taken: Option<Timestamp>,
}

/// Reads dumps, one after the other, into one set of objects.
///
/// Objects that aren't wanted are dropped at once, so that a dump of a whole cluster costs the
/// memory of the wanted ones and of the others' names.
pub struct Reader<W> {
    wanted: W,
    dump: Dump,
    unique: Unique,
    kinds: Kinds,
}

impl<W: Fn(&Object) -> bool + Send> Reader<W> {
    /// A reader that keeps the objects for which `wanted` is true.
    pub fn new(wanted: W) -> Self {
        Self { wanted, dump: Dump::default(), unique: Unique::default(), kinds: Kinds::default() }
    }

    /// Reads a file, whatever its name, or every `.yaml`, `.yml` and `.json` file below a folder.
    pub fn path(&mut self, path: &Path) {
        for file in files::find(path, &mut self.dump.problems) {
            let name = files::shown(&file);
            match fs::File::open(&file) {
                Ok(input) => self.stream(&name, input),
                Err(cause) => self.dump.problems.push(Problem::Unreadable { path: name, cause }),
            }
        }
    }

    /// Reads a stream to its end. `name` stands for it in problems.
    pub fn stream(&mut self, name: &str, input: impl Read) {
        let bytes = match files::read(name, input) {
            Ok(bytes) => bytes,
            Err(problem) => return self.dump.problems.push(problem),
        };
        let thread = thread::Builder::new().stack_size(document::STACK_BYTES);
        let read = thread::scope(|scope| {
            let reading = thread.spawn_scoped(scope, || self.bytes(name, &files::utf8(&bytes)))?;
            reading
                .join()
                .map_err(|_| io::Error::other("reading it failed, which is a fault of this program"))
        });
        if let Err(cause) = read {
            self.dump.problems.push(Problem::Unreadable { path: name.to_owned(), cause });
        }
    }

    /// What was read.
    pub fn finish(self) -> Dump {
        let (objects, links) = self.unique.into_parts();
        Dump { objects, links, ..self.dump }
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let mut place = Place { path: name.to_owned(), line: 1, document: 0 };
        let mut broken = 0;
        for document in split::documents(bytes) {
            document::parse(document, &mut |parsed| {
                place.document += 1;
                match parsed {
                    Parsed::Node(node, line) => {
                        place.line = line;
                        self.node(node, None, &place);
                    }
                    Parsed::Broken(line, message) => {
                        broken += 1;
                        place.line = line;
                        let place = place.clone();
                        self.dump.problems.push(if broken > MAX_BROKEN {
                            Problem::TooManyBroken { place }
                        } else {
                            Problem::Broken { place, message }
                        });
                    }
                }
                broken <= MAX_BROKEN
            });
            if broken > MAX_BROKEN {
                return;
            }
        }
    }

    /// Takes a node that stands in a list of the kind `list`, or in none.
    fn node(&mut self, node: Node, list: Option<&ItemKind>, place: &Place) {
        match node {
            Node::Scalar => self.dump.skipped += 1,
            Node::Sequence(nodes) => nodes.into_iter().for_each(|node| self.node(node, list, place)),
            Node::Mapping(mut mapping) => match items(&mut mapping) {
                Some(nodes) => {
                    let list = ItemKind::of(&mapping);
                    nodes.into_iter().for_each(|node| self.node(node, list.as_ref(), place));
                }
                None => self.object(*mapping, list, place),
            },
        }
    }

    fn object(&mut self, mapping: Mapping, list: Option<&ItemKind>, place: &Place) {
        let Mapping { mut raw, namespaced, resource_version, newest, odd_labels, .. } = mapping;
        let api_version = raw.api_version.take().or_else(|| list.map(|list| list.api_version.clone()));
        let kind = raw.kind.take().or_else(|| list.map(|list| list.kind.clone()));
        let object = match (api_version, kind) {
            (Some(api_version), Some(kind)) if !api_version.is_empty() && !kind.is_empty() => {
                raw.into_object(self.kinds.kind(&api_version, &kind, namespaced))
            }
            _ => None,
        };
        let Some(object) = object else {
            self.dump.skipped += 1;
            return;
        };
        self.dump.seen += 1;
        self.dump.taken = self.dump.taken.max(newest);
        for key in odd_labels {
            self.dump.problems.push(Problem::LabelNotText {
                place: place.clone(),
                object: object.reference.to_string(),
                key: text::name(&key),
            });
        }
        let wanted = (self.wanted)(&object);
        self.unique.insert(object, resource_version, wanted);
    }
}

/// What a list says of items that don't say it themselves: a `PodList` of `v1` holds Pods of `v1`.
struct ItemKind {
    api_version: String,
    kind: String,
}

impl ItemKind {
    fn of(list: &Mapping) -> Option<Self> {
        let kind = list.raw.kind.as_deref()?.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(Self { api_version: list.raw.api_version.clone()?, kind: kind.to_owned() })
    }
}

/// The items of a list. A kind that only ends in `List` has a name and no items.
fn items(mapping: &mut Mapping) -> Option<Vec<Node>> {
    let may_be_list = !mapping.named && mapping.raw.kind.as_deref().is_none_or(|kind| kind.ends_with("List"));
    mapping.items.take_if(|_| may_be_list)
}
