use crate::{
    api::condition,
    health::{Finding, Subject},
    model::Health,
};

/// An Addon that is part of another add-on is as it says itself.
pub(super) fn judge(subject: Subject) -> Finding {
    let (word, reason) = (subject.word("health"), subject.word("reason"));
    if word.is_empty() {
        return subject.not_yet_observed();
    }
    let health = Health::parse(word);
    Finding::told(health, if reason.is_empty() { word } else { reason })
        .message(subject.word("message"))
        .since(subject.changed(condition::READY))
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn addons() {
        check(
            "addons.x-k8s.io/v1alpha1",
            "Addon",
            &[
                ("{}", "Progressing NotYetObserved"),
                ("{status: {health: Healthy, reason: AllHealthy}}", "Healthy AllHealthy"),
                (
                    "{status: {health: Degraded, reason: ImagePullBackOff, message: 1 of 3}}",
                    "Degraded ImagePullBackOff: 1 of 3",
                ),
                ("{status: {health: Suspended}}", "Suspended Suspended"),
                ("{status: {health: Glorious}}", "Unknown Glorious"),
            ],
        );
    }
}
