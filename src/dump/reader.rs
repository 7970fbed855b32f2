use std::{
    fmt, fs,
    io::{self, Read},
    path::Path,
    thread,
};

use super::{
    Definitions, Each, Fault, Keep, MAX_BROKEN, Once, Place, Problem,
    document::{self, Parsed},
    files,
    items::Lines,
    kinds::Kinds,
    node::{Mapping, Name, Node},
    split,
};
use crate::model::{Event, Object, Timestamp, text};

/// What was read.
#[derive(Debug, Default)]
pub struct Dump {
    /// The objects, each once.
    pub objects: Vec<Object>,
    /// What Events report, where they are wanted.
    pub events: Vec<Event>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many objects there were, wanted or not, repeated ones included.
    pub seen: usize,
    /// How many documents and list items were not meant to be Kubernetes objects.
    pub skipped: usize,
    /// The newest moment that any object tells of: when the dump was taken, or shortly before.
    pub taken: Option<Timestamp>,
    /// What the dump says of the kinds in it. The objects here are told.
    pub definitions: Definitions,
}

/// How a file is written.
#[derive(Clone, Copy)]
enum Form {
    /// YAML documents, or JSON values one after the other.
    Documents,
    /// A JSON value a line.
    Lines,
}

/// Reads dumps, one after the other.
pub struct Reader<K> {
    keep: K,
    dump: Dump,
    kinds: Kinds,
    events: bool,
}

impl<W: Fn(&[(String, String)]) -> bool + Send> Reader<Once<W>> {
    /// A reader that keeps every object, each once. For whose labels `wanted` is true must be one that
    /// can be used.
    pub fn new(wanted: W) -> Self {
        Self::keeping(Once::new(wanted))
    }
}

impl<F: FnMut(Object) + Send> Reader<Each<F>> {
    /// A reader that passes every object to `take` in the order in which they stand there: also
    /// those that stand there twice and those without a name.
    pub fn each(take: F) -> Self {
        Self::keeping(Each(take))
    }
}

impl<K: Keep> Reader<K> {
    fn keeping(keep: K) -> Self {
        Self { keep, dump: Dump::default(), kinds: Kinds::default(), events: false }
    }

    /// The same reader, which also keeps what Events report.
    #[must_use]
    pub fn with_events(self) -> Self {
        Self { events: true, ..self }
    }

    /// Reads a file, whatever its name, or every `.yaml`, `.yml`, `.json`, `.jsonl` and `.ndjson` file
    /// below a folder. Of the last two every line is a JSON document.
    pub fn path(&mut self, path: &Path) {
        for file in files::find(path, &mut self.dump.problems) {
            let name = files::shown(&file);
            let form = if files::is_lines(&file) { Form::Lines } else { Form::Documents };
            match fs::File::open(&file) {
                Ok(input) => self.read(&name, input, form),
                Err(cause) => self.dump.problems.push(Problem::Unreadable { path: name, cause }),
            }
        }
    }

    /// Reads a stream to its end. `name` stands for it in problems.
    pub fn stream(&mut self, name: &str, input: impl Read) {
        self.read(name, input, Form::Documents);
    }

