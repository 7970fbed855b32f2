//! Somebody who may use the cluster: a kubeconfig, and what can be done with it.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, process::Command};

use crate::proxy::readdressed;

/// Where the API server is, and how it is known.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// `https://127.0.0.1:PORT`.
    pub(crate) url: String,
    /// The file with the certificate that signed the server's.
    pub(crate) ca: PathBuf,
}

/// Somebody who may use the cluster.
#[derive(Clone, Debug)]
pub struct User {
    name: String,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
}

impl User {
    /// Writes the kubeconfig of a user.
    pub(crate) fn create(
        name: String,
        token: &str,
        server: &Server,
        kubeconfig: PathBuf,
        kubectl: PathBuf,
    ) -> Result<Self> {
        // What is quoted as in JSON is quoted as in YAML.
        let quoted = |text: &str| serde_json::to_string(text);
        let (ca, url, user) = (quoted(&server.ca.to_string_lossy())?, quoted(&server.url)?, quoted(&name)?);
        let text = format!(
            "apiVersion: v1\n\
             kind: Config\n\
             clusters:\n\
             - name: testbed\n  cluster:\n    server: {url}\n    certificate-authority: {ca}\n\
             users:\n\
             - name: {user}\n  user:\n    token: {token}\n\
             contexts:\n\
             - name: testbed\n  context:\n    cluster: testbed\n    user: {user}\n\
             current-context: testbed\n",
            token = quoted(token)?
        );
        write_private(&kubeconfig, &text)?;
        Ok(Self { name, kubeconfig, kubectl })
    }

    /// The same user, whose requests go to another address, by a kubeconfig of its own.
    pub(crate) fn through(&self, url: &str, kubeconfig: &Path) -> Result<Self> {
        write_private(kubeconfig, &readdressed(&self.kubeconfig, url)?)?;
        Ok(Self { kubeconfig: kubeconfig.to_owned(), ..self.clone() })
    }

    /// Puts this user's token into a file, in one step for whoever reads it meanwhile.
    ///
    /// # Errors
    /// When the kubeconfig is gone, or the file can't be written.
    pub fn write_token(&self, file: &Path) -> Result<()> {
        let config = serde_json::to_value(Kubeconfig::read_from(&self.kubeconfig)?)?;
        let token = config["users"][0]["user"]["token"].as_str().context("a kubeconfig without a token")?;
        let new = file.with_extension("new");
        write_private(&new, token)?;
        fs::rename(&new, file).with_context(|| format!("can't write {}", file.display()))
    }

    /// The same user, by a kubeconfig that names a file with the token in it, which is written too. Another
    /// token may take its place there.
    ///
    /// # Errors
    /// When the kubeconfig is gone, or a file can't be written.
    pub fn by_token_file(&self, file: &Path) -> Result<Self> {
        self.write_token(file)?;
        let mut config = serde_json::to_value(Kubeconfig::read_from(&self.kubeconfig)?)?;
        config["users"][0]["user"] = json!({"tokenFile": file});
        let kubeconfig = self.kubeconfig.with_extension("token-file.kubeconfig");
        // JSON is YAML.
        write_private(&kubeconfig, &config.to_string())?;
        Ok(Self { kubeconfig, ..self.clone() })
    }

    /// What the API server calls this user, as in the subject of a role binding.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kubeconfig that makes any program act as this user.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A client of its own. Its connections end with the runtime that uses them, and each test has
    /// one, so a client can't be shared between tests.
    ///
    /// # Errors
    /// When the cluster's folder is gone.
    pub async fn client(&self) -> Result<Client> {
        client(&self.kubeconfig).await
    }

    /// Runs kubectl and gives what it printed to standard output.
    ///
    /// # Errors
    /// When kubectl fails, with what it printed to standard error.
    pub async fn kubectl(&self, args: &[&str]) -> Result<String> {
        self.kubectl_with_input(args, "").await
    }

    /// Runs kubectl as [`User::kubectl`] does, with `input` as its standard input.
    ///
    /// # Errors
    /// When kubectl fails, with what it printed to standard error.
    pub async fn kubectl_with_input(&self, args: &[&str], input: &str) -> Result<String> {
        let mut command = Command::new(&self.kubectl);
        command
            .args(args)
            .env("KUBECONFIG", &self.kubeconfig)
            // What kubectl remembers of a cluster goes with the cluster.
            .env("KUBECACHEDIR", self.kubeconfig.with_extension("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().context("can't run kubectl")?;
        let mut stdin = child.stdin.take().context("kubectl without its standard input")?;
        let write = async move {
            // A kubectl that doesn't read its input isn't wrong; one that fails says so itself.
            let _ = stdin.write_all(input.as_bytes()).await;
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output.context("can't run kubectl")?;
        ensure!(
            output.status.success(),
            "kubectl {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
        String::from_utf8(output.stdout).context("kubectl printed something that isn't UTF-8")
    }

    /// Applies objects in YAML, server-side. An object whose kind isn't established yet fails, and
    /// the others are applied.
    ///
    /// # Errors
    /// When an object is refused, with the server's reason.
    pub async fn apply(&self, yaml: &str) -> Result<String> {
        let args = ["apply", "--server-side", "--force-conflicts", "--field-manager=testbed", "-f", "-"];
        self.kubectl_with_input(&args, yaml).await
    }
}

/// A client that acts as a kubeconfig says.
///
/// # Errors
/// When the file is missing or invalid.
pub async fn client(kubeconfig: &Path) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    let write = || {
        // The mode counts only for a file that is made.
        fs::remove_file(path).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
    };
    write().with_context(|| format!("can't write {}", path.display()))
}
