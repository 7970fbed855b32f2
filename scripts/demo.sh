#!/usr/bin/env bash
# The whole path on one machine: a real control plane with simulated nodes, the examples, the
# controller, one add-on broken, and what every surface says about it. Stays until Ctrl-C; with
# ONCE=1 it ends by itself. Whatever happens, everything that it started is ended.

# shellcheck disable=SC2329  # some functions are called by a trap or through show
set -euo pipefail
cd "$(dirname "$0")/.."

addons=(cert-manager dns ingress metrics-server monitoring storage)
broken=ingress
step=0
steps=7
controller=
unset KUBECONFIG

say() { printf '%s\n' "$*"; }

begin() {
  step=$((step + 1))
  printf '\n[%d/%d] %s\n' "$step" "$steps" "$*"
}

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  if [[ -n $controller ]]; then
    kill "$controller" 2>/dev/null || true
    wait "$controller" 2>/dev/null || true
  fi
  if [[ -e $state/cluster ]]; then
    say
    say "Ending the cluster."
    testbed down --dir "$state/cluster" || true
  fi
  rm -rf "$state"
  exit "$code"
}

failed() {
  {
    say
    say "$1"
    if [[ -n ${KUBECONFIG:-} ]]; then
      say "The add-ons are:"
      kubectl get addons.addons.x-k8s.io --output wide || true
    fi
    if [[ -s $log ]]; then
      say "The controller's log ends with:"
      tail -n 20 "$log"
    fi
  } >&2
  exit 1
}

# wait_for SECONDS WHAT ARGUMENT...: what `kubectl wait` is told to wait for.
wait_for() {
  local seconds=$1 what=$2
  shift 2
  printf 'Waiting until %s (at most %d s) ... ' "$what" "$seconds"
  if ! kubectl wait --timeout="${seconds}s" "$@" >/dev/null; then
    say "no"
    failed "Gave up waiting until $what."
  fi
  say "yes"
}

# wait_for_health SECONDS ADDON HEALTH
wait_for_health() {
  local resource=addons.addons.x-k8s.io/$2
  kubectl wait --timeout=60s --for=create "$resource" >/dev/null || failed "Gave up waiting for the add-on $2."
  wait_for "$1" "$2 is $3" --for="jsonpath={.status.health}=$3" "$resource"
}

free_port() {
  local port
  for port in {8080..8179}; do
    if ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s' "$port"
      return
    fi
  done
  failed "No port from 8080 to 8179 is free."
}

# The first line of what the controller answers on this path.
answer() {
  local line
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
  printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n\r\n' "$1" "$port" >&3
  IFS=$'\r' read -r -t 10 line _ <&3 || true
  exec 3>&-
  printf '%s' "$line"
}

# The programs, wherever they were built.
kubectl() { "$KUBECTL" "$@"; }
addonctl() { "$programs/addonctl" "$@"; }
testbed() { "$programs/testbed" "$@"; }

scripts/need.sh
state=$(mktemp -d "${TMPDIR:-/tmp}/addons-demo.XXXXXX")
log=$state/addon-controller.log
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

begin "Compiling the controller, addonctl and what starts the cluster"
cargo build --workspace --bins
programs=$(cargo metadata --format-version 1 --no-deps | grep -o '"target_directory":"[^"]*"' | cut -d '"' -f 4)/debug

begin "Compiling Kubernetes: 10 minutes the first time, nothing after that"
KUBECTL=$(testbed build | grep '/kubectl$')
export KUBECTL

begin "Starting etcd, API server, controllers, scheduler and 3 simulated nodes"
KUBECONFIG=$(testbed up --dir "$state/cluster" --nodes 3 | tail -n 1)
export KUBECONFIG

begin "Applying the Addon resource and six add-ons"
kubectl apply --server-side --kustomize crds
kubectl apply --server-side --kustomize examples | awk 'END {print NR " objects applied"}'
wait_for 30 "the kinds of cert-manager are served" --for=condition=Established \
  crd/issuers.cert-manager.io crd/certificates.cert-manager.io crd/addons.addons.x-k8s.io
kubectl apply --server-side --kustomize examples/certificates
examples/settle.sh >/dev/null

begin "Starting addon-controller"
port=$(free_port)
page=http://127.0.0.1:$port/
"$programs/addon-controller" --kubeconfig "$KUBECONFIG" --listen "127.0.0.1:$port" >"$log" 2>&1 &
controller=$!
for addon in "${addons[@]}"; do
  wait_for_health 120 "$addon" Healthy
done
[[ $(answer /) == "HTTP/1."*" 200 "* ]] || failed "The page doesn't answer at $page"

begin "Breaking the external ingress: its containers crash again and again"
examples/fault.sh break
wait_for 60 "no pod of it is available" --for=condition=Available=False \
  --namespace ingress-external deployment/ingress-controller-external
wait_for_health 60 "$broken" Degraded

begin "What everybody sees now"
show kubectl get addons
show addonctl list
show addonctl describe "$broken"
say
say "The page: $page"

if [[ ${ONCE:-} == 1 ]]; then
  exit 0
fi
cat <<TEXT

Try it in another terminal:
  export KUBECONFIG=$KUBECONFIG
  export PATH=${KUBECTL%/*}:$programs:\$PATH
  examples/fault.sh mend
  examples/fault.sh break metrics-server
  addonctl list

Ctrl-C ends everything.
TEXT
wait "$controller" || true
failed "The controller has ended."