    fn read(&mut self, name: &str, input: impl Read, form: Form) {
        let bytes = match files::read(name, input) {
            Ok(bytes) => bytes,
            Err(problem) => return self.dump.problems.push(problem),
        };
        let thread = thread::Builder::new().stack_size(document::STACK_BYTES);
        let read = thread::scope(|scope| {
            let reading = thread.spawn_scoped(scope, || self.bytes(name, &files::utf8(&bytes), form))?;
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
        let mut objects = self.keep.into_objects();
        let mut dump = self.dump;
        objects.iter_mut().for_each(|object| dump.definitions.tell(object));
        Dump { objects, ..dump }
    }

    fn bytes(&mut self, name: &str, bytes: &[u8], form: Form) {
        let mut place = Place { path: name.to_owned(), line: 1, document: 0 };
        let mut broken = 0;
        let documents = match form {
            Form::Documents => split::documents(bytes),
            Form::Lines => split::single_lines(bytes),
        };
        for document in documents {
            let mut found = |parsed| {
                place.document += 1;
                match parsed {
                    Parsed::Node(node, lines) => {
                        place.line = lines.line;
                        self.node(node, None, Spot { place: &place, lines: &lines, item: None });
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
            };
            match form {
                Form::Documents => document::parse(document, &mut found),
                Form::Lines => {
                    found(document::parse_line(document));
                }
            }
            if broken > MAX_BROKEN {
                return;
            }
        }
    }

    /// Takes a node that stands as `item` in a list, or in none.
    fn node(&mut self, node: Node, item: Option<Item<'_>>, spot: Spot<'_>) {
        match node {
            Node::Scalar => match item {
                Some(item) => self.dump.problems.push(Problem::Unusable {
                    place: spot.place(),
                    object: item.to_string(),
                    fault: Fault::NoObject,
                }),
                None => self.dump.skipped += 1,
            },
            Node::Null => self.dump.skipped += 1,
            Node::Sequence(nodes) => {
                for (index, node) in nodes.into_iter().enumerate() {
                    self.node(node, item, spot.item(index));
                }
            }
            Node::Mapping(mapping) if mapping.twice.is_some() => self.object(*mapping, item, spot),
            Node::Mapping(mut mapping) => match items(&mut mapping) {
                Some(nodes) => {
                    let list = List::of(&mapping);
                    for (index, node) in nodes.into_iter().enumerate() {
                        let item = list.as_ref().map(|list| Item { list, number: index + 1 });
                        self.node(node, item, spot.item(index));
                    }
                }
                None => self.object(*mapping, item, spot),
            },
        }
    }

    fn object(&mut self, mut mapping: Mapping, item: Option<Item<'_>>, spot: Spot<'_>) {
        let list = item.map(|item| item.list);
        let own = mapping.raw.api_version.take().filter(|own| !own.is_empty());
        let api_version = own.or_else(|| list?.items_api_version());
        let own = mapping.raw.kind.take().filter(|own| !own.is_empty());
        let kind = own.or_else(|| list?.items_kind());
        let (api_version, kind) = match (api_version, kind) {
            (Some(api_version), Some(kind)) if is_usable::<K>(&mapping, &kind) => (api_version, kind),
            (api_version, kind) => {
                return self.unusable(&mapping, api_version.as_deref(), kind.as_deref(), item, spot);
            }
        };
        let Mapping { raw, namespaced, resource_version, newest, odd_labels, event, .. } = mapping;
        let object = raw.into_nameless(self.kinds.kind(&api_version, &kind, namespaced));
        self.dump.events.extend(event.filter(|_| self.events));
        self.dump.seen += 1;
        self.dump.taken = self.dump.taken.max(newest);
        self.dump.definitions.learn(&object);
        for key in odd_labels.into_iter().filter(|_| !K::ONLY_JUDGED) {
            self.dump.problems.push(Problem::LabelNotText {
                place: spot.place(),
                object: object.reference.to_string(),
                key: text::name(&key),
            });
        }
        self.keep.take(object, resource_version);
    }

    /// Takes what lacks a name, a kind or a version. Only what is meant to be an object is a problem.
    fn unusable(
        &mut self,
        mapping: &Mapping,
        api_version: Option<&str>,
        kind: Option<&str>,
        item: Option<Item<'_>>,
        spot: Spot<'_>,
    ) {
        let Mapping { name, marked, twice, stray_labels, .. } = mapping;
        // Two fields that are the same are a fault of an object or a list, not of any settings.
        let is_either = twice.is_some() && kind.is_some() && api_version.is_some();
        let is_wanted = !stray_labels.is_empty() && self.keep.wants(stray_labels);
        let is_list = kind.is_some_and(|kind| kind.ends_with("List"));
        if !(is_wanted || *marked || is_either || item.is_some() && !is_list) {
            self.dump.skipped += 1;
            return;
        }
        let fault = match (twice, name) {
            (Some(field), _) => Fault::Twice(text::name(field)),
            (None, Name::NotText(read)) => Fault::NameNotText(read.clone()),
            _ if kind.is_none() => Fault::NoKind,
            _ if api_version.is_none() => Fault::NoApiVersion,
            (None, Name::Generated(_)) => Fault::GeneratedName,
            (None, Name::Given(_) | Name::Missing) => Fault::NoName,
        };
        let name = match name {
            Name::Given(name) | Name::NotText(name) | Name::Generated(name) => Some(text::name(name)),
            Name::Missing => None,
        };
        let known: Vec<String> = kind.map(text::name).into_iter().chain(name).collect();
        let object = match item {
            _ if !known.is_empty() => known.join(" "),
            Some(item) => item.to_string(),
            None => "an object".to_owned(),
        };
        self.dump.problems.push(Problem::Unusable { place: spot.place(), object, fault });
    }
}

/// Whether what has a kind and a version is an object. A list without items is none.
fn is_usable<K: Keep>(mapping: &Mapping, kind: &str) -> bool {
    let is_empty_list = kind.ends_with("List") && mapping.is_bare;
    mapping.twice.is_none() && (matches!(mapping.name, Name::Given(_)) || K::ONLY_JUDGED && !is_empty_list)
}

/// Where a node stands, found out when somebody asks.
#[derive(Clone, Copy)]
struct Spot<'a> {
    place: &'a Place,
    lines: &'a Lines<'a>,
    /// Of the outermost list around it, from 0.
    item: Option<usize>,
}

impl Spot<'_> {
    fn item(self, number: usize) -> Self {
        Self { item: self.item.or(Some(number)), ..self }
    }

    fn place(self) -> Place {
        let line = self.item.map_or(self.lines.line, |item| self.lines.of_item(item));
        Place { line, ..self.place.clone() }
    }
}

/// A list that says what it holds, so that each item has to be an object.
struct List {
    api_version: String,
    kind: String,
}

/// Where a node stands in a list.
#[derive(Clone, Copy)]
struct Item<'a> {
    list: &'a List,
    /// From 1.
    number: usize,
}

impl List {
    fn of(list: &Mapping) -> Option<Self> {
        let kind = list.raw.kind.as_deref()?.strip_suffix("List")?;
        Some(Self { api_version: list.raw.api_version.clone()?, kind: kind.to_owned() })
    }

    /// What items have that don't say it themselves: a `PodList` of `v1` holds Pods of `v1`, and a
    /// plain `List` holds anything.
    fn items_kind(&self) -> Option<String> {
        (!self.kind.is_empty()).then(|| self.kind.clone())
    }

    /// The same for their version.
    fn items_api_version(&self) -> Option<String> {
        (!self.kind.is_empty()).then(|| self.api_version.clone())
    }
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {} of the {}List", self.number, text::name(&self.list.kind))
    }
}

/// The items of a list. A kind that only ends in `List` has a name and no items.
fn items(mapping: &mut Mapping) -> Option<Vec<Node>> {
    let may_be_list = !matches!(mapping.name, Name::Given(_))
        && mapping.raw.kind.as_deref().is_none_or(|kind| kind.ends_with("List"));
    mapping.items.take_if(|_| may_be_list)
}
