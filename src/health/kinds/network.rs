use super::failing;
use crate::{
    health::{Finding, Subject},
    model::Health,
};

pub(super) fn service(subject: Subject) -> Finding {
    if let Some(failing) = failing(subject) {
        return Finding::of(Health::Degraded, failing);
    }
    if subject.spec("type").as_str() != Some("LoadBalancer") {
        return Finding::healthy("Exists");
    }
    let external = subject.spec("externalIPs").as_array().is_some_and(|addresses| !addresses.is_empty());
    if let Some(refused) = refused_port(subject) {
        return Finding::told(Health::Degraded, refused).message("the load balancer doesn't serve a port");
    }
    if let Some(address) = address(subject) {
        return Finding::healthy("AddressAssigned").message(address);
    }
    if external {
        return Finding::healthy("ExternalAddress").message("served through spec.externalIPs");
    }
    // Whoever assigns addresses may work and never say so: missing is never a failure by itself.
    let created = subject.object.created;
    Finding::progressing("AddressPending")
        .message("no load balancer has given it an address")
        .since(created)
        .then_unknown(created)
}

/// Many controllers never publish an address, and the Ingress works: one that waits for long has
/// what it will get.
pub(super) fn ingress(subject: Subject) -> Finding {
    let created = subject.object.created;
    let settled = || Finding::healthy("Exists").message("no address published");
    match address(subject) {
        Some(address) => Finding::healthy("AddressAssigned").message(address),
        None if created.is_some() => Finding::progressing("AddressPending")
            .message("no address published yet")
            .since(created)
            .then(created, settled()),
        None => settled(),
    }
}

/// Why the balancer can't serve a port.
fn refused_port<'a>(subject: Subject<'a>) -> Option<&'a str> {
    let entries = subject.status("loadBalancer").get("ingress")?.as_array()?;
    let ports = entries.iter().filter_map(|entry| entry.get("ports")?.as_array()).flatten();
    ports.filter_map(|port| port.get("error")?.as_str()).find(|error| !error.is_empty())
}

/// The first address of the balancer, empty where there is an entry that names none.
fn address(subject: Subject<'_>) -> Option<&str> {
    let entries = subject.status("loadBalancer").get("ingress")?.as_array()?;
    let first = entries
        .iter()
        .flat_map(|entry| [entry.get("ip"), entry.get("hostname")])
        .filter_map(|address| address?.as_str())
        .find(|address| !address.is_empty());
    first.or_else(|| (!entries.is_empty()).then_some(""))
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
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {type: LoadBalancer}}",
                    "Progressing AddressPending: no load balancer has given it an address -> 2025-03-01T10:10:00Z Unknown AddressPending",
                ),
                (
                    "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{}]}}}",
                    "Healthy AddressAssigned",
                ),
                (
                    "{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1, ports: [{port: 80, protocol: TCP, error: PortConflict}]}]}}}",
                    "Degraded PortConflict",
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
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {loadBalancer: {}}}",
                    "Progressing AddressPending: no address published yet -> 2025-03-01T10:10:00Z Healthy Exists: no address published",
                ),
                (
                    "{status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}",
                    "Healthy AddressAssigned: 192.0.2.1",
                ),
            ],
        );
    }
}
