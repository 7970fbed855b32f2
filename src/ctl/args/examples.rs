//! What stands below the help of each command.

pub(super) const EXAMPLES: &str = "\
Examples:
  # All add-ons of the cluster, the worst first
  addonctl list

  # What one of them is made of, and what is wrong with it
  addonctl describe ingress-nginx

  # The same from files: a must-gather, a support bundle, anything in YAML or JSON
  addonctl list -f must-gather/
  kubectl get deploy,ds,sts,pod -A -o yaml | addonctl list -f -

  # The verdict on every object of a dump, labelled or not
  addonctl health -f must-gather/

  # What the controller needs, what it can't see, and what mends that
  addonctl doctor

  # Make something part of an add-on
  kubectl label deployment controller addons.x-k8s.io/ingress-nginx=

Exit codes:
  0   it worked, whatever the health of what it shows
  1   something could not be reached or read; what could be is shown. doctor: a check fails
  2   the arguments make no sense
  12  there is no such add-on";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  addonctl list
  addonctl list -o wide
  addonctl list -o json | jq -r '.items[] | select(.status.health != \"Healthy\") | .spec.identifier'
  addonctl list --live
  addonctl list -f must-gather/ -f extra.yaml
  helm template ./chart | addonctl list -f -";

pub(super) const WHY_EXAMPLES: &str = "\
What lies below the components is looked up in the cluster with your own rights, or in the files.

Examples:
  addonctl why ingress-nginx
  addonctl why ingress-nginx -f must-gather/
  addonctl why ingress-nginx -f must-gather/ --rules my-rules/
  addonctl why ingress-nginx -o json | jq -r '.components[].causes[].reference.name'";

pub(super) const DESCRIBE_EXAMPLES: &str = "\
Examples:
  addonctl describe ingress-nginx
  addonctl describe ingress-nginx -f must-gather/";

pub(super) const HEALTH_EXAMPLES: &str = "\
Examples:
  addonctl health -f must-gather/
  kubectl get deploy web -o yaml | addonctl health --now now -f -
  addonctl health -f dump.yaml -o json | jq -r 'select(.health == \"Degraded\") | .reference.name'";

pub(super) const RULES_EXAMPLES: &str = "\
Examples:
  addonctl rules list
  addonctl rules test my-rules/
  addonctl health -f dump/ --rules my-rules/";
