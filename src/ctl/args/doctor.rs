use clap::{Args, ValueEnum};
use http::Uri;

use super::{Connection, ConnectionArgs};
use crate::{
    api::{LabelPrefix, MarkerLabel},
    ctl::Error,
    model::text,
};

pub(super) const EXAMPLES: &str = "\
It reads with your own rights, and changes nothing.

Examples:
  addonctl doctor
  addonctl doctor -o json | jq -r '.checks[] | select(.verdict == \"fail\") | .commands[]'
  addonctl doctor --controller http://127.0.0.1:8080
  addonctl doctor --marker-label watch.addons.x-k8s.io/marked

Exit codes:
  0   no check fails; warnings there may be
  1   a check fails, or the cluster can't be reached
  2   the arguments make no sense";

/// Where deploy/ has the controller run, and as whom.
pub(in crate::ctl) const NAMESPACE: &str = "addons-system";
pub(in crate::ctl) const ACCOUNT: &str = "addon-controller";

/// `addonctl doctor`.
#[derive(Debug, Args)]
pub(in crate::ctl) struct DoctorArgs {
    /// How to print: json gives all checks as one document
    #[arg(short, long, value_enum, default_value_t = Report::Table, value_name = "FORMAT")]
    output: Report,

    /// Namespace that the controller runs in
    #[arg(short, long, default_value = NAMESPACE, value_parser = name, value_name = "NAME")]
    namespace: String,

    /// Service account that the controller runs as
    #[arg(long, default_value = ACCOUNT, value_parser = name, value_name = "NAME")]
    service_account: String,

    /// Where the controller serves, such as http://127.0.0.1:8080, for one outside the cluster or
    /// behind 'kubectl port-forward'
    ///
    /// Without it, it is asked through the API server, which takes the right to 'get' on
    /// services/proxy.
    #[arg(long, value_parser = url, value_name = "URL")]
    controller: Option<Uri>,

    /// Also list all kinds, and name objects of add-ons that lack this label, for a controller with the
    /// same flag
    #[arg(long, env = "ADDONS_MARKER_LABEL", value_name = "KEY")]
    marker_label: Option<MarkerLabel>,

    /// Prefix of the labels that mark components, for --marker-label
    #[arg(long, env = "ADDONS_LABEL_PREFIX", default_value_t, value_name = "PREFIX")]
    label_prefix: LabelPrefix,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// How to print checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::ctl) enum Report {
    Table,
    Json,
}

/// `addonctl doctor`, resolved.
pub(in crate::ctl) struct Doctor {
    pub output: Report,
    pub namespace: String,
    pub service_account: String,
    /// Where the controller serves, if not in the cluster.
    pub controller: Option<Uri>,
    pub marker: Option<MarkerLabel>,
    pub prefix: LabelPrefix,
    pub connection: Connection,
}

impl DoctorArgs {
    pub fn resolve(self) -> Result<Doctor, Error> {
        if let Some(marker) = &self.marker_label {
            marker.apart_from(&self.label_prefix)?;
        }
        Ok(Doctor {
            output: self.output,
            namespace: self.namespace,
            service_account: self.service_account,
            controller: self.controller,
            marker: self.marker_label,
            prefix: self.label_prefix,
            connection: self.connection.resolve(),
        })
    }
}

impl Doctor {
    /// The flags that say something else than they do by default, but for the controller's address.
    pub fn said(&self) -> Vec<(&'static str, String)> {
        let Self { namespace, service_account, marker, prefix, connection, .. } = self;
        let is_said = |value: &str, default: &str| Some(value.to_owned()).filter(|value| value != default);
        let kubeconfig = connection.kubeconfig.as_ref().map(|file| file.display().to_string());
        [
            ("--namespace", is_said(namespace, NAMESPACE)),
            ("--service-account", is_said(service_account, ACCOUNT)),
            ("--marker-label", marker.as_ref().map(ToString::to_string)),
            ("--label-prefix", is_said(prefix.as_str(), LabelPrefix::default().as_str())),
            ("--kubeconfig", kubeconfig),
            ("--context", connection.context.clone()),
        ]
        .into_iter()
        .filter_map(|(flag, value)| Some((flag, value?)))
        .collect()
    }
}

/// The name of an object, which is safe in a path and a command.
fn name(raw: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    let ends = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if raw.len() <= 253 && raw.bytes().all(fits) && ends(raw.bytes().next()) && ends(raw.bytes().last()) {
        Ok(raw.to_owned())
    } else {
        Err(format!("'{}' must be a name: lower-case letters, digits, '-' and '.'", text::name(raw)))
    }
}

fn url(raw: &str) -> Result<Uri, String> {
    let wrong = || "must be a URL without a path, such as http://127.0.0.1:8080".to_owned();
    let uri: Uri = raw.parse().map_err(|_| wrong())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if is_http && is_bare && uri.host().is_some() && !has_user { Ok(uri) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_a_path() {
        assert!(name("addons-system").is_ok());
        for bad in ["", "a/b", "..", "-a", "A", "a b", "a?b", "a%2f"] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_controller_is_a_url_without_a_path() {
        for good in ["http://127.0.0.1:8080", "http://[::1]:80/", "https://addons.example"] {
            assert!(url(good).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:8080", "localhost", "ftp://a", "http://a/b", "http://a/?b", "http://u:p@a"]
        {
            assert!(url(bad).is_err(), "{bad}");
        }
    }
}
