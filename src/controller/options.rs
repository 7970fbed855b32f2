use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, ValueEnum};

use crate::{
    api::{LabelPrefix, MarkerLabel},
    discover::ResourcePattern,
};

const EXAMPLES: &str = "\
Examples:
  # Outside a cluster, with the rights of a kubeconfig; the page is at http://127.0.0.1:8080/
  addon-controller --kubeconfig ~/.kube/config

  # Also Secrets (their metadata only), but nothing of one group
  addon-controller --include secrets --exclude 'example.com/*'

  # Make something part of an add-on, and look
  kubectl label deployment controller addons.x-k8s.io/ingress-nginx=
  kubectl get addons";

/// Keeps one Addon object for every identifier that objects carry in a label.
///
/// Watches all kinds that the API server serves, finds the objects that carry the label
/// addons.x-k8s.io/IDENTIFIER, judges each, and writes what each add-on is made of and how it is
/// into an Addon object. It changes nothing else. Every flag may also be given in the environment.
#[derive(Clone, Debug, Parser)]
#[command(name = "addon-controller", version, after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub(super) cluster: Cluster,

    /// Address of the HTTP endpoint: JSON, metrics, probes and a page
    #[arg(
        long,
        env = "ADDONS_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = listen,
        value_name = "ADDRESS:PORT"
    )]
    pub(super) listen: SocketAddr,

    /// Serve others than this machine, without authentication and encryption
    #[arg(long, env = "ADDONS_INSECURE_BIND")]
    pub(super) insecure_bind: bool,

    /// Prefix of the labels that mark components
    #[arg(long, env = "ADDONS_LABEL_PREFIX", default_value_t, value_name = "PREFIX")]
    pub(super) label_prefix: LabelPrefix,

    /// Key of a label that components must carry beside those of their add-ons
    ///
    /// The API server then sends only objects that carry it, which spares a very large cluster most of
    /// the reading. deploy/options/marker-label.yaml sets it by itself; 'addonctl doctor --marker-label
    /// KEY' names objects that lack it. Addon objects need none.
    #[arg(long, env = "ADDONS_MARKER_LABEL", value_name = "KEY")]
    pub(super) marker_label: Option<MarkerLabel>,

    /// Resources to watch although they are excluded, by default or by --exclude
    ///
    /// GROUP/RESOURCE, '*' for any; without a group it is the core group. Give several with commas,
    /// or the flag several times. Excluded by default are secrets, events, leases, endpoints,
    /// endpointslices, certificatesigningrequests and metrics.
    #[arg(long, env = "ADDONS_INCLUDE", value_delimiter = ',', value_name = "GROUP/RESOURCE")]
    pub(super) include: Vec<ResourcePattern>,

    /// Resources not to watch
    ///
    /// As for --include: several with commas, or the flag several times.
    #[arg(long, env = "ADDONS_EXCLUDE", value_delimiter = ',', value_name = "GROUP/RESOURCE")]
    pub(super) exclude: Vec<ResourcePattern>,

    /// How long an add-on without components is kept before its Addon is deleted, such as 5s or 1m
    #[arg(long, env = "ADDONS_REMOVAL_GRACE", default_value = "5s", value_parser = duration, value_name = "DURATION")]
    pub(super) removal_grace: Duration,

    /// How log lines are written
    #[arg(long, env = "ADDONS_LOG_FORMAT", value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) log_format: LogFormat,

    /// What is logged: error, warn, info, debug or trace, also by module (info,addons::watch=debug)
    #[arg(long, env = "ADDONS_LOG", default_value = "info", value_name = "FILTER")]
    pub(super) log: String,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Cluster {
    /// Kubeconfig to use instead of those in KUBECONFIG or ~/.kube/config
    ///
    /// In a pod without either, its service account is used.
    #[arg(long, env = "ADDONS_KUBECONFIG", value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig to use instead of the current one
    #[arg(long, env = "ADDONS_CONTEXT", value_name = "NAME")]
    pub(super) context: Option<String>,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

fn listen(raw: &str) -> Result<SocketAddr, String> {
    raw.parse()
        .map_err(|_| "must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080".to_owned())
}

fn duration(raw: &str) -> Result<Duration, String> {
    let duration: kube::core::Duration =
        raw.parse().map_err(|_| format!("'{raw}' must be a duration such as 5s or 1m30s"))?;
    if duration.is_negative() {
        return Err(format!("'{raw}' must not be negative"));
    }
    Ok(duration.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn an_address_is_an_ip_address_with_a_port() {
        for good in ["127.0.0.1:8080", "[::1]:0"] {
            assert!(listen(good).is_ok(), "{good}");
        }
        for bad in ["localhost:8080", "127.0.0.1", ":8080", ""] {
            assert!(listen(bad).expect_err(bad).contains("such as 127.0.0.1:8080"), "{bad}");
        }
    }

    #[test]
    fn resources_are_given_with_commas_or_several_times() {
        let arguments = ["addon-controller", "--exclude", "pods,apps/*", "--exclude", "nodes"];
        let options = Options::try_parse_from(arguments).expect("options");
        assert_eq!(options.exclude.len(), 3);
    }
}
