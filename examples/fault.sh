#!/usr/bin/env bash
# Breaks an add-on of the simulated cluster, or mends it:
#
#   examples/fault.sh break [IDENTIFIER[=INSTALL]]     its containers crash again and again
#   examples/fault.sh mend  [IDENTIFIER[=INSTALL]]     its pods are replaced by sound ones
#
# Without a name it is the external ingress. KUBECONFIG says which cluster, as for kubectl.
#
# Nobody runs containers on a simulated node, so this writes what a kubelet would write; everything
# above the pods (ReplicaSets, Deployments, endpoints) then follows by itself.

# shellcheck disable=SC2016  # what stands in single quotes are variables of go-template
set -euo pipefail

kubectl=${KUBECTL:-kubectl}
action=${1:-}
addon=${2:-ingress=external}

usage() {
  sed -n '2,/^$/{s/^# \{0,1\}//p}' "$0" >&2
  exit 2
}

# A line "NAMESPACE SELECTOR" for each workload that carries the label.
workloads() {
  "$kubectl" get deployments,statefulsets,daemonsets --all-namespaces \
    --selector "addons.x-k8s.io/$addon" --output go-template='
{{- range .items}}{{.metadata.namespace}} {{$comma := ""}}
{{- range $key, $value := .spec.selector.matchLabels}}{{$comma}}{{$key}}={{$value}}{{$comma = ","}}{{end}}
{{end}}'
}

# A record "POD STATUS" for each pod: the status that a kubelet reports for a crash loop.
crash_loops() {
  local now since
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  since='"status": "False", "reason": "ContainersNotReady", "lastTransitionTime": "'$now'"'
  "$kubectl" --namespace "$1" get pods --selector "$2" --output go-template='
{{- range .items}}{{.metadata.name}} {"status": {
  "phase": "Running",
  "conditions": [{"type": "Ready", '"$since"'}, {"type": "ContainersReady", '"$since"'}],
  "containerStatuses": [{{$comma := ""}}{{range .spec.containers}}{{$comma}}{
    "name": "{{.name}}", "image": "{{.image}}", "imageID": "",
    "ready": false, "started": false, "restartCount": 7,
    "state": {"waiting": {
      "reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container {{.name}}"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "'"$now"'"}}
  }{{$comma = ","}}{{end}}]
}}{{"\x00"}}{{end}}'
}

[[ $action == break || $action == mend ]] || usage
found=$(workloads)
if [[ -z $found ]]; then
  echo "No workload carries the label addons.x-k8s.io/$addon. Are the examples applied?" >&2
  exit 1
fi
while read -r namespace selector; do
  if [[ $action == mend ]]; then
    "$kubectl" --namespace "$namespace" delete pods --selector "$selector" --wait=false
  else
    crash_loops "$namespace" "$selector" | while IFS= read -r -d '' line; do
      "$kubectl" --namespace "$namespace" patch pod "${line%% *}" --subresource=status --type=strategic \
        --patch "${line#* }"
    done
  fi
done <<<"$found"
