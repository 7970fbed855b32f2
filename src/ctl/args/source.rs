//! Where the answer comes from: the API server or files.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::api::LabelPrefix;

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// Compute from dumps instead of asking a cluster: a file, a folder with .yaml, .yml, .json, .jsonl
    /// and .ndjson files at any depth, or - for standard input; may be repeated
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "FILE|DIR|-",
        conflicts_with_all = ["kubeconfig", "context"],
        group = "computed"
    )]
    files: Vec<PathBuf>,

    /// Compute from the objects of the cluster, with your own rights and without a controller
    #[arg(long, conflicts_with = "files", group = "computed")]
    live: bool,

    /// Prefix of the labels that mark components, for -f and --live
    #[arg(long, env = "ADDONS_LABEL_PREFIX", default_value_t, value_name = "PREFIX")]
    label_prefix: LabelPrefix,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, Args)]
pub(super) struct ConnectionArgs {
    /// Kubeconfig to use instead of those in KUBECONFIG or ~/.kube/config
    ///
    /// In a pod without either, its service account is used.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig to use instead of the current one
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// How long to wait for the API server, such as 10s or 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    request_timeout: Duration,
}

/// Where the answer comes from.
pub(in crate::ctl) enum Source {
    /// The Addons that the controller wrote.
    Server(Connection),
    /// Computed here from the cluster's objects.
    Live { connection: Connection, prefix: LabelPrefix },
    /// Computed here from files.
    Files { paths: Vec<PathBuf>, prefix: LabelPrefix },
}

/// How to reach the API server.
pub(in crate::ctl) struct Connection {
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    /// The longest silence.
    pub timeout: Duration,
}

impl SourceArgs {
    pub(super) fn resolve(self) -> Source {
        if !self.files.is_empty() {
            return Source::Files { paths: self.files, prefix: self.label_prefix };
        }
        let connection = self.connection.resolve();
        if self.live {
            Source::Live { connection, prefix: self.label_prefix }
        } else {
            Source::Server(connection)
        }
    }
}

impl ConnectionArgs {
    pub(super) fn resolve(self) -> Connection {
        let Self { kubeconfig, context, request_timeout: timeout } = self;
        Connection { kubeconfig, context, timeout }
    }
}

fn duration(raw: &str) -> Result<Duration, String> {
    let (number, seconds) = match raw.strip_suffix('m') {
        Some(number) => (number, 60),
        None => (raw.strip_suffix('s').unwrap_or(raw), 1),
    };
    match number.parse::<u32>() {
        Ok(number) if number > 0 => Ok(Duration::from_secs(u64::from(number) * seconds)),
        _ => Err("must be a number of seconds or minutes above 0, such as 10s or 2m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        for bad in ["", "s", "0", "-1s", "1h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
