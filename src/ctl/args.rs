//! What may stand on the command line, and what it means.

mod doctor;
mod examples;
mod source;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(super) use self::{
    doctor::{ACCOUNT, Doctor, DoctorArgs, NAMESPACE, Report},
    source::{Connection, Source},
    values::{Colour, Format, Moment, Tree, Verdicts},
};
use self::{
    examples::{DESCRIBE_EXAMPLES, EXAMPLES, HEALTH_EXAMPLES, LIST_EXAMPLES, RULES_EXAMPLES, WHY_EXAMPLES},
    source::{ConnectionArgs, SourceArgs},
    values::moment,
};
use super::Error;
use crate::{
    api::{Identifier, object_name},
    model::text,
};

/// What is installed in a Kubernetes cluster, what it is made of, and whether it is well
///
/// An add-on is every object, of any kind, that carries the label addons.x-k8s.io/IDENTIFIER. Its
/// health is the worst of theirs.
#[derive(Debug, Parser)]
#[command(name = "addonctl", version, after_help = EXAMPLES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// Colour what is abnormal
    ///
    /// By itself only on a terminal, and not with NO_COLOR.
    #[arg(long = "color", global = true, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    pub colour: Colour,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the add-ons, the worst first
    #[command(visible_alias = "get", after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show what an add-on is made of, and what is wrong with it
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe(DescribeArgs),
    /// Show why an add-on isn't well: the way down from it to the causes
    #[command(after_help = WHY_EXAMPLES)]
    Why(WhyArgs),
    /// Judge every object in files, labelled or not, the worst first
    #[command(after_help = HEALTH_EXAMPLES)]
    Health(HealthArgs),
    /// Check what the controller needs and what it can't see, and say what mends it
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(DoctorArgs),
    /// Show the rules that tell the health of kinds, or run their cases
    #[command(after_help = RULES_EXAMPLES)]
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
}

/// `addonctl rules`.
#[derive(Debug, Subcommand)]
pub(super) enum RulesCommand {
    /// List rules: where each stands, what it is for and has, and how many cases are about it
    List(ListRulesArgs),
    /// Run the cases beside files of rules, and name those that fail
    ///
    /// The cases of rules.yaml stand in rules.cases.yaml: a list of objects with the health that
    /// each must get, and maybe a reason, facts and the clock. The rules that are tested go before
    /// the built-in ones. It fails where a case does, where a file isn't right, and where there is no
    /// case at all.
    Test(BookArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListRulesArgs {
    #[command(flatten)]
    pub book: BookArgs,

    /// How to print: wide gives a rule a line
    #[arg(short, long, value_enum, default_value_t = Listing::Table, value_name = "FORMAT")]
    pub output: Listing,
}

/// How to print rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Listing {
    Table,
    Wide,
}

#[derive(Debug, Args)]
pub(super) struct BookArgs {
    /// Folders with .yaml, .yml or .json files of rules or StatusRules, or such files, in place of the
    /// built-in rules
    #[arg(value_name = "DIR")]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// How to print: json and yaml give an AddonList in order of name
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    output: Format,

    /// Print tables without their header
    #[arg(long)]
    no_headers: bool,

    #[command(flatten)]
    source: SourceArgs,
}

#[derive(Debug, Args)]
pub(super) struct DescribeArgs {
    /// Identifier of the add-on, or name of its Addon object
    name: String,

    #[command(flatten)]
    source: SourceArgs,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// Identifier of the add-on, or name of its Addon object
    name: String,

    /// How to print: json gives all of it as one document, tree gives it to people
    #[arg(short, long, value_enum, default_value_t = Tree::Tree, value_name = "FORMAT")]
    output: Tree,

    /// Show all components that aren't well, not only the ten worst
    #[arg(long)]
    all: bool,

    /// Rules that go before those of the cluster and the built-in ones, for -f and --live: a folder
    /// with .yaml files of rules or StatusRules, or one such file; may be repeated
    #[arg(long, value_name = "DIR", requires = "computed")]
    rules: Vec<PathBuf>,

    /// The moment to judge at, for -f, such as 2025-03-01T10:00:00Z, 2025-03-01 (its midnight in UTC),
    /// or now
    ///
    /// Without this flag it is when the input was made: the newest moment that anything in it tells
    /// of.
    #[arg(long, value_name = "TIME", value_parser = moment, requires = "files", conflicts_with = "live")]
    now: Option<Moment>,

    #[command(flatten)]
    source: SourceArgs,
}

/// `addonctl health`.
#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    /// What to judge: a file, a folder with .yaml, .yml, .json, .jsonl and .ndjson files at any depth,
    /// or - for standard input; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "FILE|DIR|-", required = true)]
    pub files: Vec<PathBuf>,

