use crate::{
    health::{Finding, Subject, convention},
    model::Health,
};

pub(super) fn service(subject: Subject) -> Finding {
    if let Some(failing) = convention::failing_condition(subject.conditions, subject.dialect) {
        return Finding::of(Health::Degraded, failing);
    }
    if subject.spec("type").as_str() != Some("LoadBalancer") {
        return Finding::healthy("Exists");
    }
    let external = subject.spec("externalIPs").as_array().is_some_and(|addresses| !addresses.is_empty());
    match address(subject) {
        Some(address) => Finding::healthy("AddressAssigned").message(address),
        None if external => Finding::healthy("ExternalAddress").message("served through spec.externalIPs"),
        // Whoever assigns addresses may work and never say so: missing is never a failure.
        None => Finding::progressing("AddressPending").message("no load balancer has given it an address"),
    }
}

/// Many controllers never publish an address, and the Ingress works.
pub(super) fn ingress(subject: Subject) -> Finding {
    match address(subject) {
        Some(address) => Finding::healthy("AddressAssigned").message(address),
        None => Finding::healthy("Exists").message("no address published"),
    }
}

fn address(subject: Subject<'_>) -> Option<&str> {
    let entries = subject.status("loadBalancer").get("ingress")?.as_array()?;
    entries
        .iter()
        .flat_map(|entry| [entry.get("ip"), entry.get("hostname")])
        .filter_map(|address| address?.as_str())
        .find(|address| !address.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn services() {
        check(
            "v1",
            "Service",
            &[
                (
                    "{spec: {type: ClusterIP, clusterIP: 10.0.0.1}, status: {loadBalancer: {}}}",
                    "Healthy Exists",
                ),
                ("{spec: {type: ExternalName}}", "Healthy Exists"),
                ("{spec: {type: LoadBalancer}, status: {loadBalancer: {}}}", "Progressing AddressPending"),
                (
                    "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{}]}}}",
                    "Progressing AddressPending",
                ),
                ("{spec: {type: LoadBalancer, externalIPs: [192.0.2.7]}}", "Healthy ExternalAddress"),
                (
                    "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: a.test}]}}}",
                    "Healthy AddressAssigned: a.test",
                ),
                (
                    "{spec: {type: LoadBalancer}, status: {conditions: [{type: LoadBalancerPortsError, status: 'True', reason: Mixed}]}}",
                    "Degraded Mixed",
                ),
            ],
        );
    }

    #[test]
    fn ingresses() {
        check(
            "networking.k8s.io/v1",
            "Ingress",
            &[
                ("{}", "Healthy Exists: no address published"),
                ("{status: {loadBalancer: {}}}", "Healthy Exists: no address published"),
                (
                    "{status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}",
                    "Healthy AddressAssigned: 192.0.2.1",
                ),
            ],
        );
    }
}
