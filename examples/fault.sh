#!/usr/bin/env bash
# Breaks an add-on of the simulated cluster, or mends it:
#
#   examples/fault.sh break [IDENTIFIER[=INSTALL]]     its containers crash again and again
#   examples/fault.sh mend  [IDENTIFIER[=INSTALL]]     its pods are replaced by sound ones
#
# Without a name it is the external ingress. KUBECONFIG says which cluster, as for kubectl.

# shellcheck disable=SC2016  # what stands in single quotes are variables of go-template
set -euo pipefail

kubectl=${KUBECTL:-kubectl}
action=${1:-}
addon=${2:-ingress=external}

if [[ $action != break && $action != mend ]]; then
  sed -n '2,/^$/{s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi

# A line "NAMESPACE SELECTOR" for each workload that carries the label.
workloads=$("$kubectl" get deployments,statefulsets,daemonsets --all-namespaces \
  --selector "addons.x-k8s.io/$addon" --output go-template='
{{- range .items}}{{.metadata.namespace}} {{$comma := ""}}
{{- range $key, $value := .spec.selector.matchLabels}}{{$comma}}{{$key}}={{$value}}{{$comma = ","}}{{end}}
{{end}}')
if [[ -z $workloads ]]; then
  echo "No workload carries the label addons.x-k8s.io/$addon. Are the examples applied?" >&2
  exit 1
fi

while read -r namespace selector; do
  if [[ $action == break ]]; then
    # The simulated kubelets of tests/cluster heed this annotation.
    "$kubectl" --namespace "$namespace" annotate pods --selector "$selector" --overwrite \
      testbed.addons.x-k8s.io/fail=CrashLoopBackOff
  else
    "$kubectl" --namespace "$namespace" delete pods --selector "$selector" --wait=false
  fi
done <<<"$workloads"