    /// Rules that go before the built-in ones: a folder with .yaml files of rules or StatusRules, or
    /// one such file; may be repeated
    #[arg(long, value_name = "DIR")]
    pub rules: Vec<PathBuf>,

    /// How to print: wide gives an object a line, json gives it one in the order of the input
    #[arg(short, long, value_enum, default_value_t = Verdicts::Table, value_name = "FORMAT")]
    pub output: Verdicts,

    /// Print tables without their header
    #[arg(long)]
    pub no_headers: bool,

    /// The moment to judge at, such as 2025-03-01T10:00:00Z, 2025-03-01 (its midnight in UTC), or now
    ///
    /// What takes too long is failing, so verdicts depend on the clock. Without this flag it is when
    /// the input was made: the newest moment that anything in it tells of. The same input gives the
    /// same answer then, today and in a year.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub now: Option<Moment>,
}

/// `addonctl list`, resolved.
pub(super) struct List {
    pub format: Format,
    pub headers: bool,
    pub source: Source,
}

/// One add-on: `addonctl describe`, resolved.
pub(super) struct One {
    /// As it was typed; cleaned.
    pub name: String,
    /// The names that the Addon object may have, the likelier first. Never empty, and safe in a URL.
    pub object_names: Vec<String>,
    pub source: Source,
}

/// `addonctl why`, resolved.
pub(super) struct Why {
    pub one: One,
    /// Files and folders with rules.
    pub rules: Vec<PathBuf>,
    /// The clock; `None` for that of the source.
    pub now: Option<Moment>,
    pub output: Tree,
    /// Whether all components that aren't well are shown, however many.
    pub all: bool,
}

impl ListArgs {
    pub fn resolve(self) -> List {
        List { format: self.output, headers: !self.no_headers, source: self.source.resolve() }
    }
}

impl DescribeArgs {
    pub fn resolve(self) -> Result<One, Error> {
        One::new(&self.name, self.source)
    }
}

impl WhyArgs {
    pub fn resolve(self) -> Result<Why, Error> {
        let Self { name, output, all, rules, now, source } = self;
        Ok(Why { one: One::new(&name, source)?, rules, now, output, all })
    }
}

impl One {
    /// What it means that there is none; `whole` says whether everything could be read.
    pub fn not_found(&self, whole: bool) -> Error {
        let name = self.name.clone();
        if whole { Error::NotFound { name } } else { Error::NotInPart { name } }
    }

    fn new(name: &str, source: SourceArgs) -> Result<Self, Error> {
        let mut object_names = Vec::new();
        // Only a name that isn't an identifier in other letters can be the name of an object.
        let may_be_object = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
        let identifier = Identifier::new(name);
        if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.bytes().all(may_be_object) {
            object_names.push(name.to_owned());
        }
        object_names.extend(identifier.as_ref().map(object_name).filter(|other| other != name));
        if object_names.is_empty() {
            return Err(Error::Name(text::name(name)));
        }
        Ok(Self { name: text::name(name), object_names, source: source.resolve() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use clap::CommandFactory;

    use super::*;

    fn describe(name: &str) -> Result<Vec<String>, Error> {
        match Cli::try_parse_from(["addonctl", "describe", "--", name]).expect("arguments").command {
            Command::Describe(args) => Ok(args.resolve()?.object_names),
            _ => Ok(Vec::new()),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_name_is_an_identifier_or_an_object() {
        assert_eq!(describe("ingress-nginx").expect("names"), ["ingress-nginx"]);
        assert_eq!(describe("Foo").expect("names"), ["foo-x1cbec737f8"]);
        assert_eq!(describe("foo-x1cbec737f8").expect("names")[0], "foo-x1cbec737f8");
        assert_eq!(describe("a..b").expect("names"), ["a..b", "a-b-xf62b42414c"]);
        for bad in ["", "a/b", "../x", "a b", "ä", "-a", "a?b"] {
            assert!(matches!(describe(bad), Err(Error::Name(_))), "{bad}");
        }
    }

    #[test]
    fn files_and_a_cluster_exclude_each_other() {
        assert!(Cli::try_parse_from(["addonctl", "list", "-f", "x", "--context", "y"]).is_err());
    }

    #[test]
    fn moments_are_read() {
        assert_eq!(moment("now"), Ok(Moment::Now));
        let time = "2025-03-01T10:00:00Z".parse().expect("a time");
        assert_eq!(moment("2025-03-01T11:00:00+01:00"), Ok(Moment::At(time)));
        let midnight = "2025-03-01T00:00:00Z".parse().expect("a time");
        assert_eq!(moment("2025-03-01"), Ok(Moment::At(midnight)));
        for bad in ["", "yesterday", "2025-03", "2025-02-30", "2025-03-01T", "2025-03-01Z", "5m"] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }
}
