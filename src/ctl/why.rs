//! `addonctl why`: from an add-on down to what makes it ill.

mod answer;
mod looks;
#[cfg(test)]
mod tests;
mod text;

use super::{
    Error, Exit, Io,
    args::{Source, Tree, Why},
    computed::{self, Computed},
    files,
    live::{self, FromCluster},
    output,
    rules::{self, Own},
    server::Server,
};
use crate::{
    api::Addon,
    health::Rules,
    model::Timestamp,
    summary::{Census, Combination},
};
use answer::Answer;
use looks::{Below, Looks};

/// How many components are shown, the worst of them.
const SHOWN: usize = 10;

/// How many of the components that aren't well are looked into.
const LOOKED_INTO: usize = 100;

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
    let most = if args.all { usize::MAX } else { LOOKED_INTO };
    match &args.one.source {
        Source::Server(connection) => {
            let server = Server::new(connection).await?;
            let addon = server.addon(&args.one.object_names).await?;
            let addon = addon.ok_or_else(|| args.one.not_found(true))?;
            let (users, _) = live::rules(&server).await?;
            let below = Below::Cluster(server.below().await?);
            let mut looks = Looks::default();
            looks.look(&addon, &below, &Rules::with(users), most).await;
            Ok(Examined { addon, looks, exit: Exit::Success })
        }
        Source::Live { connection, prefix } => {
            let FromCluster { census, gaps, server, users } =
                live::read(connection, prefix, own.rules()).await?;
            gaps.say(io.stderr)?;
            let below = Below::Cluster(server.below().await?);
            let found = explained(args, census, io.now, (&below, &Rules::with(users)), most).await;
            let (addon, looks) = found.ok_or_else(|| args.one.not_found(gaps.are_none()))?;
            Ok(Examined { addon, looks, exit: gaps.exit() })
        }
        Source::Files { paths, prefix } => {
            let rules = own.in_force();
            let (mut found, objects) = files::read_all(paths, prefix, &rules, io.stdin, io.now);
            found.report.problems(io.stderr)?;
            found.census.combinations = Combination::of(own.rules().iter().filter_map(|rule| rule.combine()));
            let now = args.now.map_or(found.taken, |moment| moment.at(io.now));
            let below = Below::Files(objects, now);
            let explained = explained(args, found.census, now, (&below, &rules), most).await;
            let (addon, looks) = explained.ok_or_else(|| args.one.not_found(found.report.is_whole()))?;
            Ok(Examined { addon, looks, exit: found.report.exit() })
        }
    }
}

/// The add-on as the controller says it is once it knows what lies below the components; `None` where
/// there is none.
async fn explained(
    args: &Why,
    mut census: Census,
    now: Timestamp,
    (below, rules): (&Below, &Rules),
    most: usize,
) -> Option<(Addon, Looks)> {
    let names = &args.one.object_names;
    let by_themselves = computed::addons(census.clone(), now);
    let Computed { addon, .. } = computed::first(&by_themselves, names)?;
    let mut looks = Looks::default();
    for part in computed::within(addon, &by_themselves, &census) {
        looks.look(part, below, rules, most).await;
    }
    census.explanations = looks.explanations();
    let Computed { addon, .. } = computed::find(computed::addons(census, now), names)?;
    Some((addon, looks))
}
