use std::io;

use super::{
    Error, Exit, Io,
    args::{Format, List, Source},
    columns,
    computed::{self, Computed},
    files::{self, FromFiles},
    live::{self, FromCluster},
    looks::{Below, Bounds},
    output,
    server::Server,
};
use crate::{api::LabelPrefix, health::Rules, model::Timestamp};

/// What was listed, as it is printed, and whether there was anything.
struct Listing {
    text: String,
    is_empty: bool,
}

/// `addonctl list`.
pub(super) async fn run(args: &List, colour: bool, io: &mut Io<'_>) -> Result<Exit, Error> {
    match &args.source {
        Source::Server(connection) => {
            let listing = from_server(&Server::new(connection).await?, args, colour).await?;
            print(&listing, args.format, true, &LabelPrefix::default(), io)?;
            Ok(Exit::Success)
        }
        Source::Live { connection, prefix } => {
            let FromCluster { census, gaps, server, users } = live::read(connection, prefix, &[]).await?;
            let (below, rules) = (Below::Cluster(server.below().await?), Rules::with(users));
            let (addons, looks) =
                computed::explained(census, io.now, (&below, &rules), Bounds::CLUSTER, None).await;
            let listing = from_computed(addons, args, colour, io.now)?;
            print(&listing, args.format, gaps.are_none(), prefix, io)?;
            gaps.say(io.stderr)?;
            looks.say(io.stderr)?;
            Ok(gaps.exit())
        }
        Source::Files { paths, prefix } => {
            let rules = Rules::builtin();
            let (found, objects) = files::read(paths, prefix, &rules, io.stdin, io.now);
            let FromFiles { census, taken, report } = found;
            let below = Below::Files(objects, taken);
            let (addons, _) = computed::explained(census, taken, (&below, &rules), Bounds::FILES, None).await;
            let listing = from_computed(addons, args, colour, taken)?;
            print(&listing, args.format, report.is_whole(), prefix, io)?;
            if listing.is_empty {
                report.extent(io.stderr)?;
            }
            report.problems(io.stderr)?;
            Ok(report.exit())
        }
    }
}

async fn from_server(server: &Server, args: &List, colour: bool) -> Result<Listing, Error> {
    if let Format::Json | Format::Yaml = args.format {
        let list = server.list().await?;
        let is_empty = list["items"].as_array().is_none_or(Vec::is_empty);
        let text = if args.format == Format::Json { output::json(&list)? } else { output::yaml(&list)? };
        return Ok(Listing { text, is_empty });
    }
    let table = server.table().await?;
    let text = match args.format {
        Format::Name => output::names(table.names()),
        format => table.table(format == Format::Wide).render(args.headers, colour),
    };
    Ok(Listing { text, is_empty: table.is_empty() })
}

fn from_computed(
    mut addons: Vec<Computed>,
    args: &List,
    colour: bool,
    now: Timestamp,
) -> Result<Listing, Error> {
    let is_empty = addons.is_empty();
    if let Format::Json | Format::Yaml = args.format {
        computed::sort_by_name(&mut addons);
    }
    let text = match args.format {
        Format::Json => output::json(&output::addon_list(&addons)?)?,
        Format::Yaml => output::yaml(&output::addon_list(&addons)?)?,
        Format::Name => {
            output::names(addons.iter().filter_map(|computed| computed.addon.metadata.name.as_deref()))
        }
        format => columns::of(&addons, format == Format::Wide, now).render(args.headers, colour),
    };
    Ok(Listing { text, is_empty })
}

/// Prints a listing. Where there is nothing, programs get an empty list and people a way on, unless
/// what they look for may be in what could not be read: that follows where not the `whole` was.
fn print(
    listing: &Listing,
    format: Format,
    whole: bool,
    prefix: &LabelPrefix,
    io: &mut Io<'_>,
) -> io::Result<()> {
    if listing.is_empty && format != Format::Json && format != Format::Yaml {
        if !whole {
            return writeln!(io.stderr, "No add-ons found in what could be read.");
        }
        writeln!(io.stderr, "No add-ons found.")?;
        return writeln!(
            io.stderr,
            "hint: label any object to make one: kubectl label KIND NAME {prefix}IDENTIFIER="
        );
    }
    io.stdout.write_all(listing.text.as_bytes())?;
    io.stdout.flush()
}
