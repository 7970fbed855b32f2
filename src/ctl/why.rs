//! `addonctl why`: from an add-on down to what makes it ill.

mod answer;
#[cfg(test)]
mod tests;
mod text;

use super::{
    Error, Exit, Io,
    args::{Source, Tree, Why},
    computed::{self, Computed},
    files,
    live::{self, FromCluster},
    looks::{Below, Bounds, Looks},
    output,
    rules::{self, Own},
    server::Server,
};
use crate::{api::Addon, health::Rules, summary::Combination};
use answer::Answer;

/// How many components are shown, the worst of them.
const SHOWN: usize = 10;

/// An add-on with what was found below it.
struct Examined {
    addon: Addon,
    looks: Looks,
    exit: Exit,
}

/// `addonctl why`.
pub(super) async fn run(args: &Why, colour: bool, io: &mut Io<'_>) -> Result<Exit, Error> {
    let own = rules::read(&args.rules);
    let examined = examine(args, &own, io).await;
    own.say(false, io.stderr)?;
    let Examined { addon, looks, exit } = examined?;
    let is_whole = looks.are_whole() && own.is_right();
    let answer = Answer::of(&addon, looks, if args.all { usize::MAX } else { SHOWN });
    let text = match args.output {
        Tree::Tree => answer.tree(colour).render(),
        Tree::Json => output::json(&answer)?,
    };
    io.stdout.write_all(text.as_bytes())?;
    io.stdout.flush()?;
    Ok(if is_whole { exit } else { Exit::Failure })
}

async fn examine(args: &Why, own: &Own, io: &mut Io<'_>) -> Result<Examined, Error> {
    let bounds = Bounds::tree(args.all);
    let names = &args.one.object_names;
    match &args.one.source {
        Source::Server(connection) => {
            let server = Server::new(connection).await?;
            let addon = server.addon(names).await?;
            let addon = addon.ok_or_else(|| args.one.not_found(true))?;
            let (users, _) = live::rules(&server).await?;
            let below = Below::Cluster(server.below().await?);
            let mut looks = Looks::new(bounds);
            looks.look(&addon, &below, &Rules::with(users)).await;
            Ok(Examined { addon, looks, exit: Exit::Success })
        }
        Source::Live { connection, prefix } => {
            let FromCluster { census, gaps, server, users } =
                live::read(connection, prefix, own.rules()).await?;
            gaps.say(io.stderr)?;
            let below = Below::Cluster(server.below().await?);
            let below = (&below, &Rules::with(users));
            let (addons, looks) = computed::explained(census, io.now, below, bounds, Some(names)).await;
            let found = computed::find(addons, names);
            let Computed { addon, .. } = found.ok_or_else(|| args.one.not_found(gaps.are_none()))?;
            Ok(Examined { addon, looks, exit: gaps.exit() })
        }
        Source::Files { paths, prefix } => {
            let rules = own.in_force();
            let (mut found, objects) = files::read(paths, prefix, &rules, io.stdin, io.now);
            found.report.problems(io.stderr)?;
            found.census.combinations = Combination::of(own.rules().iter().filter_map(|rule| rule.combine()));
            let now = args.now.map_or(found.taken, |moment| moment.at(io.now));
            let below = Below::Files(objects, now);
            let below = (&below, &*rules);
            let (addons, looks) = computed::explained(found.census, now, below, bounds, Some(names)).await;
            let explained = computed::find(addons, names);
            let Computed { addon, .. } =
                explained.ok_or_else(|| args.one.not_found(found.report.is_whole()))?;
            Ok(Examined { addon, looks, exit: found.report.exit() })
        }
    }
}
