use std::io::{IsTerminal, stderr};

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use super::{Options, options::LogFormat};

/// Logs to standard error from here on, as `options` say.
///
/// # Errors
/// Where the filter can't be read.
pub fn init(options: &Options) -> Result<()> {
    let filter =
        EnvFilter::try_new(&options.log).with_context(|| format!("'{}' is no log filter", options.log))?;
    // The client logs each failed request; what that means for a kind is logged once by us.
    let filter = filter.add_directive("kube_client=off".parse()?);
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal());
    match options.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}
