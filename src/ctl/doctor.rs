//! `addonctl doctor`: what the controller needs, what it can't see, and the commands that mend it.
//!
//! Each check is read by requests of its own and judged by a function of what came. What can't be read
//! is a warning of its check and stops no other.

mod addons;
mod ask;
mod cluster;
mod controller;
mod finding;
mod kinds;
mod marker;
mod names;
mod rights;
mod shell;
#[cfg(test)]
mod tests;

use tokio::join;

use self::{
    ask::Asker,
    controller::{Place, Watches},
    finding::Finding,
    kinds::Kinds,
};
use super::{
    Error, Exit, Io,
    args::{Doctor, Report},
    server::Server,
};
use crate::{connect, discover::served};

/// The most things that a check names one by one.
const NAMED: usize = 10;

/// `addonctl doctor`.
pub(super) async fn run(args: &Doctor, colour: bool, io: &mut Io<'_>) -> Result<Exit, Error> {
    let server = Server::new(&args.connection).await?;
    let mut findings = examine(&Asker::of(&server), args).await;
    for command in findings.iter_mut().flat_map(|finding| &mut finding.commands) {
        *command = shell::at(command, &args.connection);
    }
    let text = match args.output {
        Report::Table => finding::table(&findings, colour),
        Report::Json => finding::json(&findings)?,
    };
    io.stdout.write_all(text.as_bytes())?;
    io.stdout.flush()?;
    Ok(if findings.iter().any(Finding::is_failure) { Exit::Failure } else { Exit::Success })
}

/// All checks, in the order in which what comes later depends on what comes before.
async fn examine(asker: &Asker, args: &Doctor) -> Vec<Finding> {
    let remote = args.controller.as_ref().map(|url| {
        let url = url.to_string().trim_end_matches('/').to_owned();
        let client = connect::client_of(kube::Config::new(args.controller.clone().unwrap_or_default()));
        (url, client)
    });
    let place = match remote {
        None => Place::Cluster(asker.clone()),
        Some((url, Ok(client))) => Place::Elsewhere(Asker::new(client, url, asker.patience())),
        Some((url, Err(error))) => Place::Unusable(url, error.to_string()),
    };
    let (server, answers) = cluster::server(asker).await;
    if !answers {
        let mut findings = vec![server];
        if let Place::Elsewhere(_) = place {
            findings.push(controller::endpoint(&place, &place.watches(args).await, args));
        }
        return findings;
    }

    let (client, patience) = (asker.client(), asker.patience());
    let (groups, watches) = join!(served(patience, client), place.watches(args));
    let known = Watches::known(&watches);
    let (groups, undiscovered) = match groups {
        Ok(groups) => (groups, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let kinds = Kinds::of(&groups, known);
    let (crds, discovery, mine, theirs) = join!(
        cluster::definitions(asker, &groups),
        cluster::discovery(asker, &groups, undiscovered.as_deref()),
        rights::mine(asker),
        rights::of_controller(asker, args, &kinds, known),
    );
    let (runs, addons, rules, marker) = join!(
        controller::runs(asker, &place, args),
        addons::observed(asker),
        addons::rules(asker),
        marker::check(asker, args, &kinds, known),
    );
    let endpoint = controller::endpoint(&place, &watches, args);
    let watched = known.map(|watches| kinds::watched(watches, &theirs));
    let (theirs, _) = theirs.into_parts();

    let all = [Some(server), Some(crds), Some(names::check(&groups)), Some(discovery), Some(mine), theirs];
    let rest = [runs, Some(endpoint), watched, Some(addons), Some(rules), marker];
    all.into_iter().chain(rest).flatten().collect()
}
